//! ELF: the core file, the files of modules, and the memory that both together make.
//!
//! - [`FileBytes`] and [`Section`] own mapped bytes that others share (`map/`, the only `unsafe`).
//! - [`Image`] is a module's file, by way of goblin; nothing else sees goblin.
//! - [`CoreFile`] is the core, read by kcore's own reader, which takes what is there and remembers
//!   what was cut.
//! - [`CoreSpace`] is the address space of core and module files.
//! - [`MemoryImage`] is what a module tells of itself from memory alone.
//!
//! No policy: which file belongs to a module is decided above.

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used))]

mod arm_code;
mod build_id;
pub mod core_file;
mod dynamic;
mod error;
mod exported;
mod ident;
mod image;
mod image_section;
mod image_segment;
mod image_symbol;
mod link_map;
mod map;
mod memory_image;
mod memory_symbols;
mod modules;
mod page_reads;
mod section_stream;
mod space;
mod with_exe;

pub use arm_code::{ArmCode, ArmCodes};
pub use build_id::BuildId;
pub use core_file::CoreFile;
pub use dynamic::fits_memory;
pub use error::ParseError;
pub use image::Image;
pub use image_section::ImageSection;
pub use image_segment::ImageSegment;
pub use image_symbol::{ImageSymbol, SymbolBinding, SymbolKind, SymbolTableKind};
pub use link_map::{LinkMapEntry, link_map};
pub use map::{FileBytes, Section, leave_signal_alone, will_need};
pub use memory_image::MemoryImage;
pub use memory_symbols::{MemorySymbol, dynamic_symbols};
pub use modules::{MappedModule, MappedRange, ModuleFiles, modules_of};
pub use page_reads::PageReads;
pub use section_stream::SectionStream;
pub use space::CoreSpace;
