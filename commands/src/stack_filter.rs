//! Which groups of threads `::stacks` shows.

use kcore::{Core, NamedFrame, StackGroup};
use kcore_dcmd::{Args, Cx, DcmdError, Result};

use crate::stacks::state;

/// A function, and an offset in it if only that place counts.
struct Place {
    function: String,
    offset: Option<u64>,
}

/// The filters of one call; a group must pass all of them.
#[derive(Default)]
pub struct StackFilter {
    contains: Option<Place>,
    excludes: Option<Place>,
    module: Option<String>,
    not_module: Option<String>,
    waits: Option<String>,
    not_waits: Option<String>,
    state: Option<String>,
    not_state: Option<String>,
}

impl StackFilter {
    /// Reads the filters of a call.
    ///
    /// # Errors
    /// Filters that contradict each other, an unknown module or state, an offset that is no number.
    pub fn new(cx: &Cx<'_>, args: &Args) -> Result<Self> {
        let text = |flag| args.value(flag).map(kcore_dcmd::Arg::to_text);
        let place = |flag| text(flag).map(|text| Place::parse(cx, &text)).transpose();
        let mut filter = Self {
            contains: place('c')?,
            excludes: place('C')?,
            module: text('m'),
            not_module: text('M'),
            waits: text('s'),
            not_waits: text('S'),
            state: text('t'),
            not_state: text('T'),
        };
        filter.check(cx.core())?;
        if args.has('i') {
            filter.make_interesting()?;
        }
        Ok(filter)
    }

    fn check(&self, core: &Core) -> Result<()> {
        for module in [&self.module, &self.not_module].into_iter().flatten() {
            if core.modules().named(module).next().is_none() {
                let reason = "unknown object file name";
                return Err(DcmdError::failed(format!("failed to look up {module}: {reason}")));
            }
        }
        for state in [&self.state, &self.not_state].into_iter().flatten() {
            if !["SLEEP", "RUN"].contains(&state.as_str()) {
                return Err(DcmdError::usage(format!("unknown state -- {state} (SLEEP or RUN)")));
            }
        }
        Ok(())
    }

    /// `-i` stands for filters of its own, which others would contradict.
    fn make_interesting(&mut self) -> Result<()> {
        let others = [&self.waits, &self.not_waits, &self.state, &self.not_state];
        if others.into_iter().any(Option::is_some) {
            return Err(DcmdError::failed("-i is incompatible with -[sStT]"));
        }
        self.not_waits = Some("ALL".to_owned());
        Ok(())
    }

    /// Whether the group is shown.
    pub fn admits(&self, core: &Core, group: &StackGroup) -> bool {
        let has = |place: &Place| core.named_frames(&group.stack).any(|frame| place.is_at(&frame));
        let in_module = |name: &String| passes_module(core, group, name);
        let waits = |call: &String| waits_in(group, call);
        let in_state = |wanted: &String| {
            state(core, group).is_some_and(|state| state.trim_end_matches('*') == wanted)
        };
        self.contains.as_ref().is_none_or(has)
            && !self.excludes.as_ref().is_some_and(has)
            && self.module.as_ref().is_none_or(in_module)
            && !self.not_module.as_ref().is_some_and(in_module)
            && self.waits.as_ref().is_none_or(waits)
            && !self.not_waits.as_ref().is_some_and(waits)
            && self.state.as_ref().is_none_or(in_state)
            && !self.not_state.as_ref().is_some_and(in_state)
    }
}

impl Place {
    /// `function`, ``module`function``, either with `+offset`.
    fn parse(cx: &Cx<'_>, text: &str) -> Result<Self> {
        let text = text.rsplit('`').next().unwrap_or(text);
        let Some((function, offset)) = text.rsplit_once('+') else {
            return Ok(Self { function: text.to_owned(), offset: None });
        };
        let offset = cx.shell().evaluate(offset)?;
        Ok(Self { function: function.to_owned(), offset: Some(offset) })
    }

    fn is_at(&self, frame: &NamedFrame) -> bool {
        frame.location.function.as_deref() == Some(&self.function)
            && self.offset.is_none_or(|offset| frame.location.offset == Some(offset))
    }
}

fn passes_module(core: &Core, group: &StackGroup, name: &str) -> bool {
    group.stack.frames.iter().any(|frame| {
        let module = core.modules().at(frame.pc.lookup()).map(|module| module.base());
        core.modules().named(name).any(|named| Some(named.base()) == module)
    })
}

fn waits_in(group: &StackGroup, call: &str) -> bool {
    let waits_in = group.waits_in.as_deref();
    waits_in.is_some_and(|waits_in| call == "ALL" || waits_in.eq_ignore_ascii_case(call))
}
