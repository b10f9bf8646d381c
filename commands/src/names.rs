//! Addresses by name, as the session spells them: private symbols, the distance from a symbol at
//! which its name counts, and whether names are demangled.

use std::borrow::Cow;
use std::sync::Arc;

use kcore::{Addr, Core, NamedFrame, Tid};
use kcore_dcmd::{
    Cx, PrivateSymbols, Shell, SymbolCell,
    stack::{FrameLine, Layout},
};

/// Names addresses by the settings of a session.
#[derive(Clone)]
pub struct Names<'c> {
    core: &'c Arc<Core>,
    private: Arc<PrivateSymbols>,
    distance: u64,
    demangle: bool,
    radix: u32,
    source_lines: bool,
}

impl<'c> Names<'c> {
    /// Names as the session of `cx` has them now.
    pub fn new(cx: &Cx<'c>) -> Self {
        Self::of_session(cx.core(), cx.shell())
    }

    /// Names as a session on `core` has them now.
    pub fn of_session(core: &'c Arc<Core>, shell: &dyn Shell) -> Self {
        let settings = shell.settings();
        Self {
            core,
            private: Arc::clone(shell.private_symbols()),
            distance: settings.symbol_distance,
            demangle: settings.demangle,
            radix: shell.radix(),
            source_lines: settings.source_lines,
        }
    }

    /// The core.
    pub const fn core(&self) -> &'c Arc<Core> {
        self.core
    }

    /// The radix of offsets.
    pub const fn radix(&self) -> u32 {
        self.radix
    }

    /// The symbol that holds `at`: a private one before those of modules.
    pub fn at(&self, at: Addr) -> Option<SymbolCell<'static>> {
        self.private_at(at).or_else(|| self.public_at(at))
    }

    /// The name that the session gives to the function of a frame, if it is not the usual one: a
    /// private symbol holds it, or names are not demangled. An inlined call has no symbol, and
    /// neither has a function that a runtime runs.
    pub fn renamed(&self, frame: &NamedFrame) -> Option<SymbolCell<'static>> {
        if frame.location.inline || !frame.location.kind.is_machine_code() {
            return None;
        }
        let at = frame.pc()?;
        let past = at.addr().offset_from(at.lookup()).unwrap_or_default();
        let named = match self.private_at(at.lookup()) {
            None if self.demangle => None,
            None => self.public_at(at.lookup()),
            private => private,
        }?;
        Some(SymbolCell { addr: at.addr(), offset: named.offset.saturating_add(past), ..named })
    }

    /// The record of a frame of thread `tid`.
    pub fn frame_line(&self, tid: Option<Tid>, frame: NamedFrame, layout: Layout) -> FrameLine {
        let renamed = self.renamed(&frame);
        FrameLine::new(self.core, tid, frame, layout)
            .renamed(renamed)
            .with_source(self.source_lines)
    }

    /// ``module`name+0x1e``; `None` without a symbol.
    pub fn spelled(&self, at: Addr) -> Option<String> {
        self.at(at).map(|symbol| symbol.spelled(self.radix, visible))
    }

    /// The same, and the address in hexadecimal where there is no symbol.
    pub fn spelled_or_address(&self, at: Addr) -> String {
        self.cell(at).spelled(self.radix, visible)
    }

    /// An address with its symbol, as a cell.
    pub fn cell(&self, at: Addr) -> SymbolCell<'static> {
        let nameless =
            || SymbolCell { addr: at, module: None, name: None, offset: 0, nearest: false };
        self.at(at).unwrap_or_else(nameless)
    }

    fn private_at(&self, at: Addr) -> Option<SymbolCell<'static>> {
        let symbol = self.private.at(at)?;
        let offset = at.offset_from(symbol.value)?;
        let name = Some(symbol.name.clone().into());
        Some(SymbolCell { addr: at, module: None, name, offset, nearest: false })
    }

    fn public_at(&self, at: Addr) -> Option<SymbolCell<'static>> {
        let symbol = match self.distance {
            0 => self.core.symbols().at(at)?,
            distance => self.core.symbols().before(at).filter(|symbol| symbol.offset < distance)?,
        };
        let raw =
            (!self.demangle).then(|| self.core.symbols().mangled_name(symbol.start)).flatten();
        let module = (!symbol.in_exe).then(|| symbol.module.to_string());
        Some(SymbolCell {
            addr: at,
            module: module.map(Into::into),
            name: Some(raw.unwrap_or_else(|| symbol.name.to_string()).into()),
            offset: symbol.offset,
            nearest: symbol.is_only_nearest(),
        })
    }
}

/// A name from the core for a text of several lines that is shown as it is. The name stays on one line.
fn visible(name: &str) -> Cow<'_, str> {
    match name.contains(char::is_control) {
        true => name.escape_debug().to_string().into(),
        false => name.into(),
    }
}
