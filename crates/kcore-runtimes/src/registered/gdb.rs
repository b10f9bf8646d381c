//! What a process told GDB of code that it made: ELF files in its memory, by a list that begins at
//! `__jit_debug_descriptor` (GDB's manual, «JIT Compilation Interface»; version 1 is the only one).
//!
//! LLVM registers the object files from which it loaded code, their section headers with the addresses of the process, and
//! nothing else relocated. LuaJIT and V8 make files for GDB, with unwind information as well.

use std::collections::HashSet;

use kcore_elf::{FileBytes, Image, SymbolTableKind};
use kcore_mem::{Addr, AddressSpace, Svma};
use kcore_symbols::RawSymbol;
use memchr::memmem;

use super::{object::word, relocated};
use crate::HostModule;

const DESCRIPTOR: &str = "__jit_debug_descriptor";
/// Files that are read, at most.
const MAX_FILES: usize = 1 << 16;
/// Bytes of a file, and of all together, at most.
const MAX_FILE: u64 = 16 << 20;
const MAX_BYTES: u64 = 64 << 20;
/// `e_type` of a file that is still to be relocated.
const ET_REL: u16 = 1;

/// A file that was registered.
pub struct MadeFile(Image);

/// The files that hang on these descriptors. What is none is left out.
pub fn files(descriptors: &[Addr], space: &dyn AddressSpace) -> Vec<MadeFile> {
    let mut left = MAX_BYTES;
    let places = descriptors.iter().flat_map(|at| places(*at, space));
    let read = places.filter_map(|(at, len)| {
        left = left.checked_sub(len)?;
        Image::parse(FileBytes::from(space.read_held(at, len))).ok().map(MadeFile)
    });
    read.collect()
}

/// Where a module has its descriptor. Few have one, and only the tables of those are read.
pub fn descriptor(module: &dyn HostModule) -> Option<Addr> {
    let image = module.image()?;
    let has_name = |strings: &str| {
        let bytes = image.section_data(strings);
        bytes.is_some_and(|bytes| memmem::find(bytes.as_ref(), DESCRIPTOR.as_bytes()).is_some())
    };
    if !has_name(".dynstr") && !has_name(".strtab") {
        return None;
    }
    module.addr(module.symbols().table().lookup(DESCRIPTOR)?.value())
}

/// Where the files of a descriptor lie, with their bytes. Its fields are two of 32 bits, the entry that was made last and
/// the first entry; those of an entry the next and the previous one, the file and its size.
fn places(descriptor: Addr, space: &dyn AddressSpace) -> Vec<(Addr, u64)> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let list = descriptor.checked_add(8);
    let mut next = list.and_then(|list| word(list, 1, space));
    while let Some(entry) = next.filter(|entry| *entry != 0).map(Addr::new) {
        if found.len() >= MAX_FILES || !seen.insert(entry) {
            break;
        }
        let (file, len) = (word(entry, 2, space), entry_len(entry, space));
        found.extend(file.zip(len).map(|(at, len)| (Addr::new(at), len.min(MAX_FILE))));
        next = word(entry, 0, space);
    }
    found
}

/// The size of the file of an entry: 64 bits behind three addresses, as the machine aligns them.
fn entry_len(entry: Addr, space: &dyn AddressSpace) -> Option<u64> {
    let behind = u64::from(space.target().word).checked_mul(3)?.next_multiple_of(8);
    space.read_uint(entry.checked_add(behind)?, 8).ok()
}

impl MadeFile {
    /// Its functions, with the addresses of the process.
    pub fn functions(&self) -> impl Iterator<Item = RawSymbol> {
        let symbols = self.0.symbols(SymbolTableKind::Full);
        symbols.filter(|symbol| symbol.kind.is_function() && symbol.is_defined()).filter_map(|it| {
            let base = if self.0.elf_type() == ET_REL {
                self.0.sections().get(usize::from(it.section))?.svma.get()
            } else {
                0
            };
            Some(RawSymbol {
                index: u32::try_from(it.index).ok()?,
                name: it.name().to_vec(),
                value: Svma::new(base.checked_add(it.value.get())?),
                size: it.size,
                kind: it.kind,
                binding: it.binding,
                other: it.other,
                section: it.section,
            })
        })
    }

    /// Its `.eh_frame` and where that lies.
    pub fn unwind_information(&self) -> Option<(Vec<u8>, Svma)> {
        if self.0.elf_type() == ET_REL {
            return relocated::eh_frame(&self.0);
        }
        let section = self.0.section(".eh_frame")?;
        Some((self.0.section_data(".eh_frame")?.as_ref().to_vec(), section.svma))
    }
}
