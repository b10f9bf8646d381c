//! Addresses by name, as the session spells them: private symbols, the distance from a symbol at
//! which its name counts, and whether names are demangled.

use std::sync::Arc;

use kcore::{Addr, Core, NamedFrame};
use kcore_dcmd::{Cx, PrivateSymbols, SymbolCell, prefixed};

/// Names addresses by the settings of a session.
#[derive(Clone)]
pub struct Names<'c> {
    core: &'c Arc<Core>,
    private: Arc<PrivateSymbols>,
    distance: u64,
    demangle: bool,
    radix: u32,
}

/// The symbol that holds an address.
pub struct Named {
    /// Its module; `None` for the executable and for private symbols, which print bare.
    pub module: Option<String>,
    /// Its name.
    pub name: String,
    /// Bytes from its start.
    pub offset: u64,
}

impl<'c> Names<'c> {
    /// Names as the session of `cx` has them now.
    pub fn new(cx: &Cx<'c>) -> Self {
        let settings = cx.shell().settings();
        Self {
            core: cx.core(),
            private: Arc::clone(cx.shell().private_symbols()),
            distance: settings.symbol_distance,
            demangle: settings.demangle,
            radix: cx.shell().radix(),
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
    pub fn at(&self, at: Addr) -> Option<Named> {
        self.private_at(at).or_else(|| self.public_at(at))
    }

    /// The name that the session gives to what runs in a frame, where that is not the usual one: a
    /// private symbol holds it, or names are not demangled. An inlined call has no symbol.
    pub fn renamed(&self, frame: &NamedFrame) -> Option<Named> {
        if frame.location.inline {
            return None;
        }
        let at = frame.frame.pc;
        let past = at.addr().offset_from(at.lookup()).unwrap_or_default();
        let named = match self.private_at(at.lookup()) {
            None if self.demangle => None,
            None => self.public_at(at.lookup()),
            private => private,
        };
        named.map(|named| Named { offset: named.offset.saturating_add(past), ..named })
    }

    /// ``module`name+0x1e``; `None` without a symbol.
    pub fn spelled(&self, at: Addr) -> Option<String> {
        let Named { module, name, offset } = self.at(at)?;
        let module = module.map(|module| format!("{module}`")).unwrap_or_default();
        let offset = match offset {
            0 => String::new(),
            offset => format!("+{}", prefixed(offset, self.radix)),
        };
        // The text is shown as it stands, line ends too, and the name is the core's.
        let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        Some(format!("{module}{name}{offset}"))
    }

    /// The same, and the address in hexadecimal where there is no symbol.
    pub fn spelled_or_address(&self, at: Addr) -> String {
        self.spelled(at).unwrap_or_else(|| prefixed(at.get(), 16))
    }

    /// An address with its symbol, as a cell.
    pub fn cell(&self, at: Addr) -> SymbolCell<'static> {
        let named = self.at(at);
        let offset = named.as_ref().map_or(0, |named| named.offset);
        let (module, name) = match named {
            Some(named) => (named.module, Some(named.name)),
            None => (None, None),
        };
        SymbolCell { addr: at, module: module.map(Into::into), name: name.map(Into::into), offset }
    }

    fn private_at(&self, at: Addr) -> Option<Named> {
        let symbol = self.private.at(at)?;
        let offset = at.offset_from(symbol.value)?;
        Some(Named { module: None, name: symbol.name.clone(), offset })
    }

    fn public_at(&self, at: Addr) -> Option<Named> {
        let symbol = match self.distance {
            0 => self.core.symbol_at(at)?,
            distance => self.core.symbol_before(at).filter(|symbol| symbol.offset < distance)?,
        };
        let raw = (!self.demangle).then(|| self.core.mangled_name(symbol.start)).flatten();
        Some(Named {
            module: (!symbol.in_exe).then(|| symbol.module.to_string()),
            name: raw.unwrap_or_else(|| symbol.name.to_string()),
            offset: symbol.offset,
        })
    }
}
