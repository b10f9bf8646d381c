//! `::locals`: the arguments and locals of a frame.

use kcore::{
    Content, Core, FrameKind, Limits, MissingDebug, NamedFrame, ScriptVariables, Stack, Tid,
    VariableLimits,
};
use kcore_dcmd::{
    AddrUse, Arg, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record,
    Result, Spec, TypeNames, ValueStyle, View, stack::NamedValue,
};

use crate::foreign_values;
use crate::frame_operand::FrameOperand;
use crate::script_path;
use crate::script_variable::{self, ScriptLine, Title};
use crate::session_process::SessionProcess;

/// Shows the variables of a frame.
pub struct Locals;

const OPTIONS: &[Opt] = &[Opt { flag: 'v', value: None, help: "also show types" }];

const HELP: &str = "\
Shows the frame given as address, or else the current one, which ::frame N chooses. A thread or \
task as address stands for its innermost frame. Arguments come first, then the locals of the \
innermost block that holds the pc, and so on outwards. If calls are inlined, each function has \
its own variables under its name, the innermost function first.

With names, shows only these variables, in full, as ::print does. Without names, it shows \
structures down to their members. After a pipe of frames, it skips frames that do not have the \
named variables.

A frame of a language such as Ruby, PHP, Python, Lua or Perl shows the variables of that function, \
as the language spells their values. ::frame N chooses one of several that run in one frame of C. \
The sign before a name, as in $rows, may be left out.

<optimized out> marks a variable that the compiler did not keep, or not at this place in the \
code; <not dumped> marks memory that the core does not have. In a pipe, a number or pointer \
passes its value, and any other variable its address.

In Go, variables that were moved to the heap have the values that they have there. A local \
declared at or below the line that runs may have no value yet. It is shown as <not declared above \
this line>, unless the debug information tells its value at that line.";

const EXAMPLES: &[Example] = &[
    Example { line: "::locals", shows: "the variables of the current frame" },
    Example {
        line: "::walk frame | ::locals -v",
        shows: "the variables of all frames, with their types",
    },
];

impl Dcmd for Locals {
    fn spec(&self) -> Spec {
        Spec::new("locals", Group::Types, "print arguments and locals of a frame")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[name ...]", 0, usize::MAX)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let names: Vec<String> = args.operands().iter().map(Arg::to_text).collect();
        let meant = FrameOperand::of(cx)?;
        let (tid, index) = (meant.tid(), meant.index);
        let stack = meant.stack(cx.core(), None);
        let named = meant.named(cx.core(), &stack);
        if named.iter().any(|frame| frame.location.kind == FrameKind::Async) {
            return cx.note(&format!("frame {index} of {}: {ASYNC}", meant.whose()));
        }
        if script_locals(cx, &meant, &names)? {
            return Ok(());
        }
        let scopes = match scopes(&SessionProcess::new(cx), &stack, &meant, &names) {
            // After a pipe of frames, a frame without debug information is skipped.
            Err(_) if cx.input().looped && !names.is_empty() => return Ok(()),
            Err(error) if cx.input().looped => {
                return cx.note(&format!("{error} of {}", meant.whose()));
            }
            scopes => scopes?,
        };
        let shown = scopes.iter().map(|scope| scope.variables.len()).sum::<usize>();
        // After a pipe of frames, a frame without the names is skipped.
        if shown < names.len() && !cx.input().looped {
            let has = |name: &String| scopes.iter().any(|scope| scope.has(name));
            if let Some(missing) = names.iter().find(|name| !has(name)) {
                return Err(DcmdError::failed(format!("frame {index} has no variable {missing}")));
            }
        }
        if shown == 0 && names.is_empty() && !cx.input().looped {
            return cx.note(&no_variables(cx.core(), &stack, index));
        }
        let style = style(cx, args.has('v'));
        foreign_values::note_of_frame(cx)?;
        emit(cx, tid, scopes, style, is_one_of_many(cx, &names))
    }
}

/// Shows the variables of a frame of a language. `false` if it is no such frame, or its variables are not known.
fn script_locals(cx: &mut Cx<'_>, meant: &FrameOperand, names: &[String]) -> Result<bool> {
    let limits = script_limits(names);
    let all = script_variable::of_frames(cx, meant, limits);
    let is_none = all.is_empty();
    all.into_iter().try_for_each(|(frame, found)| script_scope(cx, meant, &frame, found, names))?;
    Ok(!is_none)
}

/// Shows the variables of one frame of a language.
fn script_scope(
    cx: &mut Cx<'_>,
    meant: &FrameOperand,
    frame: &NamedFrame,
    found: ScriptVariables,
    names: &[String],
) -> Result<()> {
    let is_wanted = |name: &str| {
        names.is_empty() || names.iter().any(|wanted| script_path::is_same_name(name, wanted))
    };
    let missing = names.iter().find(|wanted| {
        !found.variables.iter().any(|it| script_path::is_same_name(&it.name, wanted))
    });
    if let Some(missing) = missing.filter(|_| !cx.input().looped) {
        let index = frame.index;
        return Err(DcmdError::failed(format!("frame {index} has no variable {missing}")));
    }
    if found.variables.is_empty() && !cx.input().looped {
        cx.note(&format!("frame {} has no variables", frame.index))?;
    }
    let (tid, dialect) = (meant.tid(), found.dialect);
    let wanted = found.variables.into_iter().filter(|it| is_wanted(&it.name));
    let is_numbered = is_one_of_many(cx, names);
    for (number, variable) in wanted.enumerate() {
        let title = Title { is_first: is_numbered && number == 0, is_numbered };
        cx.emit(&ScriptLine { tid, frame, dialect, variable, title })?;
    }
    Ok(())
}

/// Whether a line names each frame: when frames come from a pipe and all of their variables are shown.
fn is_one_of_many(cx: &Cx<'_>, names: &[String]) -> bool {
    cx.input().looped && names.is_empty()
}

/// How much is shown of variables of languages: of those that are named more.
fn script_limits(names: &[String]) -> VariableLimits {
    let (depth, entries, characters) = if names.is_empty() { (1, 32, 256) } else { (3, 100, 1024) };
    VariableLimits { locals: true, depth, entries, characters }
}

fn style(cx: &Cx<'_>, with_types: bool) -> ValueStyle {
    let types = if with_types { TypeNames::Declared } else { TypeNames::Hidden };
    let integers = cx.shell().settings().integers();
    ValueStyle { types, integers, ..ValueStyle::lines(cx.core().target().endian) }
}

/// A function that runs in the frame, with its variables.
struct Scope {
    frame: NamedFrame,
    variables: Vec<NamedValue>,
}

/// What is said of frames that are on no stack.
const ASYNC: &str = "variables of async functions that wait are not read";

impl Scope {
    fn has(&self, name: &str) -> bool {
        self.variables.iter().any(|variable| variable.name == name)
    }
}

/// The functions that run in a frame, innermost first, with those of their variables that the user names.
fn scopes(
    process: &SessionProcess<'_>,
    stack: &Stack,
    meant: &FrameOperand,
    names: &[String],
) -> Result<Vec<Scope>> {
    let (core, index) = (process.names().core(), meant.index);
    let known = core.stacks().known_frames(stack, index.saturating_add(1));
    let limits = match names {
        [] => Limits { depth: Some(1), ..Limits::default() },
        _ => Limits::default(),
    };
    let mut scopes = Vec::new();
    for frame in meant.named(core, stack) {
        let Some(found) = known.variables(&frame) else { continue };
        let is_wanted = |name: Option<&str>| {
            names.is_empty() || names.iter().any(|wanted| Some(wanted.as_str()) == name)
        };
        let wanted = found.into_iter().filter(|variable| is_wanted(variable.name.as_deref()));
        let variables =
            wanted.map(|variable| NamedValue::new(process, variable, &limits)).collect();
        scopes.push(Scope { frame, variables });
    }
    match scopes.is_empty() {
        true => Err(DcmdError::failed(match missing(core, stack, index) {
            Some(MissingDebug { file, .. }) => {
                format!("the debug information of frame {index} is in {file}, which was not found")
            }
            None => format!("no debug information describes frame {index}"),
        })),
        false => Ok(scopes),
    }
}

fn no_variables(core: &Core, stack: &Stack, index: usize) -> String {
    match missing(core, stack, index) {
        Some(MissingDebug { file, .. }) => {
            format!("the variables of frame {index} are in {file}, which was not found")
        }
        None => format!("frame {index} has no variables"),
    }
}

/// The file that has the variables of a frame, if it was not found.
fn missing(core: &Core, stack: &Stack, index: usize) -> Option<MissingDebug> {
    core.files().missing_debug_at(stack.frames.get(index)?.pc.lookup())
}

fn emit(
    cx: &mut Cx<'_>,
    tid: Option<Tid>,
    scopes: Vec<Scope>,
    style: ValueStyle,
    is_numbered: bool,
) -> Result<()> {
    let is_titled = scopes.len() > 1 || is_numbered;
    for scope in scopes {
        let mut is_first = is_titled;
        for variable in scope.variables {
            let style = if is_titled { style.indented(4) } else { style };
            let title = Title { is_first, is_numbered };
            cx.emit(&VariableLine { tid, frame: &scope.frame, variable, style, title })?;
            is_first = false;
        }
    }
    Ok(())
}

/// A variable of a frame.
struct VariableLine<'a> {
    /// The thread that runs the frame; `None` for a task that no thread runs.
    tid: Option<Tid>,
    frame: &'a NamedFrame,
    variable: NamedValue,
    style: ValueStyle,
    title: Title,
}

impl Record for VariableLine<'_> {
    fn kind(&self) -> &'static str {
        "frame_variable"
    }

    fn view(&self) -> View {
        View::Line(
            "{titled?{numbered?frame {frame}, }{function}{function^?}{inline? [inlined]}:\n}{variable}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let location = &self.frame.location;
        out.num("tid", self.tid.map(|tid| u64::from(tid.get())))
            .num("frame", self.frame.index as u64)
            .opt_text("function", location.function.as_deref())
            .flag("inline", location.inline)
            .text("kind", if self.variable.is_argument { "argument" } else { "local" })
            .opt_text("name", Some(self.variable.name.as_str()).filter(|name| !name.is_empty()))
            .opt_text("declared", self.variable.ty.as_deref())
            .put("value", self.variable.value_tree())
            .put("absent", self.variable.absence())
            .display("titled", Cell::Bool(self.title.is_first))
            .display("numbered", Cell::Bool(self.title.is_numbered))
            .display("variable", self.variable.named(self.style));
    }

    /// As MDB's `::print`: the values of numbers and pointers, and the addresses of everything else.
    fn dot(&self) -> Option<Dot> {
        match self.variable.value.content.plain() {
            Content::Integer(number) | Content::Bool(number) => {
                u64::try_from(number.bits).ok().map(Dot::Number)
            }
            Content::Enum(value) => u64::try_from(value.number.bits).ok().map(Dot::Number),
            Content::Character(code) => Some(Dot::Number(u64::from(*code))),
            Content::Pointer(pointer) => pointer.to.map(Dot::Addr),
            _ => self.variable.value.at.map(Dot::Addr),
        }
    }
}
