//! Holds a stack that a debugger shows against the truth.

mod name;

pub use name::bare_name;

use crate::{Call, End, Frame, Mark, Match, Thread};

/// A frame as a debugger shows it; absent facts are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Function, demangled.
    pub function: Option<String>,
    /// Source file, with or without folders.
    pub file: Option<String>,
    /// Line.
    pub line: Option<u32>,
    /// Whether the call is inlined.
    pub inline: bool,
    /// The pc.
    pub pc: Option<u64>,
}

/// Compares a whole stack, innermost frame first.
///
/// # Errors
/// Says which frame does not fit, and what stands in its place.
pub fn compare(truth: &Thread, seen: &[Seen]) -> Result<(), String> {
    let mut search = Search { truth: &truth.frames, seen, furthest: (false, 0, String::new()) };
    if search.fits(0, 0) {
        return Ok(());
    }
    let (_, at, reason) = search.furthest;
    let end = match truth.end {
        End::Honest => ", the stack is damaged beyond its frames",
        End::Outermost => "",
    };
    Err(format!("thread {} ({}): frame {at}: {reason}{end}", truth.tid, truth.role))
}

/// A search over the ways in which gaps can be filled.
struct Search<'a> {
    truth: &'a [Frame],
    seen: &'a [Seen],
    /// Where the best way came to its end: whether at a frame of the right name, which one, why.
    furthest: (bool, usize, String),
}

impl Search<'_> {
    /// Whether the truth from `t` on fits the seen frames from `s` on.
    fn fits(&mut self, t: usize, s: usize) -> bool {
        match self.truth.get(t) {
            None if s == self.seen.len() => true,
            None => self.fail(true, s, "no frame should follow".to_owned()),
            Some(Frame::Gap { .. }) if t + 1 == self.truth.len() => true,
            Some(Frame::Gap { .. }) => (s..=self.seen.len()).any(|s| self.fits(t + 1, s)),
            Some(Frame::Call(call)) => self.call_fits(call, t, s),
        }
    }

    fn call_fits(&mut self, call: &Call, t: usize, s: usize) -> bool {
        let most = call.repeat.saturating_add(call.slack) as usize;
        let least = call.repeat.saturating_sub(call.slack).max(1) as usize;
        let rest = self.seen.get(s..).unwrap_or_default();
        let run = rest.iter().take(most).take_while(|seen| misfit(call, seen).is_none()).count();
        if (least..=run).rev().any(|count| self.fits(t + 1, s + count)) {
            return true;
        }
        if matches!(call.mark, Some(Mark::Optional | Mark::TailCall)) && self.fits(t + 1, s) {
            return true;
        }
        if run >= least {
            return false; // what follows did not fit, and has said so
        }
        let Some(seen) = rest.get(run) else {
            let name = shown(call.function.as_deref());
            return self.fail(false, s + run, format!("the stack ends before {name}"));
        };
        let counted = format!("{run} times in a row, should be {}", call.repeat);
        let named = call.function.is_some() && name_fits(call, seen.function.as_deref());
        self.fail(named, s + run, misfit(call, seen).unwrap_or(counted))
    }

    fn fail(&mut self, named: bool, at: usize, reason: String) -> bool {
        if (named, at) >= (self.furthest.0, self.furthest.1) {
            self.furthest = (named, at, reason);
        }
        false
    }
}

/// Why a seen frame is not the true one, if so.
pub(crate) fn misfit(call: &Call, seen: &Seen) -> Option<String> {
    let lost = matches!(call.mark, Some(Mark::Deleted | Mark::Replaced));
    if let Some(pc) = &call.pc
        && seen.pc.is_some_and(|seen| format!("{seen:#x}") != *pc)
    {
        return Some(format!("pc {:#x}, should be {pc}", seen.pc.unwrap_or_default()));
    }
    if lost && seen.function.is_none() {
        return None;
    }
    if !name_fits(call, seen.function.as_deref()) {
        let (is, should) = (shown(seen.function.as_deref()), shown(call.function.as_deref()));
        return Some(format!("{is}, should be {should}"));
    }
    if call.inline.is_some_and(|inline| inline != seen.inline) {
        return Some(format!("{} inline: {}", shown(call.function.as_deref()), seen.inline));
    }
    if lost { None } else { place_misfit(call, seen) }
}

fn name_fits(call: &Call, seen: Option<&str>) -> bool {
    let Some(name) = call.function.as_deref() else { return true };
    seen.is_some_and(|seen| match call.matching {
        Match::Exact => seen == name,
        Match::Prefix => seen.starts_with(name),
        Match::Contains => seen.contains(name),
        Match::Demangled => bare_name(seen, name.contains('<')) == name,
    })
}

fn place_misfit(call: &Call, seen: &Seen) -> Option<String> {
    let file = seen.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    if call.file.is_some() && call.line.is_some() && file != call.file.as_deref() {
        return Some(format!("file {}, should be {}", shown(file), shown(call.file.as_deref())));
    }
    if call.line.is_some() && seen.line != call.line {
        return Some(format!(
            "{} at line {:?}, should be {:?}",
            shown(call.function.as_deref()),
            seen.line,
            call.line
        ));
    }
    None
}

fn shown(text: Option<&str>) -> &str {
    text.unwrap_or("(none)")
}

#[cfg(test)]
mod tests;
