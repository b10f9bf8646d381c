//! Call frame information of one module: `.eh_frame` with or without its header, `.debug_frame`.

use std::sync::{Arc, OnceLock};

use gimli::{
    BaseAddresses, DebugFrame, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry,
    RunTimeEndian, UnwindSection, Vendor,
};
use kcore_mem::{Addr, Arch, Endian, Svma, Target};

use crate::{
    cfi_index::FdeIndex,
    row::{CfiSectionKind, Context, Row},
};

/// Counted bytes of a section, wherever they lie.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// The unwind information of a module. Made by [`CfiBuilder`].
pub struct Cfi {
    target: Target,
    bias: i64,
    bases: BaseAddresses,
    eh_frame: Option<Bytes>,
    eh_frame_hdr: Option<Bytes>,
    debug_frame: Option<Bytes>,
    eh_index: OnceLock<FdeIndex>,
    debug_index: OnceLock<FdeIndex>,
}

/// Gathers the sections of a module.
#[must_use]
pub struct CfiBuilder(Cfi);

impl CfiBuilder {
    /// A module of `target` whose addresses in the process are those of its file plus `bias`.
    pub fn new(target: Target, bias: i64) -> Self {
        Self(Cfi {
            target,
            bias,
            bases: BaseAddresses::default(),
            eh_frame: None,
            eh_frame_hdr: None,
            debug_frame: None,
            eh_index: OnceLock::new(),
            debug_index: OnceLock::new(),
        })
    }

    /// `.eh_frame`, whose first byte lies at `svma`.
    pub fn eh_frame(mut self, bytes: Bytes, svma: Svma) -> Self {
        self.0.bases = self.0.bases.set_eh_frame(svma.get());
        self.0.eh_frame = Some(bytes);
        self
    }

    /// `.eh_frame_hdr`, whose first byte lies at `svma`.
    pub fn eh_frame_hdr(mut self, bytes: Bytes, svma: Svma) -> Self {
        self.0.bases = self.0.bases.set_eh_frame_hdr(svma.get());
        self.0.eh_frame_hdr = Some(bytes);
        self
    }

    /// `.debug_frame`.
    pub fn debug_frame(mut self, bytes: Bytes) -> Self {
        self.0.debug_frame = Some(bytes);
        self
    }

    /// Where `.text` and `.got` begin: pointers may be relative to them.
    pub fn bases(mut self, text: Option<Svma>, got: Option<Svma>) -> Self {
        if let Some(text) = text {
            self.0.bases = self.0.bases.set_text(text.get());
        }
        if let Some(got) = got {
            self.0.bases = self.0.bases.set_got(got.get());
        }
        self
    }

    /// The unwind information.
    pub fn build(self) -> Cfi {
        self.0
    }
}

impl Cfi {
    /// The row for the code at `at`; `None` when nothing covers it.
    pub(crate) fn row(&self, at: Addr, context: &mut Context) -> Option<Row> {
        let svma = Svma::new(at.get().wrapping_sub_signed(self.bias));
        self.row_by_header(svma, context)
            .or_else(|| self.row_by_eh_index(svma, context))
            .or_else(|| self.row_by_debug_index(svma, context))
    }

    /// The bytes of an expression.
    pub(crate) fn section(&self, kind: CfiSectionKind) -> Option<&[u8]> {
        let bytes = match kind {
            CfiSectionKind::EhFrame => self.eh_frame.as_ref(),
            CfiSectionKind::DebugFrame => self.debug_frame.as_ref(),
        };
        bytes.map(|bytes| bytes.as_ref().as_ref())
    }

    /// The target, by which expressions are evaluated.
    pub(crate) const fn target(&self) -> Target {
        self.target
    }

    /// What is added to an address of the file.
    pub(crate) const fn bias(&self) -> i64 {
        self.bias
    }

    fn slice<'a>(&self, bytes: &'a Bytes) -> Slice<'a> {
        Slice::new(bytes.as_ref().as_ref(), endian(self.target))
    }

    fn eh_section(&self) -> Option<EhFrame<Slice<'_>>> {
        let mut section = EhFrame::from(self.slice(self.eh_frame.as_ref()?));
        section.set_address_size(self.target.word);
        section.set_vendor(vendor(self.target));
        Some(section)
    }

    fn debug_section(&self) -> Option<DebugFrame<Slice<'_>>> {
        let mut section = DebugFrame::from(self.slice(self.debug_frame.as_ref()?));
        section.set_address_size(self.target.word);
        section.set_vendor(vendor(self.target));
        Some(section)
    }

    /// By the binary search table of `.eh_frame_hdr`. Its entries say where functions begin and
    /// not where they end, so the description itself is asked.
    fn row_by_header(&self, at: Svma, context: &mut Context) -> Option<Row> {
        let header = EhFrameHdr::from(self.slice(self.eh_frame_hdr.as_ref()?));
        let header = header.parse(&self.bases, self.target.word).ok()?;
        let table = header.table()?;
        let section = self.eh_section()?;
        let fde = table
            .fde_for_address(&section, &self.bases, at.get(), EhFrame::cie_from_offset)
            .ok()?;
        self.row_of(&section, CfiSectionKind::EhFrame, &fde, at, context)
    }

    /// By an index made of the whole section, where there is no header or it is damaged.
    fn row_by_eh_index(&self, at: Svma, context: &mut Context) -> Option<Row> {
        let section = self.eh_section()?;
        if self.eh_frame_hdr.is_some() && self.header_is_whole() {
            return None;
        }
        let index = self.eh_index.get_or_init(|| FdeIndex::new(&section, &self.bases));
        let fde = section
            .fde_from_offset(&self.bases, index.find(at)?.into(), EhFrame::cie_from_offset)
            .ok()?;
        self.row_of(&section, CfiSectionKind::EhFrame, &fde, at, context)
    }

    fn header_is_whole(&self) -> bool {
        self.eh_frame_hdr.as_ref().is_some_and(|bytes| {
            let header = EhFrameHdr::from(self.slice(bytes));
            let header = header.parse(&self.bases, self.target.word);
            header.is_ok_and(|header| header.table().is_some())
        })
    }

    fn row_by_debug_index(&self, at: Svma, context: &mut Context) -> Option<Row> {
        let section = self.debug_section()?;
        let index = self.debug_index.get_or_init(|| FdeIndex::new(&section, &self.bases));
        let fde = section
            .fde_from_offset(&self.bases, index.find(at)?.into(), DebugFrame::cie_from_offset)
            .ok()?;
        self.row_of(&section, CfiSectionKind::DebugFrame, &fde, at, context)
    }

    fn row_of<'a, S: UnwindSection<Slice<'a>>>(
        &self,
        section: &S,
        kind: CfiSectionKind,
        fde: &FrameDescriptionEntry<Slice<'a>>,
        at: Svma,
        context: &mut Context,
    ) -> Option<Row> {
        if !fde.contains(at.get()) {
            return None;
        }
        let row = fde.unwind_info_for_address(section, &self.bases, context, at.get()).ok()?;
        Row::new(row, kind, fde.cie().return_address_register(), fde.is_signal_trampoline())
    }
}

/// gimli's word for the target's byte order.
pub fn endian(target: Target) -> RunTimeEndian {
    match target.endian {
        Endian::Little => RunTimeEndian::Little,
        Endian::Big => RunTimeEndian::Big,
    }
}

/// Without the vendor gimli refuses the opcode by which aarch64 code says that its return address
/// is signed.
const fn vendor(target: Target) -> Vendor {
    match target.arch {
        Arch::Aarch64 => Vendor::AArch64,
        _ => Vendor::Default,
    }
}
