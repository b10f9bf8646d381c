//! Values by their types, as Go's own `%+v` would print them with names of types: no debug information is needed.

mod maps;
mod printer;

use std::sync::Arc;

use kcore_mem::Addr;

use self::printer::Printer;
use super::{Go, heap::TypeReader};
use crate::Host;

/// How much of a value is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoValueLimits {
    /// Pointers that are followed below each other.
    pub depth: usize,
    /// Elements of each slice, array or map.
    pub elements: u64,
    /// Bytes of each text.
    pub text: u64,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoValue {
    /// Where it lies.
    pub at: Addr,
    /// Its type, as Go prints it.
    pub ty: Arc<str>,
    /// Its bytes.
    pub size: u64,
    /// What it is, as Go writes it.
    pub text: String,
    /// Whether a limit left something out.
    pub is_cut: bool,
}

/// Where a value lies, and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed {
    /// Where the value lies, or the first of several.
    pub at: Addr,
    /// Where the type is described.
    pub ty: Addr,
    /// How it lies there.
    pub form: Form,
}

/// How values lie at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One value.
    One,
    /// So many of them behind each other.
    Several(u64),
    /// What the one value, a map, points to.
    MapHead,
}

impl Go {
    /// The value of a type at an address.
    ///
    /// # Errors
    /// In words, where no type is described at that address.
    pub fn typed_value(
        &self,
        host: &dyn Host,
        typed: Typed,
        limits: GoValueLimits,
    ) -> Result<GoValue, String> {
        let reader = TypeReader::new(host.space(), &self.tables);
        let shaped = reader
            .shaped(typed.ty)
            .ok_or_else(|| format!("no type of Go is described at {:x}", typed.ty.get()))?;
        let mut printer = Printer::new(self, host, &reader, limits);
        let (name, size) = match typed.form {
            Form::Several(count) => {
                printer.elements(typed.at, typed.ty, count, limits.depth);
                let size = shaped.ty.size.saturating_mul(count);
                (format!("[{count}]{}", shaped.ty.name).into(), size)
            }
            Form::One => {
                printer.value(typed.at, typed.ty, limits.depth);
                (shaped.ty.name.clone(), shaped.ty.size)
            }
            Form::MapHead => {
                printer.map(typed.at, &shaped, limits.depth);
                (shaped.ty.name.clone(), shaped.ty.size)
            }
        };
        let (text, is_cut) = printer.finish();
        Ok(GoValue { at: typed.at, ty: name, size, text, is_cut })
    }

    /// What the interface at an address holds.
    pub fn held_by_interface(&self, host: &dyn Host, at: Addr) -> Option<Typed> {
        let reader = TypeReader::new(host.space(), &self.tables);
        let kind = |at: Addr| reader.shaped(at).map(|shaped| shaped.ty.kind);
        let ty = self.dynamic_type(host.space(), host.space().read_addr(at).ok()?, &kind)?;
        let data = at.checked_add(8)?;
        let is_direct = reader.shaped(ty)?.is_direct(&|at| reader.shaped(at));
        let at = if is_direct { data } else { host.space().read_addr(data).ok()? };
        Some(Typed { at, ty, form: Form::One })
    }
}
