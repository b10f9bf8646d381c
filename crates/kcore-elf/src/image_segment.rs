//! Program headers.

use kcore_mem::{Cursor, FileOff, Svma, Target};

const PT_LOAD: u32 = 1;
const PT_TLS: u32 = 7;

/// A program header of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSegment {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`: 1 execute, 2 write, 4 read.
    pub flags: u32,
    /// `p_offset`.
    pub offset: FileOff,
    /// `p_vaddr`.
    pub svma: Svma,
    /// `p_filesz`, bytes.
    pub file_size: u64,
    /// `p_memsz`, bytes.
    pub mem_size: u64,
    /// `p_align`: 0 and 1 ask for none.
    pub align: u64,
}

impl ImageSegment {
    /// Whether it is loaded (`PT_LOAD`).
    pub const fn is_load(&self) -> bool {
        self.kind == PT_LOAD
    }

    /// Whether it is the first image of the module's thread-local storage (`PT_TLS`).
    pub const fn is_tls(&self) -> bool {
        self.kind == PT_TLS
    }

    /// Whether it is loaded writable.
    pub const fn is_writable(&self) -> bool {
        self.flags & 2 != 0
    }

    /// Whether what it loads at `svma` may be something else by the time that a process dies.
    pub fn may_have_changed(&self, svma: Svma) -> bool {
        let into = svma.offset_from(self.svma);
        self.is_load() && self.is_writable() && into.is_some_and(|into| into < self.mem_size)
    }

    /// Whether it is loaded executable.
    pub const fn is_executable(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Bytes of an entry of a program-header table.
    pub const fn size(target: Target) -> usize {
        if target.word == 8 { 56 } else { 32 }
    }

    /// Reads one entry of a program-header table; `None` when `raw` is too short.
    pub fn parse(raw: &[u8], target: Target) -> Option<Self> {
        let mut cursor = Cursor::new(raw, target);
        let wide = target.word == 8;
        let kind = cursor.u32().ok()?;
        let early_flags = if wide { cursor.u32().ok()? } else { 0 };
        let offset = FileOff::new(cursor.word().ok()?);
        let svma = Svma::new(cursor.word().ok()?);
        cursor.word().ok()?;
        let file_size = cursor.word().ok()?;
        let mem_size = cursor.word().ok()?;
        let flags = if wide { early_flags } else { cursor.u32().ok()? };
        let align = cursor.word().ok()?;
        Some(Self { kind, flags, offset, svma, file_size, mem_size, align })
    }
}
