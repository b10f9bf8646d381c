//! What no analyzer can do without: maps a core, reads its notes, and touches the used part of each stack.

use std::{fs::File, process::ExitCode};

use kcore_elf::{CoreFile, FileBytes};

/// What is touched: a byte of each page.
const PAGE: usize = 4096;
/// Where the stack pointer lies among the registers of x86-64 and of aarch64.
const STACK_POINTER: u64 = if cfg!(target_arch = "x86_64") { 19 * 8 } else { 31 * 8 };

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else { return ExitCode::from(2) };
    let bytes = File::open(path).and_then(|file| FileBytes::map(&file));
    match bytes.ok().and_then(|bytes| CoreFile::parse(bytes).ok()) {
        Some(core) => {
            let sum: u64 = core.threads().iter().filter_map(|thread| touch(&core, thread)).sum();
            println!("{} threads, {sum}", core.threads().len());
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}

/// Reads from the stack pointer to the end of its mapping.
fn touch(core: &CoreFile, thread: &kcore_elf::core_file::CoreThread) -> Option<u64> {
    let at = usize::try_from(thread.registers.start + STACK_POINTER).ok()?;
    let pointer = u64::from_le_bytes(core.bytes().get(at..at + 8)?.try_into().ok()?);
    let segment = core.segments().iter().find(|segment| {
        let range = segment.range;
        segment.is_load() && (range.start.get()..range.end.get()).contains(&pointer)
    })?;
    let file = segment.offset.get();
    let used = file + (pointer - segment.range.start.get())..file + segment.file_size;
    let used = core.bytes().section(used)?;
    Some(used.iter().step_by(PAGE).map(|byte| u64::from(*byte)).sum())
}
