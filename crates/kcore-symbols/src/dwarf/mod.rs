//! DWARF of one module, a compilation unit at a time: which functions and which line an address
//! belongs to.
//!
//! `addr2line` answers the same questions, but opens every unit of a module to answer the first,
//! which takes most of the time that a stack takes. Here an answer reads the unit that
//! `.debug_aranges` names, and compressed sections are inflated only as far as that unit lies. The
//! tests hold the answers against `addr2line`'s.
//!
//! - [`file`](self::file) and [`bytes`] have the sections, [`split`] those of split units, [`abbreviations`] and [`unit`] read one unit.
//! - [`shared`] reads once what several units have in common.
//! - [`ranges`] and [`scan`] say which unit holds an address, [`units`] keeps units.
//! - [`outline`] says which entry of a unit lies in which, [`unit_names`] what it names.
//! - [`functions`], [`inlined`], [`calls`] with [`pieces`], and [`names`] say which functions, [`rows`] and [`paths`] which line.
//! - [`resolver`] joins them.

mod abbreviations;
mod attributes;
mod bytes;
mod calls;
mod file;
mod files;
mod functions;
mod inlined;
mod names;
mod outline;
mod paths;
mod pieces;
mod ranges;
mod resolver;
mod rows;
mod scan;
mod shared;
mod signatures;
mod split;
mod unit;
mod unit_names;
mod units;
mod walk;

pub use attributes::PcRanges;
pub use file::DwarfFile;
pub use files::{Files, Which};
pub use outline::is_scope;
pub use resolver::Resolver;
pub use split::{SplitFiles, Splits};
pub use unit::{SplitName, Unit};
pub use unit_names::{UnitName, UnitNameKind};

pub use walk::{Entry, Walk, is_number, sibling};

use gimli::{EndianReader, RunTimeEndian};
use kcore_elf::Section;

/// Bytes of a section, counted, so that what is parsed can be kept beside them.
pub type Reader = EndianReader<RunTimeEndian, Section>;
/// What was read, or why it could not be.
pub type Result<T> = gimli::Result<T>;
/// An offset from the first byte of a unit.
pub type UnitOffset = gimli::UnitOffset<usize>;
