//! `::stack`, `$c`, `$C`: the stack of a thread.

use kcore::{MAX_FRAMES, NamedFrame};
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec,
    stack::{DEFAULT_ARGUMENTS, Layout, StackBegin, StackEnd, ValueReader, VariableChoice},
};

use crate::{names::Names, operand, session_process::SessionProcess, stack_start::StackStart};

/// Prints the stack of a thread, innermost frame first.
pub struct Stack {
    name: &'static str,
    aliases: &'static [&'static str],
    layout: Layout,
}

/// `::stack` and `$c`.
pub const STACK: Stack = Stack { name: "stack", aliases: &["$c"], layout: Layout::Plain };

/// `$C` and `::stackregs`, with the frame-pointer column.
pub const STACK_WITH_POINTERS: Stack =
    Stack { name: "$C", aliases: &["stackregs"], layout: Layout::WithPointer };

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'v',
        value: None,
        help: "also show source lines, pc, sp, how each frame was found, arguments and locals",
    },
    Opt { flag: 'u', value: None, help: "unwind from the ucontext_t at the address" },
    Opt {
        flag: 'l',
        value: Some("frames"),
        help: "show at most this many frames; inlined calls count",
    },
    Opt { flag: 'N', value: None, help: "show only native frames, whatever language runs in them" },
];

const HELP: &str = "\
Without an address, prints the stack of the current thread. The address is a thread or a frame \
from a pipe, or a number. A number that is a mapped address is a frame pointer, as $C prints it; \
the stack then begins with the caller of that frame. The address of the frame of a C++20 coroutine \
stands for it and those that await it. Any other number is the id of a thread. Ids are decimal: \
0t4711.

If a language runtime runs its own code in native frames, the functions of that language replace \
them. They show their source and are marked with the language, such as [js]. -N shows the native \
frames instead. An inlined call is a frame of its own, marked [inlined].

A function that ended by jumping to the next one, a tail call, leaves nothing on the stack. If \
debug information proves that it ran there, kcore shows it, marked [tail call]. If several ways \
are possible, kcore shows only what all of them share, and the mark says what is unknown. Such a \
frame has no frame pointer and no registers. Of its variables, it has only those that its callers \
provide.

If a signal handler was called, `<signal SIGSEGV>` stands for the code to which the handler \
returns. If the signal is not certain, kcore prints `<signal handler called>`: the kernel passes \
the details only to handlers with SA_SIGINFO.

[guessed] marks a frame that is a guess, and every frame outside of it. [calls elsewhere] marks a \
return address whose call does not lead to the frame below. Either the unwind information there \
is wrong, or something else put that address there. [nearest symbol] marks a name that has no \
size and lies more than a page before the pc. The code there may have no name.

The line `-- on another stack` stands before a frame from which the program, or its runtime, \
switched to another stack at a higher address. If the last frame is not the outermost one, a line \
after it says why the stack ends there.

$C prints before each frame the place where its frame pointer would be. You can type it back. \
::stackregs is the same as $C.

The parentheses hold the arguments that debug information finds, as bare numbers. `?` stands for \
an argument that is not known. The operand limits their number, in decimal; the default is 6.

With -v, each argument and local has a line below its frame, with the value that it has at this \
place in the code. <optimized out> marks a variable that the compiler did not keep; <not dumped> \
marks memory that the core does not have. The 4096 innermost frames have these lines. Below a \
Python frame stand its arguments and locals, and below a Java frame too. Of compiled methods they \
are those that the compiler kept. Below a JavaScript frame stand `this` and the arguments, by number.";

const EXAMPLES: &[Example] = &[
    Example { line: "$C", shows: "the stack of the current thread" },
    Example { line: "::walk thread | ::stack", shows: "the stacks of all threads" },
    Example { line: "::stack -v -l 5", shows: "the five innermost frames, with source lines" },
];

impl Dcmd for Stack {
    fn spec(&self) -> Spec {
        let summary = match self.layout {
            Layout::WithPointer => "print the stack with frame pointers",
            _ => "print the stack of a thread",
        };
        Spec::new(self.name, Group::Stacks, summary)
            .aliases(self.aliases)
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[cnt]", 0, 1)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let shown = StackOptions {
            arguments: argument_limit(cx, args)?,
            limit: frame_limit(args)?,
            layout: if args.has('v') { Layout::Verbose } else { self.layout },
            native_alone: args.has('N'),
        };
        let start = if args.has('u') { StackStart::of_context(cx) } else { StackStart::of(cx) }?;
        print_stack(cx, start, &shown)
    }
}

/// What is shown of a stack.
struct StackOptions {
    /// How many arguments stand between parentheses, at most.
    arguments: usize,
    /// How many frames, at most.
    limit: usize,
    layout: Layout,
    /// Whether native frames are shown whatever runs in them.
    native_alone: bool,
}

/// How many arguments stand between parentheses, at most.
fn argument_limit(cx: &Cx<'_>, args: &Args) -> Result<usize> {
    let Some(word) = args.first() else { return Ok(DEFAULT_ARGUMENTS) };
    let count = operand::count(cx, word)?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// The value of `-l`, in decimal.
fn frame_limit(args: &Args) -> Result<usize> {
    let Some(value) = args.value('l') else { return Ok(MAX_FRAMES) };
    operand::as_decimal(value)
        .filter(|limit| *limit > 0)
        .map(|limit| limit.min(MAX_FRAMES))
        .ok_or_else(|| DcmdError::usage(format!("invalid number of frames -- {}", value.to_text())))
}

/// Emits the stack that begins at `start`.
fn print_stack(cx: &mut Cx<'_>, start: StackStart, shown: &StackOptions) -> Result<()> {
    let core = cx.core();
    let stack = start.stack(core, shown.limit);
    if let (StackStart::FramePointer { at, .. }, true) = (&start, stack.frames.is_empty()) {
        let message = format!("stack frame pointer is invalid: {at:x}");
        return Err(DcmdError::at(*at, message));
    }
    let begin = beginning(cx, &start, &stack).showing(cx.shell().settings());
    cx.begin(&begin, "frames")?;
    let names = Names::new(cx);
    let layout = shown.layout;
    let wanted = match layout {
        Layout::Verbose => VariableChoice::All,
        _ if cx.is_for_people() => VariableChoice::BareArguments,
        _ => VariableChoice::Arguments,
    };
    let process = SessionProcess::new(cx);
    let integers = cx.shell().settings().integers();
    let values =
        ValueReader::new(core, &stack, wanted).with_integers(integers).in_process(&process);
    let mut frames: Box<dyn Iterator<Item = NamedFrame>> = match shown.native_alone {
        true => Box::new(core.stacks().native_frames(&stack)),
        false => Box::new(core.stacks().named_frames(&stack)),
    };
    for frame in frames.by_ref().take(shown.limit) {
        let values = values.of(&frame).showing(shown.arguments);
        let line = names.frame_line(start.tid(), frame, layout).of_task(start.suspended());
        cx.emit(&line.with(values, core.target().endian))?;
    }
    let end = StackEnd::new(core, &stack, layout);
    // Inlined calls and tail calls make more lines than the stack has frames.
    let is_cut = frames.next().is_some();
    cx.end(&if is_cut { end.cut(shown.limit) } else { end })
}

/// The beginning of a stack that starts there.
fn beginning(cx: &Cx<'_>, start: &StackStart, stack: &kcore::Stack) -> StackBegin {
    let (core, titled) = (cx.core(), cx.input().looped);
    let sp = stack.frames.first().and_then(|frame| frame.sp);
    let Some(tid) = start.tid() else {
        return StackBegin::of_task(core, start.task().cloned(), sp, titled);
    };
    let current = cx.shell().current_thread() == Some(tid);
    let begin = StackBegin::new(core, tid, current, titled).running(core.tasks().on_stack(stack));
    match start {
        StackStart::Context { .. } => StackBegin { sp, waits_in: None, ..begin },
        _ => begin,
    }
}
