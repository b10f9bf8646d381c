//! Which groups of threads `::stacks` shows.

use kcore::{Core, NamedFrame, SoughtName, StackGroup};
use kcore_dcmd::{Args, Cx, DcmdError, Result, stack::state_of_group};

/// A function, with its module and an offset in it if these must match too.
struct CallFilter {
    function: SoughtName,
    module: Option<String>,
    offset: Option<u64>,
}

/// The filters of one call; a group must pass all of them.
#[derive(Default)]
pub struct StackFilter {
    contains: Option<CallFilter>,
    excludes: Option<CallFilter>,
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
    /// If filters contradict each other, a module or state is unknown, or an offset is not a number.
    pub fn new(cx: &Cx<'_>, args: &Args) -> Result<Self> {
        let text = |flag| args.value(flag).map(kcore_dcmd::Arg::to_text);
        let place = |flag| text(flag).map(|text| CallFilter::parse(cx, &text)).transpose();
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
        let of_place = |place: &'_ Option<CallFilter>| place.as_ref()?.module.clone();
        let of_places = [of_place(&self.contains), of_place(&self.excludes)];
        let modules = [&self.module, &self.not_module].into_iter().chain(&of_places);
        for module in modules.flatten() {
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

    /// `-i` stands for filters of its own, which would contradict others.
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
        let has = |place: &CallFilter| {
            core.stacks().named_frames(&group.stack).any(|frame| place.is_at(core, &frame))
        };
        let in_module = |name: &String| passes_module(core, group, name);
        let waits = |call: &String| waits_in(group, call);
        let in_state = |wanted: &String| {
            state_of_group(core, group).is_some_and(|state| state.trim_end_matches('*') == wanted)
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

impl CallFilter {
    /// `function`, ``module`function``, either with `+offset`.
    fn parse(cx: &Cx<'_>, text: &str) -> Result<Self> {
        let (module, text) = match text.rsplit_once('`') {
            Some((scope, text)) => (scope.rsplit('`').next().map(str::to_owned), text),
            None => (None, text),
        };
        let (function, offset) = split_offset(cx, text)?;
        Ok(Self { function: SoughtName::new(function), module, offset })
    }

    fn is_at(&self, core: &Core, frame: &NamedFrame) -> bool {
        self.offset.is_none_or(|offset| frame.location.offset == Some(offset))
            && self.is_of(core, frame)
            && self.module.as_ref().is_none_or(|module| is_in(core, frame, module))
    }

    /// Whether the function of a frame has this name, as the stack shows it or as its symbol has it.
    fn is_of(&self, core: &Core, frame: &NamedFrame) -> bool {
        let shown = frame.location.function.as_deref();
        let Some(shown) = shown else { return false };
        self.function.is_function(shown)
            || symbol_of(core, frame).is_some_and(|raw| self.function.is_symbol(raw.as_bytes()))
    }
}

/// The name of the symbol of a frame's function. An inlined call has none, and neither has a
/// function that a runtime runs.
fn symbol_of(core: &Core, frame: &NamedFrame) -> Option<String> {
    let location = &frame.location;
    let is_native = location.kind.is_machine_code() && !location.inline;
    let start = frame.pc()?.addr().get().checked_sub(location.offset.filter(|_| is_native)?)?;
    core.symbols().mangled_name(kcore::Addr::new(start))
}

fn is_in(core: &Core, frame: &NamedFrame, name: &str) -> bool {
    let at = frame.pc().and_then(|pc| core.modules().at(pc.lookup()));
    at.is_some_and(|module| core.modules().named(name).any(|it| it.base() == module.base()))
}

/// A function's name and the offset after it. A plus may also be an operator that is the name.
fn split_offset<'t>(cx: &Cx<'_>, text: &'t str) -> Result<(&'t str, Option<u64>)> {
    let Some((function, offset)) = text.rsplit_once('+') else { return Ok((text, None)) };
    match cx.shell().evaluate(offset) {
        Ok(offset) if !function.ends_with("operator") => Ok((function, Some(offset))),
        Err(error) if !text.contains("operator") => Err(error),
        _ => Ok((text, None)),
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
