//! The bodies of the fuzz targets: one module each, and `run` takes whatever bytes it is given.
//!
//! A target holds when it returns: no panic, no overflow, and within the time and memory that
//! `cargo xtask fuzz` allows. [`repeated`] counts what is allocated as well.

pub mod cfi;
pub mod code_map;
pub mod command;
pub mod core_file;
pub mod counting;
pub mod demangle;
pub mod disasm;
pub mod dwarf;
pub mod erlang;
pub mod expression;
pub mod frame;
pub mod go;
pub mod greenlet;
pub mod heap;
pub mod image;
pub mod in_place;
pub mod input;
pub mod java;
pub mod layer;
pub mod lua;
pub mod luajit;
pub mod machines;
pub mod memory;
pub mod minidump;
pub mod module;
pub mod modules;
pub mod name_index;
pub mod notes;
pub mod open;
pub mod paths;
pub mod perl;
pub mod php;
pub mod printers;
pub mod process;
pub mod program;
pub mod python;
pub mod python_host;
pub mod registered;
pub mod repeated;
pub mod ruby;
pub mod sections;
pub mod session;
pub mod shown;
pub mod synthetic;
pub mod tokio;
pub mod type_names;
pub mod types;
pub mod unpack;
pub mod unwind;
pub mod v8;
pub mod v8_host;
pub mod values;
pub mod variables;
