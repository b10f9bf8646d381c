//! Files: opening a core, compressed or not, and finding the files of the modules in it.
//!
//! - [`open_core`] maps a core, or unpacks it into an unlinked sparse file first.
//! - [`NewCore`] is one that is written, and has its name only once it is complete.
//! - [`Finder`] looks for the file of a module, place by place, and believes none without its
//!   build-id.
//! - [`Finder::find_debug`] looks for separate debug files in the same way.
//!
//! Without the feature `compression`, a packed core is known for what it is and refused in words.
//!
//! Paths that a core records are only ever opened for reading, and only if they are regular files.
//! Nothing here knows what a module's file is used for. Only `debuginfod` uses the network: a program has to add it, and
//! to be built with that feature.

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

mod beside;
pub mod breakpad;
mod breakpad_files;
pub mod bundle;
mod cache;
mod checksum;
mod claim;
mod debug_files;
#[cfg(feature = "debuginfod")]
pub mod debuginfod;
mod error;
mod file_place;
mod finder;
mod format;
mod found;
#[cfg(feature = "compression")]
mod frames;
mod image_cache;
mod layers;
mod mini_debug;
#[cfg(feature = "minidump")]
mod minidumps;
mod new_core;
mod new_file;
#[cfg(not(feature = "compression"))]
mod no_frames;
#[cfg(not(feature = "minidump"))]
mod no_minidumps;
#[cfg(not(feature = "compression"))]
mod no_packed_file;
mod open_core;
mod own_file;
#[cfg(feature = "compression")]
mod packed_file;
mod packed_stream;
mod places;
mod reach;
mod regular;
mod source;
mod sparse;
mod split_files;
mod sysroot;
mod tar;
mod tar_writer;
mod target_bytes;
#[cfg(test)]
mod test_files;
mod unpack;

#[cfg(not(feature = "compression"))]
use no_frames as frames;
#[cfg(not(feature = "minidump"))]
use no_minidumps as minidumps;
#[cfg(not(feature = "compression"))]
use no_packed_file as packed_file;

pub use beside::read_regular;
pub use breakpad_files::WantedSymbols;
pub use cache::CacheDir;
pub use debug_files::{has_debug_info, supplementary_id};
pub use error::FilesError;
pub use file_place::{FilePlace, FileUse, WantedFile};
pub use finder::{Finder, SYSTEM_DEBUG_DIR, SearchPaths, WantedModule};
pub use format::{Format, is_packed};
pub use found::{FoundFile, SearchResult, SearchedPlace, Tried, Why};
pub use layers::check_layer;
pub use mini_debug::mini_debug;
pub use minidumps::is_minidump;
pub use new_core::{CoreTarget, NewCore, is_stream};
pub use new_file::NewFile;
pub use open_core::{CoreSource, OpenedCore, open_core};
pub use own_file::{OwnFileError, check_own, open_own};
pub use reach::Reach;
pub use regular::open_regular;
pub use source::SourceText;
pub use tar_writer::TarWriter;
pub use unpack::Progress;
