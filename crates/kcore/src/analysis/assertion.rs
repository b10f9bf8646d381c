//! What a program was told of its own end: the arguments of the function by which it gave up.
//!
//! Programs have their own `assert`: a function that takes a text, the name of a source file and a line, and calls `abort`.

#[cfg(feature = "disassembly")]
mod by_code;

use crate::{Core, FrameVariable, NamedFrame, analysis::Crash};

/// Frames that are looked at: such a function is close to `abort`.
const FRAMES: usize = 16;
/// Bytes of a text.
const LONGEST: usize = 200;
/// The last line that a file may have.
const LAST_LINE: u64 = 1_000_000;
/// How names of source files end.
const SOURCES: [&str; 9] = [".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inl", ".y"];
/// Arguments that name a function, which is told of anyway.
const FUNCTIONS: [&str; 3] = ["func", "function", "fn"];

/// `fail was called with "a == b" for file.c:12`, of the innermost function with such arguments; `None` if none has, or
/// they are not known.
pub fn stated(crash: &Crash<'_>) -> Option<String> {
    by_variables(crash).or_else(|| by_code::stated(crash))
}

/// Nothing: code is not read without a disassembler.
#[cfg(not(feature = "disassembly"))]
mod by_code {
    pub const fn stated(_: &super::Crash<'_>) -> Option<String> {
        None
    }
}

/// The same by debug information.
fn by_variables(crash: &Crash<'_>) -> Option<String> {
    let core = crash.core();
    let stack = core.stacks().of_thread(crash.end().tid, FRAMES);
    let frames = core.stacks().known_frames(&stack, FRAMES);
    let named = core.stacks().named_frames(&stack);
    let certain = named.take_while(|frame| frame.frame.is_some_and(|frame| !frame.guess));
    certain.filter(|frame| !frame.is_guess()).find_map(|frame| {
        let arguments = frames.arguments(&frame)?;
        stated_in(core, &frame, &arguments)
    })
}

fn stated_in(core: &Core, frame: &NamedFrame, arguments: &[FrameVariable]) -> Option<String> {
    let texts: Vec<String> = arguments.iter().filter_map(|it| text(core, it)).collect();
    let (files, words): (Vec<&String>, Vec<&String>) =
        texts.iter().partition(|text| is_source(text));
    let mut lines = arguments.iter().filter_map(|it| line(core, it));
    let ([file], [words], Some(line), None) =
        (files.as_slice(), words.as_slice(), lines.next(), lines.next())
    else {
        return None;
    };
    let function = frame.location.function.as_deref()?;
    Some(format!("{function} was called with \"{words}\" for {file}:{line}"))
}

/// The text of an argument, if it is one that can be printed.
fn text(core: &Core, argument: &FrameVariable) -> Option<String> {
    let name = argument.name.as_deref()?;
    let is_pointer = argument.ty.as_ref()?.spelled().ends_with('*');
    if FUNCTIONS.contains(&name) || !is_pointer {
        return None;
    }
    let at = argument.object.as_ref().ok()?.pointer(core).ok()?;
    let bytes = core.space().read_cstr(at, LONGEST).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    is_shown(&text).then_some(text)
}

/// Whether a text can be printed as it is.
fn is_shown(text: &str) -> bool {
    !text.is_empty() && !text.contains(|it: char| it.is_control())
}

/// Whether a text is the path of a source file.
fn is_source(text: &str) -> bool {
    SOURCES.iter().any(|end| text.ends_with(end))
}

/// The number of a line, by the name that such an argument has.
fn line(core: &Core, argument: &FrameVariable) -> Option<u64> {
    let is_line = argument.name.as_deref()?.to_ascii_lowercase().contains("line");
    let number = argument.object.as_ref().ok().filter(|_| is_line)?.number(core).ok()?;
    number.unsigned().filter(|line| (1..=LAST_LINE).contains(line))
}
