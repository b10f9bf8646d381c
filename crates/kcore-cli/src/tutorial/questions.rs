//! The ten questions, and where the library finds their answers: nothing is known beforehand but the names of the
//! program.

use kcore::{Core, Disassembler, MAX_FRAMES, Stack, Tid};

use super::fact::Fact;

/// A question about the core.
pub(super) struct Question {
    /// What it is about.
    pub(super) title: &'static str,
    /// The question, with what may be typed to find out.
    pub(super) text: &'static str,
    /// What helps who got it wrong twice.
    pub(super) hint: &'static str,
    /// What is worth knowing once it is answered.
    pub(super) lesson: &'static str,
    /// The answer.
    pub(super) fact: fn(&Core) -> Option<Fact>,
}

/// All of them, in order.
pub(super) const QUESTIONS: &[Question] = &[
    Question {
        title: "What happened?",
        text: "Which signal ended the process? Type ::status and read the line that begins with \"status\".",
        hint: "The name of a signal begins with SIG. A bad address mostly leads to this one.",
        lesson: "::status is the first thing to type on any core.",
        fact: |core| Some(Fact::Text(core.status().signal?.name)),
    },
    Question {
        title: "Where was it?",
        text: "$C shows the stack of the thread that died, with the innermost function at the top. Which function is \
               that?",
        hint: "Type $C. The name stands behind the frame pointer and before the +.",
        lesson: "$C shows a frame a line, with arguments where debug information finds them.",
        fact: |core| function(core, crashed(core)?, 0),
    },
    Question {
        title: "Who called it?",
        text: "Which function called the one that died?",
        hint: "It is the second line of $C.",
        lesson: "Each line of a stack was called by the one below it.",
        fact: |core| function(core, crashed(core)?, 1),
    },
    Question {
        title: "With what?",
        text: "What is the value of `header`, the argument of that function? ::stack -v -l 1 shows one frame with its \
               variables, and so does ::locals.",
        hint: "Type ::locals, and look for header=.",
        lesson: "A structure behind a null pointer: its members lie at small addresses, as the one in ::status.",
        fact: |core| argument(core, crashed(core)?, "header"),
    },
    Question {
        title: "Registers",
        text: "Where does the stack of this thread end? Give the value of the register rsp: ::regs shows all of them, \
               <rsp=J shows one.",
        hint: "Type ::regs and look for %rsp.",
        lesson: "<NAME is the value of a register in any expression.",
        fact: |core| core.registers().named(crashed(core)?, 0, "rsp").ok()?.map(Fact::Hex),
    },
    Question {
        title: "Memory",
        text: "The job that killed the worker lies at poisoned.13, and its second word points to the path of the \
               request. Which path is it? An address, a slash and letters show memory: *(poisoned.13+8)/s is the \
               text to which the word at poisoned.13+8 points.",
        hint: "Type *(poisoned.13+8)/s. The text stands behind the address.",
        lesson: "* follows a pointer. ::formats lists the letters, such as X for a word and p for a symbol.",
        fact: |core| Some(Fact::Text(text_behind(core, "poisoned.13", 8)?)),
    },
    Question {
        title: "The other threads",
        text: "How many threads wait in the system call futex? ::stacks groups threads with equal stacks, and \
               ::threads has a line for each thread.",
        hint: "Type ::stacks -s futex, and read the column COUNT.",
        lesson: "In a process that hangs, the largest group is often where to look.",
        fact: |core| Some(Fact::Count(waiting(core, "futex").len())),
    },
    Question {
        title: "Pipelines",
        text: "A pipe hands the threads on: ::stacks -s futex | ::head -1 | ::stack shows the stack of one of them. \
               Which function of the program called pthread_cond_wait there?",
        hint: "It stands in the line below pthread_cond_wait.",
        lesson: "What one command finds, the next one takes as its address. `! COMMAND` feeds a command of the shell.",
        fact: |core| caller_of(core, *waiting(core, "futex").first()?, "pthread_cond_wait"),
    },
    Question {
        title: "Instructions",
        text: "<rip::dis -n 1 shows the instruction that failed, marked by >. Through which register did it read?",
        hint: "The register stands in brackets: 8(%rax) reads 8 bytes behind rax.",
        lesson: "Without debug information, this register is what leads to the null pointer.",
        fact: |core| base_register(core, crashed(core)?),
    },
    Question {
        title: "Help",
        text: "Which command lists the mappings of the address space? ::dcmds lists all commands with what they do, \
               and ::help NAME explains one.",
        hint: "Type ::dcmds ! grep mapping",
        lesson: "::help explains the language. The Tab key completes commands, options, symbols and types.",
        fact: |_| command("mappings"),
    },
];

fn crashed(core: &Core) -> Option<Tid> {
    Some(core.crashed_thread()?.tid)
}

fn functions(core: &Core, stack: &Stack) -> Vec<String> {
    let names =
        core.stacks().named_frames(stack).filter_map(|frame| frame.location.function.clone());
    names.map(|name| name.to_string()).collect()
}

/// The function of a frame, counted from the innermost one.
fn function(core: &Core, tid: Tid, index: usize) -> Option<Fact> {
    let names = functions(core, &core.stacks().of_thread(tid, MAX_FRAMES));
    names.get(index).cloned().map(Fact::Text)
}

/// Who called a function.
fn caller_of(core: &Core, tid: Tid, callee: &str) -> Option<Fact> {
    let names = functions(core, &core.stacks().of_thread(tid, MAX_FRAMES));
    let mut callers = names.into_iter().skip_while(|name| name != callee).skip(1);
    callers.next().map(Fact::Text)
}

/// The value of a variable of the innermost frame.
fn argument(core: &Core, tid: Tid, name: &str) -> Option<Fact> {
    let stack = core.stacks().of_thread(tid, 1);
    let frame = core.stacks().named_frames(&stack).next()?;
    let variable = core.stacks().known_frames(&stack, 1).variable(&frame, name)?;
    variable.object.ok()?.number(core).ok()?.unsigned().map(Fact::Hex)
}

/// The text to which a word of a variable points.
fn text_behind(core: &Core, variable: &str, offset: u64) -> Option<String> {
    /// Longer than any text of the program.
    const LONGEST: usize = 256;
    let at = core.symbols().lookup(None, variable).ok()?.checked_add(offset)?;
    let text = core.space().read_addr(at).ok()?;
    String::from_utf8(core.space().read_cstr(text, LONGEST).ok()?).ok()
}

/// The threads that wait in a system call.
fn waiting(core: &Core, call: &str) -> Vec<Tid> {
    let is_in = |tid: &Tid| core.waits_in(*tid).is_some_and(|name| name == call);
    core.tids().into_iter().filter(is_in).collect()
}

/// The register within the brackets of the instruction at which a thread stands.
fn base_register(core: &Core, tid: Tid) -> Option<Fact> {
    /// Longest instruction, in bytes.
    const LONGEST: usize = 16;
    let pc = core.registers().of_thread(tid)?.pc();
    let mut bytes = [0; LONGEST];
    let (read, _) = core.space().read_partial(pc, &mut bytes);
    let disassembler = Disassembler::new(core.target()).ok()?;
    let instruction = disassembler.decode_one(pc, bytes.get(..read)?)?;
    let (_, base) = instruction.operands.split_once("(%")?;
    let base = base.split([',', ')']).next()?;
    Some(Fact::Text(base.to_owned()))
}

/// A command, if there is one of this name.
fn command(name: &str) -> Option<Fact> {
    let specs = kcore_commands::DCMDS.iter().map(|dcmd| dcmd.spec());
    let found = specs.map(|spec| spec.name).find(|known| *known == name)?;
    Some(Fact::Text(format!("::{found}")))
}
