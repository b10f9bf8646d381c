//! Minidumps of processes of Linux, as Breakpad, Crashpad and their like write them, read as cores.
//!
//! A minidump has the facts of a small core in another container (`minidump_format.h` of Breakpad; the crate
//! `minidump` reads it). Here they are put into the notes and segments of a core, so that the rest of kcore has one kind of
//! file to read. What a minidump does not hold is in no note, and memory that it leaves out is said to be not dumped.

mod core_image;
mod identity;
mod machine;
mod memory;
mod registers;

use std::collections::HashSet;

use kcore_elf::core_file::{MapLine, SignalInfo, parse_maps, snapshot};
use kcore_mem::{Arch, Endian, Target};
use minidump::{
    Minidump, MinidumpException, MinidumpMiscInfo, MinidumpModuleList, MinidumpSystemInfo,
    MinidumpThread, MinidumpThreadList, MinidumpThreadNames, Module, UnifiedMemoryList,
    format::MINIDUMP_LOCATION_DESCRIPTOR,
};

use crate::target_bytes::TargetBytes;
use core_image::CoreImage;
use memory::Memory;
use registers::SavedRegisters;

/// By which a minidump begins, in either byte order.
const MAGIC: &[u8] = b"MDMP";
const SWAPPED_MAGIC: &[u8] = b"PMDM";
/// Types of streams of Linux (`minidump_format.h`).
const LINUX_PROC_STATUS: u32 = 0x4767_0004;
const LINUX_CMD_LINE: u32 = 0x4767_0006;
const LINUX_AUXV: u32 = 0x4767_0008;
const LINUX_MAPS: u32 = 0x4767_0009;
/// Threads, at most.
const MAX_THREADS: usize = 1 << 16;
/// Signals of Linux are numbers up to this one. Others tell why a dump was asked for.
const MAX_SIGNAL: u32 = 64;

const NT_PRSTATUS: u32 = 1;
const NT_PRPSINFO: u32 = 3;
const NT_AUXV: u32 = 6;
const NT_SIGINFO: u32 = 0x5349_4749;
const NT_FILE: u32 = 0x4649_4c45;

/// A minidump as a core.
pub struct Converted {
    /// The bytes of the core.
    pub bytes: Vec<u8>,
    /// What it lacks for its kind.
    pub lacks: &'static str,
}

/// A minidump that is being read.
struct Dump<'a> {
    bytes: &'a [u8],
    streams: Minidump<'a, &'a [u8]>,
    system: MinidumpSystemInfo,
    target: Target,
}

/// Whether bytes that begin a file begin a minidump.
pub fn is_minidump(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(SWAPPED_MAGIC)
}

/// A minidump as the bytes of a core.
///
/// # Errors
/// Why it cannot be read: in words.
pub fn to_core(bytes: &[u8]) -> Result<Converted, String> {
    let dump = Dump::read(bytes)?;
    let mut core = CoreImage::new(dump.target);
    let maps = match dump.streams.get_raw_stream(LINUX_MAPS) {
        Ok(text) => parse_maps(text),
        Err(_) => maps_of_modules(&dump.streams),
    };
    add_threads(&mut core, &dump)?;
    add_process(&mut core, &dump, &maps);
    add_modules(&mut core, &dump);
    let list = dump.streams.get_memory();
    let memory = memory_of(list.as_ref(), bytes.len());
    let lacks = machine::lacks(dump.target.arch);
    Ok(Converted { bytes: core.finish(&maps, &memory)?, lacks })
}

impl<'a> Dump<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let streams =
            Minidump::read(bytes).map_err(|error| format!("a damaged minidump: {error}"))?;
        let system = streams
            .get_stream::<MinidumpSystemInfo>()
            .map_err(|error| format!("a minidump without a description of its system: {error}"))?;
        let is_swapped = bytes.starts_with(SWAPPED_MAGIC);
        let endian = if is_swapped { Endian::Big } else { Endian::Little };
        let target = machine::target_of(&system, endian)?;
        Ok(Self { bytes, streams, system, target })
    }

    /// The bytes at a place of the file.
    fn at(&self, place: &MINIDUMP_LOCATION_DESCRIPTOR) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(usize::try_from(place.rva).ok()?..)?;
        bytes.get(..usize::try_from(place.data_size).ok()?)
    }
}

/// The notes of threads, the one that crashed first, as the kernel has it.
fn add_threads(core: &mut CoreImage, dump: &Dump<'_>) -> Result<(), String> {
    let list = dump
        .streams
        .get_stream::<MinidumpThreadList<'_>>()
        .map_err(|error| format!("a minidump without threads: {error}"))?;
    let exception = dump.streams.get_stream::<MinidumpException<'_>>().ok();
    let names = dump.streams.get_stream::<MinidumpThreadNames>().ok();
    let crashed = exception.as_ref().map(|exception| exception.thread_id);
    let (first, others): (Vec<_>, Vec<_>) =
        list.threads.iter().partition(|thread| Some(thread.raw.thread_id) == crashed);
    let mut seen = HashSet::new();
    for thread in first.into_iter().chain(others).take(MAX_THREADS) {
        let tid = thread.raw.thread_id;
        if !seen.insert(tid) {
            continue;
        }
        add_thread(core, thread, exception.as_ref().filter(|_| Some(tid) == crashed), dump);
        if let Some(name) = names.as_ref().and_then(|names| names.get_name(tid)) {
            core.note(snapshot::OWNER, snapshot::NT_THREAD, &named(tid, &name, dump.target));
        }
    }
    Ok(())
}

/// The note of kcore about the name of a thread.
fn named(tid: u32, name: &str, target: Target) -> Vec<u8> {
    let mut note = TargetBytes::new(target);
    note.u32(tid).raw(&[0]).raw(name.as_bytes());
    note.finish()
}

/// The notes of a thread. One whose registers cannot be read is left out: nothing can be asked of it.
fn add_thread(
    core: &mut CoreImage,
    thread: &MinidumpThread<'_>,
    at_crash: Option<&MinidumpException<'_>>,
    dump: &Dump<'_>,
) {
    let Some(saved) = registers_of(thread, at_crash, dump) else { return };
    let signal = at_crash.map(|exception| &exception.raw.exception_record);
    let signal = signal.filter(|record| (1..=MAX_SIGNAL).contains(&record.exception_code));
    let number = signal.map_or(0, |record| record.exception_code);
    let status = registers::prstatus(thread.raw.thread_id, number, &saved.general, dump.target);
    core.note(b"CORE", NT_PRSTATUS, &status);
    for (owner, kind, desc) in saved.others {
        core.note(owner, kind, &desc);
    }
    if let Some(record) = signal {
        let code = code_of(number, record.exception_flags, dump.target.arch);
        let info = siginfo(number, code, record.exception_address, dump.target);
        core.note(b"CORE", NT_SIGINFO, &info);
    }
}

/// The registers of a thread: of the one that crashed, those at the crash.
fn registers_of(
    thread: &MinidumpThread<'_>,
    at_crash: Option<&MinidumpException<'_>>,
    dump: &Dump<'_>,
) -> Option<SavedRegisters> {
    let places = at_crash.map(|exception| &exception.raw.thread_context);
    let mut places = places.into_iter().chain([&thread.raw.thread_context]);
    if let Some(saved) = places.find_map(|at| registers::of_bytes(dump.at(at)?, dump.target)) {
        return Some(saved);
    }
    let misc = dump.streams.get_stream::<MinidumpMiscInfo>().ok();
    let of_crash = at_crash.and_then(|exception| exception.context(&dump.system, misc.as_ref()));
    let context = of_crash.or_else(|| thread.context(&dump.system, misc.as_ref()))?;
    registers::of(&context.raw, dump.target)
}

/// The code of a signal. Breakpad did not write it at first: 0 would mean that a process sent the signal of a fault.
const fn code_of(number: u32, code: u32, arch: Arch) -> u32 {
    const SIGILL: u32 = 4;
    const SIGTRAP: u32 = 5;
    const SIGFPE: u32 = 8;
    const SIGSEGV: u32 = 11;
    let is_bus_error = number == if is_mips(arch) { 10 } else { 7 };
    let is_fault = is_bus_error || matches!(number, SIGILL | SIGTRAP | SIGFPE | SIGSEGV);
    if code == 0 && is_fault { SignalInfo::NO_CODE.cast_unsigned() } else { code }
}

const fn is_mips(arch: Arch) -> bool {
    matches!(arch, Arch::Mips | Arch::Mips64)
}

/// As `siginfo_t` of a signal with an address: number, 0, code, which MIPS has the other way round, and the address, aligned
/// to its size (`asm-generic/siginfo.h`).
fn siginfo(number: u32, code: u32, address: u64, target: Target) -> Vec<u8> {
    let mut info = TargetBytes::new(target);
    let (second, third) = if is_mips(target.arch) { (code, 0) } else { (0, code) };
    info.u32(number).u32(second).u32(third);
    info.zeros_to(if target.word_size() == 8 { 16 } else { 12 });
    info.word(address).zeros_to(128);
    info.finish()
}

/// The notes of the process.
fn add_process(core: &mut CoreImage, dump: &Dump<'_>, maps: &[MapLine]) {
    let streams = &dump.streams;
    let misc = streams.get_stream::<MinidumpMiscInfo>().ok();
    let pid = misc.and_then(|misc| misc.raw.process_id().copied());
    let pid = pid.or_else(|| pid_of_status(streams.get_raw_stream(LINUX_PROC_STATUS).ok()?));
    let words = streams.get_raw_stream(LINUX_CMD_LINE).unwrap_or_default();
    if let Some(pid) = pid {
        core.note(b"CORE", NT_PRPSINFO, &prpsinfo(pid, words, dump.target));
    }
    if let Ok(auxv) = streams.get_raw_stream(LINUX_AUXV) {
        core.note(b"CORE", NT_AUXV, auxv);
    }
    if maps.iter().any(MapLine::is_file) {
        core.note(b"CORE", NT_FILE, &core_image::files(maps, dump.target));
    }
    if let Ok(text) = streams.get_raw_stream(LINUX_MAPS) {
        core.note(snapshot::OWNER, snapshot::NT_MAPS, text);
    }
}

/// The process id in the text of `/proc/TID/status` (proc(5)): that of its thread group.
fn pid_of_status(text: &[u8]) -> Option<u32> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(b"Tgid:"))?;
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// Process id, name and arguments, where the kernel has them (`linux/elfcore.h`), with user ids of 32 bits.
fn prpsinfo(pid: u32, words: &[u8], target: Target) -> Vec<u8> {
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).filter(|it| !it.is_empty()).collect();
    let name = words.first().and_then(|word| word.rsplit(|byte| *byte == b'/').next());
    let name = name.unwrap_or_default();
    let args = words.join(&b' ');
    let is_wide = target.word_size() == 8;
    let [id, fname, psargs, end] = if is_wide { [24, 40, 56, 136] } else { [16, 32, 48, 128] };
    let mut info = TargetBytes::new(target);
    info.zeros_to(id).u32(pid);
    info.zeros_to(fname).raw(name.get(..15).unwrap_or(name));
    info.zeros_to(psargs).raw(args.get(..79).unwrap_or(&args)).zeros_to(end);
    info.finish()
}

/// Modules as they were mapped, where the dumper left out the mappings: all of each counts as code.
fn maps_of_modules(dump: &Minidump<'_, &[u8]>) -> Vec<MapLine> {
    let Ok(modules) = dump.get_stream::<MinidumpModuleList>() else { return Vec::new() };
    let lines: Vec<String> = modules
        .by_addr()
        .map(|module| {
            let (start, name) = (module.base_address(), module.code_file());
            let end = start.saturating_add(module.size());
            // An inode, whatever its number, says that a file is mapped.
            format!("{start:x}-{end:x} r-xp 00000000 00:00 1 {}\n", name.replace('\n', " "))
        })
        .collect();
    parse_maps(lines.concat().as_bytes())
}

/// The build-ids of modules: a minidump seldom has the memory that would tell them.
fn add_modules(core: &mut CoreImage, dump: &Dump<'_>) {
    let Ok(modules) = dump.streams.get_stream::<MinidumpModuleList>() else { return };
    for module in modules.iter() {
        if let Some(id) = identity::build_id(module, dump.target) {
            let mut noted = TargetBytes::new(dump.target);
            noted.uint(module.base_address(), 8).raw(id.as_bytes());
            core.note(snapshot::OWNER, snapshot::NT_BUILD_ID, &noted.finish());
        }
    }
}

/// All memory that the dump has: a stack may be in no list but that of the threads. It is no more than the dump is long,
/// though several parts may name the same bytes of it.
fn memory_of<'a>(list: Option<&'a UnifiedMemoryList<'a>>, len: usize) -> Memory<'a> {
    let mut memory = Memory::new(len);
    for part in list.into_iter().flat_map(|list| list.iter()) {
        memory.add(part.base_address(), part.bytes());
    }
    memory
}
