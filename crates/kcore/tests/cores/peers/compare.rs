//! Where a stack of kcore and one of a peer differ first.

use std::fmt;

use gen_cores::bare_name;
use kcore::{Core, Frame, Stack};

use super::PeerFrame;

/// How two stacks differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The peer has no such thread.
    NoThread,
    /// The peer's stack ends before kcore's.
    Shorter,
    /// The peer's stack goes on after kcore's.
    Longer,
    /// The peer has another pc.
    Pc,
    /// The peer has another name for one of the program's own functions.
    Name,
}

/// A difference, and where it is.
pub struct Difference {
    pub what: What,
    at: usize,
    text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at frame {}: {}", self.what, self.at, self.text)
    }
}

/// The first difference, innermost frames first.
pub fn difference(core: &Core, own: &Stack, theirs: Option<&[PeerFrame]>) -> Option<Difference> {
    let Some(theirs) = theirs else {
        return Some(Difference { what: What::NoThread, at: 0, text: String::new() });
    };
    let pairs = own.frames.iter().zip(theirs).enumerate();
    let within = pairs.filter_map(|(at, (own, theirs))| {
        let what = frame_difference(core, own, theirs)?;
        let text = format!("{}, peer {}", shown(core, own), shown_peer(theirs));
        Some(Difference { what, at, text })
    });
    within.into_iter().next().or_else(|| length_difference(core, own, theirs))
}

fn frame_difference(core: &Core, own: &Frame, theirs: &PeerFrame) -> Option<What> {
    if own.pc.addr().get() != theirs.pc {
        return Some(What::Pc);
    }
    let own_name = program_function(core, own)?;
    let name = theirs.name.as_deref()?;
    let is_same = bare_name(&own_name, false) == bare_name(name, false);
    (!is_same).then_some(What::Name)
}

/// The name of a function that is compiled from our own sources: others have many names.
fn program_function(core: &Core, frame: &Frame) -> Option<String> {
    let locations = core.symbols().locations(frame.pc);
    let outer = locations.last()?;
    let is_own = outer.file.as_deref().is_some_and(|file| file.contains("gen-cores/scenarios/"));
    is_own.then(|| outer.function.as_deref().map(str::to_owned))?
}

fn length_difference(core: &Core, own: &Stack, theirs: &[PeerFrame]) -> Option<Difference> {
    let at = own.frames.len().min(theirs.len());
    let (what, frame) = match (own.frames.get(at), theirs.get(at)) {
        (Some(own), _) => (What::Shorter, shown(core, own)),
        (None, Some(theirs)) => (What::Longer, shown_peer(theirs)),
        (None, None) => return None,
    };
    Some(Difference { what, at, text: format!("{frame}; kcore: {}", own.end) })
}

fn shown(core: &Core, frame: &Frame) -> String {
    let locations = core.symbols().locations(frame.pc);
    let name = locations.last().and_then(|outer| outer.function.as_deref()).unwrap_or("?");
    format!("{} {name} [{}]", frame.pc.addr(), frame.trust.as_str())
}

fn shown_peer(frame: &PeerFrame) -> String {
    format!("{:#x} {}", frame.pc, frame.name.as_deref().unwrap_or("?"))
}
