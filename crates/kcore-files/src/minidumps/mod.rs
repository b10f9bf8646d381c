//! Minidumps of processes of Linux, as Breakpad, Crashpad and their like write them, read as cores.
//!
//! A minidump has the facts of a small core in another container (`minidump_format.h` of Breakpad; the crate
//! `minidump` reads it). Here they are put into the notes and segments of a core, so that the rest of kcore has one kind of
//! file to read. What a minidump does not hold is in no note, and memory that it leaves out is said to be not dumped.

mod core_image;
mod memory;
mod registers;

use std::collections::HashSet;

use kcore_elf::{
    BuildId,
    core_file::{LiveThread, MapLine, SignalInfo, parse_maps, snapshot},
};
use kcore_mem::{Addr, Arch};
use minidump::{
    Minidump, MinidumpException, MinidumpMiscInfo, MinidumpModuleList, MinidumpSystemInfo,
    MinidumpThread, MinidumpThreadList, MinidumpThreadNames, Module, UnifiedMemoryList,
    system_info::{Cpu, Os},
};

use core_image::CoreImage;
use memory::Memory;

/// By which a minidump begins.
const MAGIC: &[u8] = b"MDMP";
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
const NT_FPREGSET: u32 = 2;
const NT_PRPSINFO: u32 = 3;
const NT_AUXV: u32 = 6;
const NT_SIGINFO: u32 = 0x5349_4749;
const NT_FILE: u32 = 0x4649_4c45;

/// What a core of a minidump lacks for its kind.
pub const LACKS: &str = "the core is a minidump, which has no system call, no base of thread-local storage (shown as 0) \
                         and no signals of threads that did not crash";

/// Whether bytes that begin a file begin a minidump.
pub fn is_minidump(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// A minidump as the bytes of a core.
///
/// # Errors
/// Why it cannot be read: in words.
pub fn to_core(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let dump = Minidump::read(bytes).map_err(|error| format!("a damaged minidump: {error}"))?;
    let system = dump
        .get_stream::<MinidumpSystemInfo>()
        .map_err(|error| format!("a minidump without a description of its system: {error}"))?;
    let arch = arch_of(&system)?;
    let mut core = CoreImage::new(arch);
    let maps = match dump.get_raw_stream(LINUX_MAPS) {
        Ok(text) => parse_maps(text),
        Err(_) => maps_of_modules(&dump),
    };
    add_threads(&mut core, &dump, &system)?;
    add_process(&mut core, &dump, &maps);
    add_modules(&mut core, &dump);
    let list = dump.get_memory();
    let memory = memory_of(list.as_ref(), bytes.len());
    core.finish(&maps, &memory)
}

fn arch_of(system: &MinidumpSystemInfo) -> Result<Arch, String> {
    match system.os {
        Os::Linux | Os::Android => {}
        os => return Err(format!("a minidump of {os}: kcore reads those of Linux and Android")),
    }
    match system.cpu {
        Cpu::X86_64 => Ok(Arch::X86_64),
        Cpu::Arm64 => Ok(Arch::Aarch64),
        cpu => Err(format!("a minidump of {cpu}: kcore reads those of x86-64 and aarch64")),
    }
}

/// The notes of threads, the one that crashed first, as the kernel has it.
fn add_threads(
    core: &mut CoreImage,
    dump: &Minidump<'_, &[u8]>,
    system: &MinidumpSystemInfo,
) -> Result<(), String> {
    let list = dump
        .get_stream::<MinidumpThreadList<'_>>()
        .map_err(|error| format!("a minidump without threads: {error}"))?;
    let exception = dump.get_stream::<MinidumpException<'_>>().ok();
    let misc = dump.get_stream::<MinidumpMiscInfo>().ok();
    let names = dump.get_stream::<MinidumpThreadNames>().ok();
    let crashed = exception.as_ref().map(|exception| exception.thread_id);
    let (first, others): (Vec<_>, Vec<_>) =
        list.threads.iter().partition(|thread| Some(thread.raw.thread_id) == crashed);
    let mut seen = HashSet::new();
    for thread in first.into_iter().chain(others).take(MAX_THREADS) {
        let tid = thread.raw.thread_id;
        if !seen.insert(tid) {
            continue;
        }
        let at_crash = exception.as_ref().filter(|_| Some(tid) == crashed);
        add_thread(core, thread, at_crash, system, misc.as_ref());
        let name = names.as_ref().and_then(|names| names.get_name(tid));
        if let Some(name) = name {
            let named = LiveThread { inner_tid: tid, state: None, name: name.into_owned() };
            core.note(snapshot::OWNER, snapshot::NT_THREAD, &named.to_bytes());
        }
    }
    Ok(())
}

/// The notes of a thread. One whose registers cannot be read is left out: nothing can be asked of it.
fn add_thread(
    core: &mut CoreImage,
    thread: &MinidumpThread<'_>,
    at_crash: Option<&MinidumpException<'_>>,
    system: &MinidumpSystemInfo,
    misc: Option<&MinidumpMiscInfo>,
) {
    let of_crash = at_crash.and_then(|exception| exception.context(system, misc));
    let context = of_crash.or_else(|| thread.context(system, misc));
    let Some(saved) = context.and_then(|context| registers::of(&context.raw)) else { return };
    let signal = at_crash.map(|exception| &exception.raw.exception_record);
    let signal = signal.filter(|record| (1..=MAX_SIGNAL).contains(&record.exception_code));
    let number = signal.map_or(0, |record| record.exception_code);
    let status = registers::prstatus(thread.raw.thread_id, number, &saved.general);
    core.note(b"CORE", NT_PRSTATUS, &status);
    core.note(b"CORE", NT_FPREGSET, &saved.floating);
    if let Some(record) = signal {
        let code = code_of(number, record.exception_flags);
        let info = siginfo(number, code, record.exception_address);
        core.note(b"CORE", NT_SIGINFO, &info);
    }
}

/// The code of a signal. Breakpad did not write it at first: 0 would mean that a process sent the signal of a fault.
const fn code_of(number: u32, code: u32) -> u32 {
    const SIGILL: u32 = 4;
    const SIGTRAP: u32 = 5;
    const SIGBUS: u32 = 7;
    const SIGFPE: u32 = 8;
    const SIGSEGV: u32 = 11;
    match (code, number) {
        (0, SIGILL | SIGTRAP | SIGBUS | SIGFPE | SIGSEGV) => SignalInfo::NO_CODE.cast_unsigned(),
        _ => code,
    }
}

/// As `siginfo_t` of a signal with an address: number, 0, code, padding, address (`asm-generic/siginfo.h`).
fn siginfo(number: u32, code: u32, address: u64) -> Vec<u8> {
    let mut info = Vec::with_capacity(128);
    for word in [number, 0, code, 0] {
        info.extend_from_slice(&word.to_le_bytes());
    }
    info.extend_from_slice(&address.to_le_bytes());
    info.resize(128, 0);
    info
}

/// The notes of the process.
fn add_process(core: &mut CoreImage, dump: &Minidump<'_, &[u8]>, maps: &[MapLine]) {
    let misc = dump.get_stream::<MinidumpMiscInfo>().ok();
    let pid = misc.and_then(|misc| misc.raw.process_id().copied());
    let pid = pid.or_else(|| pid_of_status(dump.get_raw_stream(LINUX_PROC_STATUS).ok()?));
    let words = dump.get_raw_stream(LINUX_CMD_LINE).unwrap_or_default();
    if let Some(pid) = pid {
        core.note(b"CORE", NT_PRPSINFO, &prpsinfo(pid, words));
    }
    if let Ok(auxv) = dump.get_raw_stream(LINUX_AUXV) {
        core.note(b"CORE", NT_AUXV, auxv);
    }
    if !maps.is_empty() {
        core.note(b"CORE", NT_FILE, &core_image::files(maps));
    }
    if let Ok(text) = dump.get_raw_stream(LINUX_MAPS) {
        core.note(snapshot::OWNER, snapshot::NT_MAPS, text);
    }
}

/// The process id in the text of `/proc/TID/status` (proc(5)): that of its thread group.
fn pid_of_status(text: &[u8]) -> Option<u32> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(b"Tgid:"))?;
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// Process id, name and arguments, where the kernel has them (`linux/elfcore.h`): 24, 40 and 56.
fn prpsinfo(pid: u32, words: &[u8]) -> Vec<u8> {
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).filter(|it| !it.is_empty()).collect();
    let name = words.first().and_then(|word| word.rsplit(|byte| *byte == b'/').next());
    let mut info = vec![0; 24];
    info.extend_from_slice(&pid.to_le_bytes());
    info.resize(40, 0);
    info.extend(name.unwrap_or_default().iter().take(15));
    info.resize(56, 0);
    info.extend(words.join(&b' ').iter().take(79));
    info.resize(136, 0);
    info
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
fn add_modules(core: &mut CoreImage, dump: &Minidump<'_, &[u8]>) {
    let Ok(modules) = dump.get_stream::<MinidumpModuleList>() else { return };
    for module in modules.iter() {
        let id = module.code_identifier();
        let id = id.as_ref().and_then(|id| BuildId::parse(id.as_str()));
        if let Some(id) = id {
            let noted = snapshot::noted_build_id(Addr::new(module.base_address()), &id);
            core.note(snapshot::OWNER, snapshot::NT_BUILD_ID, &noted);
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
