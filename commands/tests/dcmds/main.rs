//! Runs command lines on a real core, in text and JSON, and holds what they say against each other
//! and against what is known of the program.

mod aarch64;
mod all;
mod answers;
mod arm;
mod code;
mod contexts;
mod counts;
mod dump;
mod far_symbols;
mod findsym;
mod formats;
mod harness;
mod heaps;
mod js_heap;
mod language;
mod locals;
mod locks;
mod memory;
mod names;
mod other_cores;
mod piped_kinds;
mod print;
mod printers;
mod process;
mod signals;
mod stacks_of;
mod status;
mod symbols;
mod tasks;
mod threads_own;
mod typedef;
mod types;
mod ugrep;
mod whattype;
mod zeros;
