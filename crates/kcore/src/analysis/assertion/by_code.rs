//! What the code of a caller states for a function by which a program gave up, where debug information does not tell.

use kcore_mem::{AccessKind, Addr};

use super::{LAST_LINE, is_shown, is_source};
use crate::{Core, Frame, analysis::Crash, arch::facts};

/// Frames that are looked at, and those behind `abort` whose calls may be of such a function: those further out have other
/// reasons to be told a place.
const FRAMES: usize = 16;
const CALLERS: usize = 4;
const ABORT: &str = "abort";
/// Arguments that are looked at.
const ARGUMENTS: usize = 6;
/// Bytes of a text.
const LONGEST: usize = 200;

/// `fail was called with "a == b" for file.c:12`, of the innermost call whose code states such arguments.
pub fn stated(crash: &Crash<'_>) -> Option<String> {
    let frames = crash.core().stacks().of_thread(crash.end().tid, FRAMES).frames;
    let symbol = |frame: &Frame| crash.core().symbols().at(frame.pc.lookup());
    let is_abort = |frame: &Frame| symbol(frame).is_some_and(|symbol| &*symbol.name == ABORT);
    let certain = frames.iter().take_while(|frame| !frame.guess);
    let mut callers = certain.skip_while(|frame| !is_abort(frame)).skip(1).take(CALLERS);
    callers.find_map(|caller| told(crash.core(), caller))
}

/// The call that a frame waits for. What was called may have jumped on to another function.
fn told(core: &Core, caller: &Frame) -> Option<String> {
    let back = caller.pc.addr();
    let called = (facts(core.target()).calls.as_ref()?.callee)(back, core.space())?;
    let function = core.symbols().at(called).filter(|it| it.offset == 0)?;
    let own = core.symbols().at(caller.pc.lookup()).map(|symbol| symbol.name);
    let arguments = (0..ARGUMENTS).map_while(|index| core.stated_argument(back, index));
    let stated = Stated::of(arguments.map(|value| argument(core, value)), own.as_deref())?;
    Some(format!("{} was called with {stated}", function.name))
}

/// An argument as a program has it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    Text(String),
    Number(u64),
}

/// A constant that code states: a text that no code of the program can change, or a number.
fn argument(core: &Core, value: u64) -> Argument {
    let at = Addr::new(value);
    let is_constant = core.modules().at(at).is_some()
        && core.mapping_at(at).and_then(|mapping| mapping.permits(AccessKind::Write))
            == Some(false);
    let text = || {
        let bytes = core.space().read_cstr(at, LONGEST).ok()?;
        String::from_utf8(bytes).ok().filter(|text| is_shown(text))
    };
    is_constant.then(text).flatten().map_or(Argument::Number(value), Argument::Text)
}

/// The words of an assertion: texts, a file, and the line that follows it.
#[derive(Debug, PartialEq, Eq)]
struct Stated {
    words: Vec<String>,
    file: String,
    line: u64,
}

impl Stated {
    /// Those of the first arguments that have them all. What registers hold behind them may be left from before.
    fn of(arguments: impl Iterator<Item = Argument>, caller: Option<&str>) -> Option<Self> {
        let (mut words, mut place) = (Vec::new(), None);
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            match (argument, arguments.peek()) {
                (Argument::Text(file), Some(Argument::Number(line)))
                    if place.is_none() && is_source(&file) && (1..=LAST_LINE).contains(line) =>
                {
                    place = Some((file, *line));
                }
                (Argument::Text(text), _) if !is_function(&text, caller) => words.push(text),
                _ => {}
            }
            if let Some((file, line)) = place.take_if(|_| !words.is_empty()) {
                return Some(Self { words, file, line });
            }
        }
        None
    }
}

impl std::fmt::Display for Stated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<String> = self.words.iter().map(|text| format!("\"{text}\"")).collect();
        write!(f, "{} for {}:{}", words.join(" and "), self.file, self.line)
    }
}

/// Whether a text is the name of the function that calls, which is told of anyway.
fn is_function(text: &str, caller: Option<&str>) -> bool {
    let last = |name: &str| name.rsplit("::").next().map(str::to_owned);
    caller.is_some_and(|caller| text == caller || Some(text.to_owned()) == last(caller))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Argument {
        Argument::Text(text.to_owned())
    }

    fn told(arguments: &[Argument]) -> Option<String> {
        Stated::of(arguments.iter().cloned(), Some("app::grow")).map(|stated| stated.to_string())
    }

    #[test]
    fn words_stand_before_or_behind_their_place() {
        let number = Argument::Number;
        let (file, line) = (text("src/table.c"), number(12));
        let told_of = |words: &str| Some(format!("{words} for src/table.c:12"));
        let words = [text("a == b"), file.clone(), line.clone(), text("left")];
        assert_eq!(told(&words), told_of("\"a == b\""), "what is behind may be left from before");
        let words = [file.clone(), line.clone(), text("no room")];
        assert_eq!(told(&words), told_of("\"no room\""));
        let words = [file.clone(), line.clone(), text("grow"), text("a == b")];
        assert_eq!(told(&words), told_of("\"a == b\""), "the function is known anyway");
        let words = [number(3), file.clone(), line.clone(), text("no %s")];
        assert_eq!(told(&words), told_of("\"no %s\""));
        let words = [text("a"), text("Failed"), file.clone(), line.clone()];
        assert_eq!(told(&words), told_of("\"a\" and \"Failed\""));
    }

    #[test]
    fn what_has_no_place_is_no_assertion() {
        let number = Argument::Number;
        assert_eq!(told(&[text("no room")]), None);
        assert_eq!(told(&[text("no room"), number(12)]), None);
        assert_eq!(told(&[text("a"), text("b.c"), text("c"), number(3)]), None, "not its line");
        assert_eq!(told(&[text("b.c"), number(3)]), None, "no words");
        assert_eq!(told(&[text("a"), text("b.c"), number(0)]), None);
    }
}
