//! What an object of the heap is, as far as that is known.

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};

use crate::{
    Host,
    go::{Go, type_shape::Shaped},
};

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A value of the type at an address.
    Value(Addr),
    /// Values of the type, behind each other: what a slice refers to.
    Array(Addr),
    /// What a text refers to.
    Text,
    /// A `runtime.hchan`, with elements of the type.
    Channel(Addr),
    /// The head of a map of the type.
    Map(Addr),
    /// A table of a map of the type (`internal/runtime/maps`).
    MapTable(Addr),
    /// The list of tables of a map of the type.
    MapTables(Addr),
    /// A function with what it holds on to, whose code begins at an address.
    Closure(Addr),
    /// Several small values without pointers.
    Tiny,
    /// Of no known type: bytes of its slot, 0 where there is but one, and whether it holds no pointers.
    Unknown(u64, bool),
}

impl Class {
    /// What it is called.
    pub fn name(self, go: &Go, host: &dyn Host) -> Arc<str> {
        let of = |ty: Addr| match Shaped::load(host.space(), &go.tables, ty) {
            Some(shaped) => shaped.ty.name,
            None => "?".into(),
        };
        match self {
            Self::Value(ty) => of(ty),
            Self::Array(ty) => format!("[]{}", of(ty)).into(),
            Self::Text => "string".into(),
            Self::Channel(ty) => format!("chan {}", of(ty)).into(),
            Self::Map(ty) => of(ty),
            Self::MapTable(ty) => format!("{} (table)", of(ty)).into(),
            Self::MapTables(ty) => format!("{} (tables)", of(ty)).into(),
            Self::Closure(code) => {
                let place = go.place(host, CodeAddr::Pc(code));
                let name = place.and_then(|it| it.function.name(&go.tables, host.space()));
                match name {
                    Some(name) => format!("func {name}").into(),
                    None => "func ?".into(),
                }
            }
            Self::Tiny => "(small values without pointers)".into(),
            Self::Unknown(0, true) => "(large, without pointers)".into(),
            Self::Unknown(0, false) => "(large, with pointers)".into(),
            Self::Unknown(size, true) => format!("({size} bytes without pointers)").into(),
            Self::Unknown(size, false) => format!("({size} bytes with pointers)").into(),
        }
    }
}
