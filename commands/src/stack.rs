//! `::stack`, `$c`, `$C`: the stack of a thread.

use kcore::{MAX_FRAMES, NamedFrame};
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec,
    stack::{DEFAULT_ARGUMENTS, Layout, StackBegin, StackEnd, ValueReader, VariableChoice},
};

use crate::{names::Names, operand, stack_start::StackStart};

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
        help: "source lines, pc, sp, how each frame was found, arguments and locals",
    },
    Opt { flag: 'u', value: None, help: "unwind from the ucontext_t at the address" },
    Opt {
        flag: 'l',
        value: Some("frames"),
        help: "at most so many frames, inlined calls among them",
    },
    Opt { flag: 'N', value: None, help: "native frames alone, whatever language runs in them" },
];

const HELP: &str = "\
Without an address: the stack of the current thread. A thread or a frame from a pipe, or typed: a \
number that is a mapped address is a frame pointer, as $C prints it, and the stack begins with that \
frame's caller; any other number is a thread's id (ids are decimal: 0t4711).

Where a language runtime runs code of its own, its functions stand in the place of the native frames that \
run them, with their source and marked with the language ([js]); -N shows the native frames instead. \
An inlined call is a frame of its own, marked [inlined].

A function that ended by jumping to the next one, a tail call, has left nothing on the stack. It is shown, marked \
[tail call], where the debug information of calls proves that it ran there. If there are several ways, only what all \
of them share is shown, and the mark says what is unknown. Such a frame has no frame pointer and no registers, and of \
its variables only those that its callers tell.

Where a handler was called for a signal, `<signal SIGSEGV>` stands for the code that the handler returns to, or \
`<signal handler called>` if it is not certain which signal it was: the kernel tells only handlers with SA_SIGINFO.

A frame that is a guess is marked [guessed], and so is every frame beyond it. [calls elsewhere] says that the call \
before the return address does not lead to the frame below: either unwind information is wrong there, or somebody put \
that address there. [nearest symbol] says that the name has no size and lies more than a page before: the code there \
may well have no name. `-- on another stack` stands before a frame from which the program, or its runtime, went to \
another stack that lies above. If the last frame is not the outermost one, a line behind it says why there are no more.

$C prints before each frame the place where its frame pointer would be, which can be typed back; ::stackregs is the \
same.

Between parentheses stand the arguments where debug information finds them, as bare numbers, `?` for one \
that is not known; nothing where none is. The operand says how many at most, in decimal, 6 if it is left out. With -v a \
line below the frame has each argument and local by its name, as it is at this place of the code: what the \
compiler kept not is <optimized out>, what the core lacks <not dumped>. The 4096 innermost frames have them. Below a frame of \
Python stand its arguments and locals, below one of JavaScript `this` and its arguments by their numbers.";

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
    let values = ValueReader::new(core, &stack, wanted);
    let mut frames: Box<dyn Iterator<Item = NamedFrame>> = match shown.native_alone {
        true => Box::new(core.native_frames(&stack)),
        false => Box::new(core.named_frames(&stack)),
    };
    for frame in frames.by_ref().take(shown.limit) {
        let values = values.of(&frame).showing(shown.arguments);
        let line = names.frame_line(start.tid(), frame, layout);
        cx.emit(&line.with(values, core.target().endian))?;
    }
    let end = StackEnd::new(core, &stack, layout);
    // Inlined calls and tail calls make more lines than the stack has frames.
    let is_cut = frames.next().is_some();
    cx.end(&if is_cut { end.cut(shown.limit) } else { end })
}

/// What a stack begins with that was begun there.
fn beginning(cx: &Cx<'_>, start: &StackStart, stack: &kcore::Stack) -> StackBegin {
    let (core, titled) = (cx.core(), cx.input().looped);
    let sp = stack.frames.first().and_then(|frame| frame.sp);
    let Some(tid) = start.tid() else {
        return StackBegin::of_task(core, start.task().cloned(), sp, titled);
    };
    let current = cx.shell().current_thread() == Some(tid);
    let begin = StackBegin::new(core, tid, current, titled).running(core.task_on(stack));
    match start {
        StackStart::Context { .. } => StackBegin { sp, waits_in: None, ..begin },
        _ => begin,
    }
}
