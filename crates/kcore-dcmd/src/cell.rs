//! Typed cells: what a record says, before anybody decides how it looks.

use std::borrow::Cow;

use kcore::Addr;

use crate::{ScriptCell, ValueCell, prefixed};

/// One typed value of a record.
///
/// Text that came from the target may hold anything; sinks sanitize it, dcmds do not.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A fact that is absent: `null` in JSON.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A size, a count, an identifier: a JSON number.
    Num(u64),
    /// A signed number.
    Int(i64),
    /// An address in the process: `"0x…"` in JSON.
    Addr(Addr),
    /// A number that is read in hexadecimal: an offset, flags. `"0x…"` in JSON.
    Hex(u64),
    /// Text.
    Text(Cow<'a, str>),
    /// An address with its name; text spells it ``object`symbol+offset``.
    Symbol(SymbolCell<'a>),
    /// Several cells.
    List(Vec<Cell<'a>>),
    /// Named cells.
    Object(Vec<(&'static str, Cell<'a>)>),
    /// A value of a type: a tree in JSON.
    Value(Box<ValueCell<'a>>),
    /// A value of a script language: a tree in JSON.
    Script(Box<ScriptCell<'a>>),
}

impl<'a> Cell<'a> {
    /// Text, borrowed or owned.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// The cell of `value`, or [`Cell::Null`].
    pub fn or_null<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Null, cell)
    }

    /// Whether the fact is absent.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// An address with the symbol that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolCell<'a> {
    /// The address itself, shown where there is no symbol.
    pub addr: Addr,
    /// The module's name, `None` for the executable, whose symbols print bare.
    pub module: Option<Cow<'a, str>>,
    /// The demangled symbol.
    pub name: Option<Cow<'a, str>>,
    /// Bytes from the symbol to the address.
    pub offset: u64,
    /// Whether it is no more than the nearest symbol before the address: it has no size, and lies far away.
    pub nearest: bool,
}

impl SymbolCell<'_> {
    /// MDB's spelling, ``module`name+0x1e`` with the offset in `radix`, or the address in hexadecimal. A name that
    /// is only that of the nearest symbol is marked. `safe` makes the names fit to be shown.
    pub fn spelled(&self, radix: u32, safe: impl Fn(&str) -> Cow<'_, str>) -> String {
        let Some(name) = &self.name else { return prefixed(self.addr.get(), 16) };
        let mut spelled = String::new();
        if let Some(module) = &self.module {
            spelled.push_str(&safe(module));
            spelled.push('`');
        }
        spelled.push_str(&safe(name));
        if self.offset > 0 {
            spelled.push('+');
            spelled.push_str(&prefixed(self.offset, radix));
        }
        if self.nearest {
            spelled.push_str(" [nearest symbol]");
        }
        spelled
    }
}

/// The named cells of one record, in the order in which they are shown.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    cells: Vec<(&'static str, Cell<'a>, bool)>,
}

impl<'a> Fields<'a> {
    /// No cells yet.
    pub fn new() -> Self {
        // Few records have more, and to grow costs more than to fill.
        Self { cells: Vec::with_capacity(24) }
    }

    /// Adds a fact.
    pub fn put(&mut self, key: &'static str, cell: Cell<'a>) -> &mut Self {
        self.cells.push((key, cell, true));
        self
    }

    /// Adds a cell for people alone: a combination of facts that have keys of their own.
    pub fn display(&mut self, key: &'static str, cell: Cell<'a>) -> &mut Self {
        self.cells.push((key, cell, false));
        self
    }

    /// Adds an address.
    pub fn addr(&mut self, key: &'static str, at: impl Into<Option<Addr>>) -> &mut Self {
        self.put(key, Cell::or_null(at.into(), Cell::Addr))
    }

    /// Adds a number.
    pub fn num(&mut self, key: &'static str, value: impl Into<Option<u64>>) -> &mut Self {
        self.put(key, Cell::or_null(value.into(), Cell::Num))
    }

    /// Adds a hexadecimal number.
    pub fn hex(&mut self, key: &'static str, value: impl Into<Option<u64>>) -> &mut Self {
        self.put(key, Cell::or_null(value.into(), Cell::Hex))
    }

    /// Adds text.
    pub fn text(&mut self, key: &'static str, text: impl Into<Cow<'a, str>>) -> &mut Self {
        self.put(key, Cell::text(text))
    }

    /// Adds text that may be absent.
    pub fn opt_text<T: Into<Cow<'a, str>>>(
        &mut self,
        key: &'static str,
        text: Option<T>,
    ) -> &mut Self {
        self.put(key, Cell::or_null(text, Cell::text))
    }

    /// Adds yes or no.
    pub fn flag(&mut self, key: &'static str, value: bool) -> &mut Self {
        self.put(key, Cell::Bool(value))
    }

    /// The cell for people or machines that `key` names.
    pub fn get(&self, key: &str) -> Option<&Cell<'a>> {
        self.cells.iter().find(|(name, ..)| *name == key).map(|(_, cell, _)| cell)
    }

    /// The facts, without the cells for people alone, in order.
    pub fn facts(&self) -> impl Iterator<Item = (&'static str, &Cell<'a>)> {
        self.cells.iter().filter(|(.., fact)| *fact).map(|(key, cell, _)| (*key, cell))
    }
}
