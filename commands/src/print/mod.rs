//! `::print` — objects by their types.

mod options;
mod record;
mod script;
mod subject;

use kcore::{Content, Object, ObjectPlace, PathPart, Process, Value};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Opt, Result, Spec, TypeNames,
    ValueStyle,
};

use self::options::Options;
use self::record::Printed;
use self::subject::Subject;
use crate::foreign_values;
use crate::member_path::{self, Reach};
use crate::session_process::SessionProcess;
use crate::type_words::{abort, paths};

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'a',
        value: None,
        help: "show the address of each part; in a pipe, pass the addresses",
    },
    Opt { flag: 'C', value: None, help: "show arrays of characters without a limit" },
    Opt { flag: 'd', value: None, help: "show integers in decimal" },
    Opt { flag: 'h', value: None, help: "show the holes of structures" },
    Opt { flag: 'i', value: None, help: "the address is the value itself" },
    Opt { flag: 'L', value: None, help: "show elements without a limit" },
    Opt { flag: 'n', value: None, help: "show pointers as numbers, without symbols and texts" },
    Opt { flag: 'p', value: None, help: "the address is physical; not for cores" },
    Opt { flag: 'r', value: None, help: "show types of standard libraries as they are laid out" },
    Opt { flag: 'T', value: None, help: "show types, and what typedefs stand for" },
    Opt { flag: 't', value: None, help: "show types" },
    Opt { flag: 'x', value: None, help: "show all integers in hexadecimal" },
    Opt { flag: 'c', value: Some("limit"), help: "show at most this many characters of an array" },
    Opt {
        flag: 'l',
        value: Some("limit"),
        help: "show at most this many elements of an array or container",
    },
    Opt {
        flag: 's',
        value: Some("depth"),
        help: "show structures down to this depth, and deeper ones as dots",
    },
];

const HELP: &str = "\
Without a type, the type is that of the symbol at the address. Without an address, ::print shows \
the layout of a type, or the value of a variable: a local of the current frame, or else a global. \
A thread-local variable is that of the current thread. A thread, task or frame from a pipe says \
whose variable you mean. A thread or task stands for its innermost frame. If a frame has no such \
variable, or the path does not fit it, a message says so.

At an address where an object of Ruby or PHP begins, ::print needs no type. It shows the \
object as its language spells it. At the frame of a coroutine of C++20, it shows the frame with its \
locals. If the current frame is of a language, a name is a variable of that function. A path follows \
it in any of the languages' spellings: options[:limit].@size, $rows[3]['name'], $self->{name}. Quote \
a path that has spaces or quotes.

Members are C paths: n_next->n_sub.s_count, n_vals[2], ((struct foo *)p)->x, *p. [1..3] is a \
range of elements, with both ends. Elements of C++ and Rust containers have indices and keys: \
v[3], m[\"key\"]. Members of tuples have numbers: t.0. You reach the data of a Rust enum through \
its variant or directly: e.Circle.radius, e.radius. *o is the value that a C++ optional or \
variant holds. An index is decimal, as in C; 0x marks a hexadecimal one. $[offset] is the member \
at an offset. A path may begin with a dot, or with -> for a pointer, but need not.

An expression has the operators of C with their types and precedence: len * 2 + 1, p->end - p->start, \
(char)c, &x, sizeof x, a ? b : c. *p@3 is an array of three. $rip is a register. Numbers in it are \
decimal, as in C. == compares a string with a text in quotes, and an enumeration with a name. Quote an \
expression that has |, ; or !. Nothing is assigned, and no function of the process is called.

In a pipe, an integer or pointer passes its value, and any other member its address.

The limits are 32 elements and 1024 characters, unless ::set changed them. Limits that you type \
are decimal; 0x marks a hexadecimal one. Integers are shown in hexadecimal. <optimized out> marks \
a value that the compiler did not keep, <not dumped> memory that the core does not have, and \
<unreadable> memory that the process did not map.";

const EXAMPLES: &[Example] = &[
    Example { line: "::print head", shows: "a global variable" },
    Example {
        line: "first::print struct node n_id n_sub",
        shows: "two members of the object at an address",
    },
    Example { line: "::print 'head->n_id * 2 + 1'", shows: "the value of an expression" },
    Example { line: "::print -at struct node", shows: "how a type is laid out" },
    Example {
        line: "first::list struct node n_next | ::print struct node n_name",
        shows: "a member of each element of a list",
    },
];

/// Prints objects by their types.
pub struct Print;

impl Dcmd for Print {
    fn spec(&self) -> Spec {
        Spec::new("print", Group::Types, "print an object, or some members of it, by its type")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[type|variable] [member|offset...]", 0, usize::MAX)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let options = Options::new(cx, args)?;
        if let Some(object) = script::find(cx, args, &options) {
            return object.emit(cx);
        }
        if let Some(objects) = script::named(cx, args, &options)? {
            return objects.iter().try_for_each(|object| object.emit(cx));
        }
        let subject = subject::find(cx, args, &options)?;
        if subject.has_value {
            foreign_values::note(cx, subject.object.ty.language())?;
        }
        let process = SessionProcess::new(cx);
        let mut run = Run { cx, process, options, subject };
        run.all()?;
        run.move_dot();
        Ok(())
    }
}

/// One object that is printed, or its members.
struct Run<'r, 'c> {
    cx: &'r mut Cx<'c>,
    process: SessionProcess<'c>,
    options: Options,
    subject: Subject,
}

impl Run<'_, '_> {
    fn all(&mut self) -> Result<()> {
        let members = paths(&self.subject.members);
        if members.is_empty() {
            let object = self.subject.object.clone();
            self.print(&object, self.subject.path.clone().unwrap_or_default(), false)?;
            let others = std::mem::take(&mut self.subject.others);
            return others
                .into_iter()
                .try_for_each(|part| self.print(&part.object, part.path, false));
        }
        for member in &members {
            match member {
                Arg::Text(path) => self.member(path)?,
                Arg::Number(offset) => self.at_offset(*offset)?,
            }
        }
        Ok(())
    }

    fn member(&mut self, path: &str) -> Result<()> {
        let reach = if self.subject.has_value { Reach::Memory } else { Reach::Types };
        let object = &self.subject.object;
        let end = match self.subject.is_variable {
            true => member_path::in_variable(self.cx, &self.process, object, path, reach)?,
            false => member_path::required(self.cx, &self.process, object, path, reach)?,
        };
        end.parts.into_iter().try_for_each(|PathPart { object, path, is_target }| {
            self.print(&object, path, is_target)
        })
    }

    fn at_offset(&mut self, offset: u64) -> Result<()> {
        match self.subject.object.part_at(&self.process, offset) {
            Some((object, path)) => self.print(&object, path, false),
            None => Err(abort(self.cx, &DcmdError::failed(format!("invalid offset {offset:x}")))),
        }
    }

    /// Prints one object under its path.
    fn print(&mut self, object: &Object, path: String, is_target: bool) -> Result<()> {
        let value = self.value(object);
        let mut style = ValueStyle { values: self.subject.has_value, ..self.options.style };
        // An object without parts has nothing else to show.
        let is_bare = !matches!(value.content, Content::Fields(_)) && path.is_empty();
        if !style.values && is_bare && style.types == TypeNames::Hidden {
            style.types = TypeNames::Declared;
        }
        if self.subject.has_value {
            check_readable(self.cx, object, &value)?;
        }
        let dot = self.piped(object, &value);
        if self.cx.input().pipe_out && dot.is_none() {
            return Err(DcmdError::failed("failed to print type: it has no address"));
        }
        self.cx.emit(&Printed { value, path, is_target, style, dot })
    }

    fn value(&self, object: &Object) -> Value {
        let process = self.subject.has_value.then_some(&self.process as &dyn Process);
        let value = match process {
            Some(process) => object.value(process, &self.options.limits),
            None => object.layout(&self.process, &self.options.limits),
        };
        if self.options.holes { value.with_holes(process) } else { value }
    }

    /// What the next dcmd of a pipe gets: the value of a number or pointer, the address of anything else.
    fn piped(&self, object: &Object, value: &Value) -> Option<Dot> {
        let address = || object.address().map(Dot::Addr);
        if self.options.style.addresses || !self.subject.has_value {
            return address();
        }
        match &value.content {
            Content::Integer(_) | Content::Character(_) | Content::Bool(_) | Content::Enum(_) => {
                object.number(&self.process).ok()?.unsigned().map(Dot::Number)
            }
            Content::Pointer(pointer) => pointer.to.map(Dot::Addr),
            _ => address(),
        }
    }

    /// After a given address, dot moves to the next object.
    fn move_dot(&mut self) {
        let Some(at) = self.subject.moves_from else { return };
        let size = self.subject.object.complete_type(&self.process).ok();
        let size = size.and_then(|ty| ty.size()).unwrap_or(0);
        let next = at.get().wrapping_add(size);
        self.cx.shell_mut().set_dot(Dot::Number(next), 0);
    }
}

/// It is an error if nothing of an object that should lie in memory can be read.
///
/// # Errors
/// This error, with the range that was to be read.
pub fn check_readable(cx: &Cx<'_>, object: &Object, value: &Value) -> Result<()> {
    let (Content::Absent(_), ObjectPlace::Memory(at)) = (&value.content, &object.place) else {
        return Ok(());
    };
    let Err(fault) = cx.core().space().slice(*at) else { return Ok(()) };
    let size = object.ty.size().unwrap_or(1);
    let message = format!("failed to read {size} bytes at {:x}: {}", at.get(), fault.reason());
    Err(DcmdError::at(*at, message))
}
