//! What no search can do without: reads every byte of a core's memory once, on all processors, and
//! adds them up.

use std::{fs::File, process::ExitCode, thread};

use kcore_elf::{CoreFile, FileBytes};

/// Bytes that a thread reads at a time.
const CHUNK: usize = 1 << 20;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else { return ExitCode::from(2) };
    let bytes = File::open(path).and_then(|file| FileBytes::map(&file));
    match bytes.ok().and_then(|bytes| CoreFile::parse(bytes).ok()) {
        Some(core) => {
            println!("{}", sum(&core));
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}

/// The sum of all words of memory: chunks are dealt out to as many threads as there are processors.
fn sum(core: &CoreFile) -> u64 {
    let chunks: Vec<&[u8]> = memory(core).flat_map(|bytes| bytes.chunks(CHUNK)).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let part = |first: usize| {
        let mine = chunks.iter().skip(first).step_by(threads);
        mine.map(|bytes| words(bytes)).fold(0, u64::wrapping_add)
    };
    thread::scope(|scope| {
        let part = &part;
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        let sums = running.into_iter().map(|thread| thread.join().unwrap_or(0));
        sums.fold(0, u64::wrapping_add)
    })
}

fn memory(core: &CoreFile) -> impl Iterator<Item = &[u8]> {
    core.segments().iter().filter(|segment| segment.is_load()).filter_map(|segment| {
        let start = usize::try_from(segment.offset.get()).ok()?;
        core.bytes().get(start..start.checked_add(usize::try_from(segment.file_size).ok()?)?)
    })
}

fn words(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks();
    words.iter().fold(0, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)))
}
