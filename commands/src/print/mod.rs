//! `::print` — objects by their types.

mod options;
mod record;
mod subject;

use kcore::{Content, Object, ObjectPlace, PathPart, Process, Value};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Opt, Result, Spec, TypeNames,
    ValueStyle,
};

use self::options::Options;
use self::record::Printed;
use self::subject::Subject;
use crate::member_path::{self, Reach};
use crate::session_process::SessionProcess;
use crate::type_words::{abort, paths};

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show where each part lies; in a pipe, hand on where" },
    Opt { flag: 'C', value: None, help: "no limit for texts in arrays of characters" },
    Opt { flag: 'd', value: None, help: "integers in decimal" },
    Opt { flag: 'h', value: None, help: "show the holes of structures" },
    Opt { flag: 'i', value: None, help: "the address is the value itself" },
    Opt { flag: 'L', value: None, help: "no limit for elements" },
    Opt { flag: 'n', value: None, help: "pointers as numbers, without symbols and texts" },
    Opt { flag: 'p', value: None, help: "the address is a physical one: not for cores" },
    Opt { flag: 'r', value: None, help: "types of standard libraries as they are laid out" },
    Opt { flag: 'T', value: None, help: "show types, and what typedefs stand for" },
    Opt { flag: 't', value: None, help: "show types" },
    Opt { flag: 'x', value: None, help: "integers in hexadecimal, all of them" },
    Opt { flag: 'c', value: Some("limit"), help: "show so many characters of an array as text" },
    Opt { flag: 'l', value: Some("limit"), help: "show so many elements of an array or container" },
    Opt {
        flag: 's',
        value: Some("depth"),
        help: "show structures so deep, and those below as dots",
    },
];

const HELP: &str = "\
Without a type it is that of the symbol at the address. Without an address the layout of the type is \
shown, or the value of the variable of that name: a local of the current frame, else a global, of the \
current thread where threads have their own; a thread, task or frame from a pipe, before ::print says whose (a thread or task stands for its \
innermost frame). A frame that has no variable of the name, or one that the path does not fit, says so.

Members are paths of C: n_next->n_sub.s_count, n_vals[2], ((struct foo *)p)->x, *p. [1..3] is \
each element of a range, both ends included; elements of containers of C++ and Rust have indices and \
keys, v[3], m[\"key\"], members of tuples numbers, t.0. The members of an enumeration's data stand behind its \
variant or by themselves, e.Circle.radius, e.radius; *o is what an optional or a variant of C++ holds. An index is decimal, as in C, or has 0x before it. $[offset] is the member \
at an offset. A dot may begin a path, or -> where a pointer does; neither needs to.

In a pipe an integer or pointer hands on its value, anything else where it lies.

Limits are decimal, or have 0x before them: 32 elements and 1024 characters, unless ::set has others. Integers are \
hexadecimal; <optimized out> was kept nowhere, <not dumped> is missing in the core, <unreadable> was \
never there.";

const EXAMPLES: &[Example] = &[
    Example { line: "::print head", shows: "a global variable" },
    Example {
        line: "first::print struct node n_id n_sub",
        shows: "two members of what lies there",
    },
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
        let subject = subject::find(cx, args, &options)?;
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
            return self.print(&object, self.subject.path.clone().unwrap_or_default(), false);
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
        // Of what has no parts there is nothing else to show.
        let is_bare = !matches!(value.content, Content::Fields(_)) && path.is_empty();
        if !style.values && is_bare && style.types == TypeNames::Hidden {
            style.types = TypeNames::Declared;
        }
        if self.subject.has_value {
            check_readable(self.cx, object, &value)?;
        }
        let dot = self.piped(object, &value);
        if self.cx.input().pipe_out && dot.is_none() {
            return Err(DcmdError::failed("failed to print type: it lies at no address"));
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

    /// Behind an address that was given dot is the next object's.
    fn move_dot(&mut self) {
        let Some(at) = self.subject.moves_from else { return };
        let size = self.subject.object.complete_type(&self.process).ok();
        let size = size.and_then(|ty| ty.size()).unwrap_or(0);
        let next = at.get().wrapping_add(size);
        self.cx.shell_mut().set_dot(Dot::Number(next), 0);
    }
}

/// That nothing of an object can be read is a failure, if it should lie in memory.
///
/// # Errors
/// Such a failure, with what was to be read.
pub fn check_readable(cx: &Cx<'_>, object: &Object, value: &Value) -> Result<()> {
    let (Content::Absent(_), ObjectPlace::Memory(at)) = (&value.content, &object.place) else {
        return Ok(());
    };
    let Err(fault) = cx.core().space().slice(*at) else { return Ok(()) };
    let size = object.ty.size().unwrap_or(1);
    let message = format!("failed to read {size} bytes at {:x}: {}", at.get(), fault.reason());
    Err(DcmdError::at(*at, message))
}
