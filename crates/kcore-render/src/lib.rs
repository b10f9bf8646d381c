//! Sinks: text and JSON from the records of dcmds.
//!
//! Every sink takes the same [`Record`](kcore_dcmd::Record)s and decides alone how they look, so a
//! new output format is one more file here and a line in [`Format`]. What only one format needs
//! (radix, columns, the spelling of symbols, the sanitizer of terminals) stays in its file; what
//! all need (a writer that knows a closed pipe) is in `out`.
//!
//! This crate owns how things look. It reads no memory, knows no command and opens no file.

#![warn(clippy::unwrap_used, clippy::expect_used)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod canvas;
mod cell_format;
mod cell_text;
mod format;
mod json;
mod json_cell;
mod json_script;
mod json_text;
mod json_value;
mod lines;
mod number;
mod out;
mod pager;
mod pager_search;
mod pipe;
mod progress;
mod redirect;
pub mod sanitize;
mod screen;
mod script;
mod style;
mod table;
mod tee;
mod template;
#[cfg(test)]
mod testing;
mod text;
mod value;
mod wrap;

pub use format::Format;
pub use json::JsonSink;
pub use json_text::JsonForm;
pub use kcore_dcmd::io_reason;
pub use number::Numbers;
pub use pager::Pager;
pub use pipe::{MAX_ITEMS as MAX_PIPE_ITEMS, PipeItem, PipeSink};
pub use redirect::RedirectSink;
pub use screen::{Screen, Size};
pub use style::Style;
pub use tee::TeeSink;
pub use text::{TextOptions, TextSink};
