//! Writes minidumps as Breakpad lays them out (`src/google_breakpad/common/minidump_format.h`).

use kcore_mem::{Arch, Endian, Target};

use crate::core_parts::{CoreParts, Thread};

/// The layouts of contexts (`minidump_cpu_x86.h`, `minidump_cpu_arm.h`, `minidump_cpu_mips.h`).
#[derive(Clone, Copy)]
pub enum Context {
    X86,
    Arm,
    Mips,
}

struct Bytes(Target, Vec<u8>);

impl Bytes {
    fn uint(&mut self, value: u64, size: usize) -> &mut Self {
        let bytes = value.to_le_bytes();
        match self.0.endian {
            Endian::Little => self.1.extend(&bytes[..size]),
            Endian::Big => self.1.extend(bytes[..size].iter().rev()),
        }
        self
    }

    fn words(&mut self, values: &[u64]) -> &mut Self {
        values.iter().for_each(|value| _ = self.uint(*value, 4));
        self
    }

    fn zeros(&mut self, len: usize) -> &mut Self {
        self.1.resize(self.1.len() + len, 0);
        self
    }

    fn len(&self) -> u64 {
        self.1.len() as u64
    }
}

/// A minidump of the parts of a core.
pub fn write(parts: &CoreParts, target: Target, machine: u16, context: Context) -> Vec<u8> {
    let new = || Bytes(target, Vec::new());
    let mut streams: Vec<(u64, Vec<u8>)> = vec![
        (0x4767_0009, parts.maps.clone().into_bytes()),
        (0x4767_0008, parts.auxv.clone()),
        (0x4767_0004, format!("Name:\tx\nTgid:\t{}\n", parts.pid).into_bytes()),
    ];
    let mut system = new();
    system.uint(machine.into(), 2).zeros(6).words(&[6, 1, 0, 0x8201, 0, 0]).zeros(24);
    streams.push((7, system.1));
    // What streams refer to comes first, behind the header and the directory of six streams.
    let first = 32 + 12 * 7;
    let mut blobs = new();
    let contexts = parts.threads.iter().map(|thread| {
        let (at, bytes) = (first + blobs.len(), context_of(thread, target, context));
        blobs.1.extend(&bytes);
        (bytes.len() as u64, at)
    });
    let contexts: Vec<_> = contexts.collect();
    let mut list = new();
    list.words(&[parts.threads.len() as u64]);
    for (thread, (size, at)) in parts.threads.iter().zip(&contexts) {
        // No stack here: the list of memory has all.
        list.words(&[thread.tid.into(), 0, 0, 0, 0, 0]).uint(0, 8).words(&[0, 0, *size, *at]);
    }
    streams.push((3, list.1));
    let mut memory = new();
    memory.words(&[parts.memory.len() as u64]);
    for (start, bytes) in &parts.memory {
        let at = first + blobs.len();
        memory.uint(*start, 8).words(&[bytes.len() as u64, at]);
        blobs.1.extend(bytes);
    }
    streams.push((5, memory.1));
    let crashed = &parts.threads[0];
    let mut exception = new();
    let (code, address) = parts.fault;
    exception.words(&[crashed.tid.into(), 0, crashed.signal.into(), code.into()]);
    exception.uint(0, 8).uint(address, 8).words(&[0, 0]).zeros(120);
    exception.words(&[contexts[0].0, contexts[0].1]);
    streams.push((6, exception.1));
    let mut dump = new();
    // The signature, the version, the streams and where they are told; nothing else counts.
    dump.words(&[0x504d_444d, 0xa793, streams.len() as u64, 32, 0, 0, 0, 0]);
    let mut at = first + blobs.len();
    for (kind, bytes) in &streams {
        dump.words(&[*kind, bytes.len() as u64, at]);
        at += bytes.len() as u64;
    }
    dump.1.extend(blobs.1);
    streams.iter().for_each(|(_, bytes)| dump.1.extend(bytes));
    dump.1
}

fn context_of(thread: &Thread, target: Target, context: Context) -> Vec<u8> {
    let registers = &thread.registers;
    let mut bytes = Bytes(target, Vec::new());
    match context {
        Context::X86 => {
            let [ebx, ecx, edx, esi, edi, ebp, eax, ds, es, fs, gs, _, eip, cs, eflags, esp, ss] =
                registers[..17].try_into().unwrap();
            // Flags without those for floating point, then debug and floating-point registers.
            bytes.words(&[0x0001_0007]).zeros(24 + 112);
            bytes.words(&[gs, fs, es, ds, edi, esi, ebx, edx, ecx, eax]);
            bytes.words(&[ebp, eip, cs, eflags, esp, ss]).zeros(512);
        }
        Context::Arm => {
            bytes.words(&[0x4000_0002]).words(&registers[..17]).zeros(8 + 256 + 32);
        }
        Context::Mips => {
            let is_narrow = target.arch == Arch::Mips;
            let general = &registers[if is_narrow { 6 } else { 0 }..];
            let [lo, hi, epc, badvaddr, status, cause] = general[32..38].try_into().unwrap();
            bytes.words(&[if is_narrow { 0x0004_0002 } else { 0x0008_0002 }, 0]);
            general[..32].iter().for_each(|register| _ = bytes.uint(*register, 8));
            bytes.uint(hi, 8).uint(lo, 8).zeros(24 + 8);
            bytes.uint(epc, 8).uint(badvaddr, 8).words(&[status, cause]).zeros(256 + 8);
        }
    }
    bytes.1
}
