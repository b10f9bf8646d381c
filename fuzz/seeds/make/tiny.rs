//! The tiny program, its core, and what of both is worth keeping.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use kcore_elf::{CoreFile, CoreSpace, Image, core_file::notes::Notes};
use kcore_fuzz::{
    input::Output,
    memory::Memory,
    synthetic::{self, note, words},
};
use kcore_mem::{Addr, AddressSpace, Target};
use kcore_unwind::{RegisterId, machine};

/// Where it is built and run; the core names it.
const FOLDER: &str = "/tmp/kcore-seeds";
/// Bytes of code and of the stack that are kept.
const CODE: usize = 0x400;
const STACK: usize = 0x400;
/// Below the stack pointer.
const RED_ZONE: u64 = 128;

pub struct Tiny {
    pub exe: Vec<u8>,
    pub notes: Vec<u8>,
    parts: Vec<(u64, Vec<u8>)>,
    registers: Vec<u64>,
}

impl Tiny {
    /// Builds it and lets it die.
    pub fn make(options: &[&str]) -> Self {
        let exe = Self::build(options);
        let core = CoreFile::parse(die().into()).expect("a core");
        let space = CoreSpace::new(&core);
        let registers = registers(&core);
        let stack = registers[1 + 7] - RED_ZONE;
        let part = |at: u64, len: usize| {
            let bytes = space.slice(Addr::new(at)).expect("memory");
            (at, bytes[..len.min(bytes.len())].to_vec())
        };
        let parts = vec![part(0x40_0000, CODE), part(stack, STACK)];
        Self { exe, notes: notes(&core), parts, registers }
    }

    /// Builds it.
    pub fn build(options: &[&str]) -> Vec<u8> {
        fs::create_dir_all(FOLDER).expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/tiny.c");
        fs::copy(source, folder("tiny.c")).expect("the source");
        let mut gcc = Command::new("gcc");
        gcc.args(["-g", "-O2", "-fno-stack-protector", "-fcf-protection=none", "-fno-ident"])
            .arg(format!("-ffile-prefix-map={FOLDER}=."))
            .args(["-nostdlib", "-static", "-no-pie", "-Wl,--build-id,-z,noseparate-code"])
            .args(options)
            .args(["-o", "tiny", "tiny.c"])
            .current_dir(FOLDER);
        assert!(gcc.status().expect("gcc").success());
        fs::read(folder("tiny")).expect("the program")
    }

    /// The core, cut down.
    pub fn core(&self) -> Vec<u8> {
        synthetic::core(&self.notes, &self.parts)
    }

    /// Code and stack.
    pub fn memory(&self) -> Memory {
        crate::memory_of(&self.parts)
    }

    /// The registers as `unwind::registers` reads them.
    pub fn registers(&self) -> Vec<u8> {
        words(&self.registers)
    }

    /// The unwind information as `cfi::read` reads it.
    pub fn unwind_tables(&self) -> Vec<u8> {
        let (eh_frame, header) = (self.section(".eh_frame"), self.section(".eh_frame_hdr"));
        let output = Output::default().word(eh_frame.0).part(&eh_frame.1);
        let output = output.word(header.0).part(&header.1);
        output.part(&self.section(".debug_frame").1).0
    }

    /// Address and bytes of a section; nothing when there is none.
    pub fn section(&self, name: &str) -> (u64, Vec<u8>) {
        let image = Image::parse(self.exe.clone().into()).expect("ELF");
        let at = image.section(name).map_or(0, |section| section.svma.get());
        (at, image.section_data(name).map(|data| data.to_vec()).unwrap_or_default())
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// Without an environment, which is nobody's business.
fn die() -> Vec<u8> {
    let status = Command::new("gdb")
        .args(["-batch", "-nx", "-ex", "set exec-wrapper env -i", "-ex", "run"])
        .args(["-ex", "generate-core-file tiny.core", "./tiny"])
        .current_dir(FOLDER)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("gdb").success());
    fs::read(folder("tiny.core")).expect("a core")
}

fn registers(core: &CoreFile) -> Vec<u64> {
    let range = core.threads()[0].registers.clone();
    let raw = &core.bytes()[range.start as usize..range.end as usize];
    let machine = machine(Target::X86_64, None).expect("a machine");
    let regs = machine.regs(raw, Target::X86_64).expect("registers");
    let general = (0..16).map(|number| regs.get(RegisterId(number)).unwrap_or_default());
    std::iter::once(regs.pc().get()).chain(general).collect()
}

/// The notes that kcore reads.
fn notes(core: &CoreFile) -> Vec<u8> {
    let segment = core.segments().iter().find(|segment| segment.is_note()).expect("notes");
    let start = segment.offset.get() as usize;
    let bytes = &core.bytes()[start..start + segment.file_size as usize];
    let own =
        |note: &kcore_elf::core_file::notes::Note<'_>| note.owner == b"CORE" && note.kind != 2;
    let kept = Notes::new(bytes, Target::X86_64).filter(own);
    kept.flat_map(|kept| note("CORE", kept.kind, kept.desc)).collect()
}
