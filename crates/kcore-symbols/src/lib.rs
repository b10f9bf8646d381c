//! Symbols, source lines and demangled names of one module.
//!
//! - [`SymbolTable`] says which symbol covers an address of the file, and where a name lies.
//! - [`demangle()`] turns raw names into those of the source language.
//! - [`Lines`] says which source line an address came from, through all inlined calls.
//! - [`DebugInfo`] has the types of a module, [`Type`] is one of them.
//! - [`Scopes`] are the functions at an address, with their arguments and locals.
//! - [`SourceMap`] says which source a place of generated JavaScript came from.
//! - [`ModuleSymbols`] joins them and remembers what it has answered.
//!
//! Everything here speaks [`kcore_mem::Svma`], addresses as the file states them: where a module
//! lies in a process is not known in this room, and neither is how its files were found. Nothing
//! is read before it is asked for.

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::arithmetic_side_effects
    )
)]

mod aliases;
mod by_name;
mod complete;
mod cover;
mod debug_info;
mod demangle;
mod dwarf;
mod enumerators;
mod go_functions;
mod index;
mod language;
mod lexical;
mod lines;
mod long_name;
mod lookup;
mod meter;
mod module_symbols;
mod names;
mod nearby;
mod parts;
mod path;
mod plt;
mod preference;
mod runtime_types;
mod sought;
mod source_map;
mod symbol;
mod table;
mod types;
mod variables;

pub use complete::first_and_last;
pub use debug_info::{DebugContext, DebugInfo, DieId};
pub use demangle::{Demangled, Mangling, demangle, demangle_ada, demangle_type};
pub use dwarf::{SplitFiles, SplitName};
pub use enumerators::FoundEnumerator;
pub use index::IndexCache;
pub use language::Language;
pub use lines::{LineFrame, Lines};
pub use module_symbols::{Function, ModuleSymbols};
pub use sought::SoughtName;
pub use source_map::{
    GeneratedText, MAX_SOURCE_MAP, Misfit, OriginalPlace, SourceMap, SourceMapError, data_url,
    last_url,
};
pub use symbol::{RawSymbol, SymbolId, SymbolRef, SymbolSource};
pub use table::SymbolTable;
pub use types::{
    AliasKind, AliasType, ArrayBound, ArrayLayout, ArrayPresence, ArrayType, BaseClass, BaseType,
    BitField, Composite, DeclaredAt, Dimension, Encoding, Enumeration, Enumerator, FunctionType,
    Keyword, Member, MemberPlace, MemberPointerType, OpenType, PointerKind, PointerType,
    StaticMember, Type, TypeArgument, TypeError, TypeIdentity, TypeKind, TypeLink, TypeNode,
    Variant, VariantPart,
};
pub use variables::{
    CallParameter, CallPlace, CallSite, CallTarget, ConstantValue, Expression, FunctionCode,
    FunctionScope, Scopes, TailCall, TailCalls, Variable, VariableKind, VariableLocation,
};
