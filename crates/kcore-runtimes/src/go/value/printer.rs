//! Prints values.

use std::fmt::Write as _;

use kcore_mem::{Addr, AddressSpace, CodeAddr};

use super::{GoValueLimits, maps::entries};
use crate::{
    Host,
    go::{
        Go,
        heap::TypeReader,
        printed_value::{SHORT, printed},
        type_shape::{Field, MAX_NESTED, Shape, Shaped},
    },
};

/// Bytes of text in all, at most.
const MAX_TEXT: usize = 1 << 16;

/// Prints values, as long as there is room.
pub struct Printer<'a> {
    pub go: &'a Go,
    pub host: &'a dyn Host,
    pub reader: &'a TypeReader<'a>,
    limits: GoValueLimits,
    out: String,
    nested: usize,
    is_cut: bool,
}

impl<'a> Printer<'a> {
    pub fn new(
        go: &'a Go,
        host: &'a dyn Host,
        reader: &'a TypeReader<'a>,
        limits: GoValueLimits,
    ) -> Self {
        Self { go, host, reader, limits, out: String::new(), nested: 0, is_cut: false }
    }

    /// What was printed, and whether a limit left something out.
    pub fn finish(self) -> (String, bool) {
        (self.out, self.is_cut)
    }

    fn space(&self) -> &dyn AddressSpace {
        self.host.space()
    }

    fn cut(&mut self) {
        self.is_cut = true;
        self.out.push_str("...");
    }

    /// Prints the value of a type at an address, and what it points to, so deep.
    pub fn value(&mut self, at: Addr, ty: Addr, depth: usize) {
        if self.nested >= MAX_NESTED || self.out.len() >= MAX_TEXT {
            return self.cut();
        }
        self.nested = self.nested.saturating_add(1);
        if self.known(at, ty, depth).is_none() {
            self.out.push_str("<unreadable>");
        }
        self.nested = self.nested.saturating_sub(1);
    }

    /// `None`, and nothing printed, where it cannot be read.
    fn known(&mut self, at: Addr, ty: Addr, depth: usize) -> Option<()> {
        let shaped = self.reader.shaped(ty)?;
        let name = &shaped.ty.name;
        let word = || self.space().read_addr(at).ok();
        match &shaped.shape {
            Shape::Plain => {
                let text = printed(self.space(), SHORT, &shaped.ty, at)?;
                self.out.push_str(&text);
            }
            Shape::Text => self.text(at)?,
            Shape::Pointer(to) => self.pointer(word()?, name, *to, depth),
            Shape::Unsafe | Shape::Channel(_) => self.address(word()?, name),
            Shape::Function => self.function(word()?),
            Shape::Interface(_) => self.interface(at, word()?, depth)?,
            Shape::Slice(element) => {
                let (first, count) = (word()?, self.space().read_word(at.checked_add(8)?).ok()?);
                self.out.push_str(name);
                match first.get() {
                    0 => self.out.push_str("(nil)"),
                    _ => self.elements(first, *element, count, depth),
                }
            }
            Shape::Array(element, count) => {
                self.out.push_str(name);
                self.elements(at, *element, *count, depth);
            }
            Shape::Structure(fields) => {
                self.out.push_str(name);
                self.fields(at, fields, depth);
            }
            Shape::Map(_) => match word()? {
                head if head.get() != 0 => self.map(head, &shaped, depth),
                _ => {
                    let _ = write!(self.out, "{name}(nil)");
                }
            },
        }
        Some(())
    }

    /// Prints the map of a type whose head lies at an address.
    pub fn map(&mut self, head: Addr, shaped: &Shaped, depth: usize) {
        self.out.push_str(&shaped.ty.name);
        let found = match shaped.shape {
            Shape::Map(map) => entries(self, map, head, self.limits.elements),
            _ => None,
        };
        match found {
            Some(entries) => self.entries(&entries.all, entries.is_cut, depth),
            None => self.out.push_str("{<unreadable>}"),
        }
    }

    fn text(&mut self, at: Addr) -> Option<()> {
        let (start, len) =
            (self.space().read_addr(at).ok()?, self.space().read_word(at.checked_add(8)?).ok()?);
        let shown = len.min(self.limits.text);
        let bytes = self.space().read_held(start, shown);
        (bytes.len() as u64 == shown).then_some(())?;
        let _ = write!(self.out, "{:?}", String::from_utf8_lossy(&bytes));
        if shown < len {
            self.cut();
        }
        Some(())
    }

    fn pointer(&mut self, to: Addr, name: &str, ty: Addr, depth: usize) {
        let is_readable = to.get() != 0 && self.space().read_uint(to, 1).is_ok();
        match depth.checked_sub(1).filter(|_| is_readable) {
            Some(depth) => {
                self.out.push('&');
                self.value(to, ty, depth);
            }
            None => self.address(to, name),
        }
    }

    fn address(&mut self, to: Addr, name: &str) {
        let _ = match to.get() {
            0 => write!(self.out, "nil"),
            to => write!(self.out, "({name}) {to:#x}"),
        };
    }

    fn function(&mut self, to: Addr) {
        if to.get() == 0 {
            return self.out.push_str("nil");
        }
        let code = self.space().read_addr(to).ok();
        let place = code.and_then(|code| self.go.place(self.host, CodeAddr::Pc(code)));
        let name = place.and_then(|it| it.function.name(&self.go.tables, self.space()));
        let _ = match name {
            Some(name) => write!(self.out, "func {name}"),
            None => write!(self.out, "(func) {:#x}", to.get()),
        };
    }

    fn interface(&mut self, at: Addr, first: Addr, depth: usize) -> Option<()> {
        if first.get() == 0 {
            self.out.push_str("nil");
            return Some(());
        }
        let held = self.go.held_by_interface(self.host, at)?;
        let shaped = self.reader.shaped(held.ty)?;
        // What has the name of its type in front of it needs no other.
        let is_named = match &shaped.shape {
            Shape::Plain => !shaped.ty.is_predeclared(),
            Shape::Text => false,
            Shape::Pointer(to) => self.names_its_type(held.at, *to, depth),
            Shape::Unsafe | Shape::Function | Shape::Channel(_) => false,
            _ => true,
        };
        if is_named {
            self.value(held.at, held.ty, depth);
        } else {
            let _ = write!(self.out, "{}(", shaped.ty.name);
            self.value(held.at, held.ty, depth);
            self.out.push(')');
        }
        Some(())
    }

    /// Whether a pointer is printed with the type of what it points to.
    fn names_its_type(&self, at: Addr, to: Addr, depth: usize) -> bool {
        let is_null = self.space().read_word(at).unwrap_or_default() == 0;
        let is_plain = || {
            let shaped = self.reader.shaped(to);
            shaped.is_none_or(|it| {
                matches!(it.shape, Shape::Plain | Shape::Text | Shape::Interface(_))
            })
        };
        !is_null && (depth == 0 || !is_plain())
    }

    fn fields(&mut self, at: Addr, fields: &[Field], depth: usize) {
        self.out.push('{');
        for (index, field) in fields.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let _ = write!(self.out, "{comma}{}: ", field.name);
            self.value(at.saturating_add(field.offset), field.ty, depth);
            if self.out.len() >= MAX_TEXT {
                break;
            }
        }
        self.out.push('}');
    }

    /// Prints so many values of a type behind each other.
    pub fn elements(&mut self, first: Addr, ty: Addr, count: u64, depth: usize) {
        let size = self.reader.shaped(ty).map_or(0, |element| element.ty.size);
        self.out.push('{');
        let shown = count.min(self.limits.elements);
        for index in 0..shown {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.value(first.saturating_add(index.saturating_mul(size)), ty, depth);
            if self.out.len() >= MAX_TEXT {
                break;
            }
        }
        if shown < count {
            let _ = write!(self.out, "{}", if shown > 0 { ", " } else { "" });
            self.cut();
            let _ = write!(self.out, " {count} in all");
        }
        self.out.push('}');
    }

    fn entries(&mut self, entries: &[[(Addr, Addr); 2]], is_cut: bool, depth: usize) {
        self.out.push('{');
        for (index, [(key, key_type), (value, value_type)]) in entries.iter().enumerate() {
            if self.out.len() >= MAX_TEXT {
                break;
            }
            if index > 0 {
                self.out.push_str(", ");
            }
            self.value(*key, *key_type, depth);
            self.out.push_str(": ");
            self.value(*value, *value_type, depth);
        }
        if is_cut {
            self.out.push_str(if entries.is_empty() { "" } else { ", " });
            self.cut();
        }
        self.out.push('}');
    }
}
