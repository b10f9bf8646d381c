//! Call frame information of one module: `.eh_frame` with or without its header, `.debug_frame`.

use std::sync::Arc;

use gimli::{
    BaseAddresses, CieOrFde, DW_EH_PE_datarel, DW_EH_PE_sdata4, DW_EH_PE_udata4, DebugFrame,
    EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, ParsedEhFrameHdr, RunTimeEndian,
    UnwindSection, Vendor,
};
use kcore_mem::{Addr, AddrRange, Arch, Budget, Built, Endian, Svma, Target};

use crate::{
    cfi_index::FdeIndex,
    long_rows::{Description, LONG, LongRow, LongRows, MAX_COMMON},
    row::{CfiSectionKind, Context, Covered, FoundRow, Row},
};

/// Counted bytes of a section, wherever they lie.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Takes what a step needs out of a row.
struct Take<'a, R> {
    found: &'a mut dyn FnMut(&FoundRow<'_>) -> Option<R>,
    /// The same of a row that was kept; `None` where no memory may be taken to keep one.
    kept: Option<fn(Row) -> R>,
}

/// The unwind information of a module. Made by [`CfiBuilder`].
pub struct Cfi {
    bias: i64,
    tables: Arc<Tables>,
}

/// The unwind information of a file, wherever it is mapped.
struct Tables {
    target: Target,
    bases: BaseAddresses,
    eh_frame: Option<Bytes>,
    eh_frame_hdr: Option<Bytes>,
    debug_frame: Option<Bytes>,
    eh_index: Built<FdeIndex>,
    debug_index: Built<FdeIndex>,
    /// Says when the building of an index has to end.
    budget: Budget,
    long: LongRows,
}

/// Gathers the sections of a module.
#[must_use]
pub struct CfiBuilder {
    bias: i64,
    tables: Tables,
}

impl CfiBuilder {
    /// A module of `target` whose addresses in the process are those of its file plus `bias`.
    pub fn new(target: Target, bias: i64) -> Self {
        let tables = Tables {
            target,
            bases: BaseAddresses::default(),
            eh_frame: None,
            eh_frame_hdr: None,
            debug_frame: None,
            eh_index: Built::new(),
            debug_index: Built::new(),
            budget: Budget::default(),
            long: LongRows::default(),
        };
        Self { bias, tables }
    }

    /// Ends the building of an index when `budget` says so; the next command builds it anew. Without one, an index is
    /// built to its end.
    pub fn within(mut self, budget: &Budget) -> Self {
        self.tables.budget = budget.clone();
        self
    }

    /// `.eh_frame`, whose first byte lies at `svma`.
    pub fn eh_frame(mut self, bytes: Bytes, svma: Svma) -> Self {
        self.tables.bases = self.tables.bases.set_eh_frame(svma.get());
        self.tables.eh_frame = Some(bytes);
        self
    }

    /// `.eh_frame_hdr`, whose first byte lies at `svma`.
    pub fn eh_frame_hdr(mut self, bytes: Bytes, svma: Svma) -> Self {
        self.tables.bases = self.tables.bases.set_eh_frame_hdr(svma.get());
        self.tables.eh_frame_hdr = Some(bytes);
        self
    }

    /// `.debug_frame`.
    pub fn debug_frame(mut self, bytes: Bytes) -> Self {
        self.tables.debug_frame = Some(bytes);
        self
    }

    /// Where `.text` and `.got` begin: pointers may be relative to them.
    pub fn bases(mut self, text: Option<Svma>, got: Option<Svma>) -> Self {
        if let Some(text) = text {
            self.tables.bases = self.tables.bases.set_text(text.get());
        }
        if let Some(got) = got {
            self.tables.bases = self.tables.bases.set_got(got.get());
        }
        self
    }

    /// The unwind information.
    pub fn build(self) -> Cfi {
        Cfi { bias: self.bias, tables: Arc::new(self.tables) }
    }
}

impl Cfi {
    /// The same file at another place in the process: its addresses there are those of the file plus `bias`. Both
    /// share what is found out of the file.
    #[must_use]
    pub fn at(&self, bias: i64) -> Self {
        Self { bias, tables: Arc::clone(&self.tables) }
    }

    /// The code that the descriptions of `.eh_frame` cover, in their order; a damaged one is the last.
    pub fn covered(&self) -> Vec<AddrRange> {
        let Some(section) = self.tables.eh_section() else { return Vec::new() };
        let mut entries = section.entries(&self.tables.bases);
        let next = || entries.next().ok().flatten();
        let fdes = std::iter::from_fn(next).filter_map(|entry| match entry {
            CieOrFde::Fde(partial) => partial.parse(EhFrame::cie_from_offset).ok(),
            CieOrFde::Cie(_) => None,
        });
        let covered = |fde: FrameDescriptionEntry<_>| {
            let start = Svma::new(fde.initial_address());
            Covered { start, len: fde.len() }.at(self.bias)
        };
        fdes.map(covered).collect()
    }

    /// The row for the code at `at`; `None` when nothing covers it.
    pub(crate) fn row(&self, at: Addr, context: &mut Context) -> Option<Row> {
        let svma = self.svma(at);
        let take = &mut Take { found: &mut |found| Row::new(found), kept: Some(|row| row) };
        let tables = &self.tables;
        tables
            .row_by_header(svma, context, take)
            .or_else(|| tables.row_by_eh_index(svma, context, take))
            .or_else(|| tables.row_by_debug_index(svma, context, take))
    }

    /// Makes the index of `.eh_frame` where it has no search table of its own, so that
    /// [`Cfi::row_in_place`] finds all of its rows.
    pub(crate) fn prepare(&self) {
        let tables = &self.tables;
        if tables.search_header().is_none()
            && let Some(section) = tables.eh_section()
        {
            tables.eh_index(&section);
        }
    }

    /// Gives `take` the row for the code at `at`, by `.eh_frame`, and says whether there was one. Takes no
    /// memory, no lock and no turn: a signal handler may call it.
    pub(crate) fn row_in_place(
        &self,
        at: Addr,
        context: &mut Context,
        take: &mut dyn FnMut(&FoundRow<'_>) -> Option<()>,
    ) -> Option<()> {
        let svma = self.svma(at);
        let take = &mut Take { found: take, kept: None };
        if self.tables.eh_index.get().is_some() {
            return self.tables.row_by_eh_index(svma, context, take);
        }
        self.tables.row_by_header(svma, context, take)
    }

    /// Whether an index is not whole, since the command had to end while it was built: then no row does not say that
    /// there is none.
    pub(crate) fn is_partial(&self) -> bool {
        self.tables.eh_index.is_partial() || self.tables.debug_index.is_partial()
    }

    /// The bytes of an expression.
    pub(crate) fn section(&self, kind: CfiSectionKind) -> Option<&[u8]> {
        let bytes = match kind {
            CfiSectionKind::EhFrame => self.tables.eh_frame.as_ref(),
            CfiSectionKind::DebugFrame => self.tables.debug_frame.as_ref(),
        };
        bytes.map(|bytes| bytes.as_ref().as_ref())
    }

    /// The target, by which expressions are evaluated.
    pub(crate) fn target(&self) -> Target {
        self.tables.target
    }

    /// What is added to an address of the file.
    pub(crate) const fn bias(&self) -> i64 {
        self.bias
    }

    const fn svma(&self, at: Addr) -> Svma {
        Svma::new(at.get().wrapping_sub_signed(self.bias))
    }
}

impl Tables {
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
    fn row_by_header<R>(
        &self,
        at: Svma,
        context: &mut Context,
        take: &mut Take<'_, R>,
    ) -> Option<R> {
        let header = self.search_header()?;
        let found = header.table()?.lookup(at.get(), &self.bases).ok()?.direct().ok()?;
        // Subtracted here: a table may name what lies before the section.
        let offset = found.checked_sub(header.eh_frame_ptr().direct().ok()?)?;
        let offset = usize::try_from(offset).ok()?;
        let section = self.eh_section()?;
        let fde =
            section.fde_from_offset(&self.bases, offset.into(), EhFrame::cie_from_offset).ok()?;
        self.row_of(&section, CfiSectionKind::EhFrame, (&fde, at), context, take)
    }

    /// The header, when it has a table in the only form that libgcc's unwinder searches; in others
    /// nobody would miss an error.
    fn search_header(&self) -> Option<ParsedEhFrameHdr<Slice<'_>>> {
        let bytes = self.slice(self.eh_frame_hdr.as_ref()?);
        let encodings = bytes.slice().get(2..4)?;
        if encodings != [DW_EH_PE_udata4.0, DW_EH_PE_datarel.0 | DW_EH_PE_sdata4.0] {
            return None;
        }
        let header = EhFrameHdr::from(bytes).parse(&self.bases, self.target.word).ok()?;
        header.table().is_some().then_some(header)
    }

    fn eh_index(&self, section: &EhFrame<Slice<'_>>) -> &FdeIndex {
        let build = || FdeIndex::new(section, &self.bases, &self.budget);
        self.eh_index.get_or_build(&self.budget, build)
    }

    /// By an index made of the whole section, where there is no header or it is damaged.
    fn row_by_eh_index<R>(
        &self,
        at: Svma,
        context: &mut Context,
        take: &mut Take<'_, R>,
    ) -> Option<R> {
        let section = self.eh_section()?;
        if self.search_header().is_some() {
            return None;
        }
        let found = self.eh_index(&section).find(at)?;
        let fde =
            section.fde_from_offset(&self.bases, found.into(), EhFrame::cie_from_offset).ok()?;
        self.row_of(&section, CfiSectionKind::EhFrame, (&fde, at), context, take)
    }

    fn row_by_debug_index<R>(
        &self,
        at: Svma,
        context: &mut Context,
        take: &mut Take<'_, R>,
    ) -> Option<R> {
        let section = self.debug_section()?;
        let build = || FdeIndex::new(&section, &self.bases, &self.budget);
        let found = self.debug_index.get_or_build(&self.budget, build).find(at)?;
        let fde =
            section.fde_from_offset(&self.bases, found.into(), DebugFrame::cie_from_offset).ok()?;
        self.row_of(&section, CfiSectionKind::DebugFrame, (&fde, at), context, take)
    }

    fn row_of<'a, S: UnwindSection<Slice<'a>>, R>(
        &self,
        section: &S,
        kind: CfiSectionKind,
        (fde, at): (&FrameDescriptionEntry<Slice<'a>>, Svma),
        context: &mut Context,
        take: &mut Take<'_, R>,
    ) -> Option<R> {
        if !fde.contains(at.get()) {
            return None;
        }
        if let Some(kept) = take.kept {
            if fde.cie().entry_len() > MAX_COMMON {
                return None;
            }
            let arch = self.target.arch;
            let description = Description { section, kind, bases: &self.bases, fde, arch };
            if fde.entry_len() > LONG
                && let LongRow::Found(row) = self.long.find(&description, at.get(), context)
            {
                return row.map(kept);
            }
        }
        let row = fde.unwind_info_for_address(section, &self.bases, context, at.get()).ok()?;
        (take.found)(&FoundRow::new(row, kind, fde, self.target.arch))
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

#[cfg(test)]
mod tests {
    use kcore_mem::Allowance;

    use super::*;

    const SECTION: u64 = 0x50_0000;
    const HEADER: u64 = 0x60_0000;

    /// A header with these encodings, whose only entry says that the code at 0 is described at
    /// `fde`.
    fn with_header(encodings: [u8; 2], count: u32, fde: u64) -> Cfi {
        let from_header = |at: u64| (at.wrapping_sub(HEADER) as u32).to_le_bytes();
        // Four bytes into the header, relative to themselves.
        let section = (SECTION.wrapping_sub(HEADER + 4) as u32).to_le_bytes();
        let mut bytes = vec![1, 0x1b, encodings[0], encodings[1]];
        for part in [section, count.to_le_bytes(), from_header(0), from_header(fde)] {
            bytes.extend(part);
        }
        CfiBuilder::new(Target::X86_64, 0)
            .eh_frame(Arc::new(vec![0; 16]), Svma::new(SECTION))
            .eh_frame_hdr(Arc::new(bytes), Svma::new(HEADER))
            .build()
    }

    #[test]
    fn a_search_table_may_lie() {
        let mut context = Context::new();
        for (count, fde) in [(1, SECTION - 8), (1, SECTION + 8), (u32::MAX, SECTION)] {
            let cfi = with_header([3, 0x3b], count, fde);
            assert_eq!(cfi.row(Addr::new(0), &mut context), None);
        }
    }

    #[test]
    fn only_the_form_that_libgcc_searches_is_a_search_table() {
        assert!(with_header([3, 0x3b], 1, SECTION).tables.search_header().is_some());
        for encodings in [[4, 0x3b], [3, 0x3c], [0xff, 0xff]] {
            assert!(with_header(encodings, 1, SECTION).tables.search_header().is_none());
        }
    }

    /// A module without a search table, of functions of 16 bytes that lie one behind the other.
    fn with_functions(count: u32, budget: &Budget) -> Cfi {
        let common = b"\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x03\x0c\x07\x08\x90\x01\0\0";
        let mut section = common[..24].to_vec();
        for number in 0..count {
            let begin = 0x1000 + number * 16;
            for word in [16, section.len() as u32 + 4, begin, 16, 0] {
                section.extend(u32::to_le_bytes(word));
            }
        }
        section.extend([0; 4]);
        let builder = CfiBuilder::new(Target::X86_64, 0).within(budget);
        builder.eh_frame(Arc::new(section), Svma::new(SECTION)).build()
    }

    #[test]
    fn an_index_that_was_halted_is_built_by_the_next_command() {
        const COUNT: u32 = 100_000;
        let (budget, mut context) = (Budget::default(), Context::new());
        let cfi = with_functions(COUNT, &budget);
        let last = Addr::new(0x1000 + u64::from(COUNT) * 16 - 1);
        budget.interrupt().store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(cfi.row(last, &mut context).is_none() && cfi.is_partial());
        budget.interrupt().store(false, std::sync::atomic::Ordering::SeqCst);
        assert!(cfi.row(last, &mut context).is_some() && !cfi.is_partial());
    }

    #[test]
    fn an_index_ends_with_the_time() {
        let late = Allowance { time: Some(std::time::Duration::ZERO), ..Allowance::default() };
        let cfi = with_functions(100_000, &Budget::new(late));
        assert!(cfi.row(Addr::new(0x1000), &mut Context::new()).is_none() && cfi.is_partial());
    }

    /// A module of one function at 0x1000, each of whose bytes states the CFA anew.
    fn with_long_description(rows: u32) -> Cfi {
        let sized = |mut body: Vec<u8>| {
            body.resize(body.len().next_multiple_of(4), 0);
            [&(body.len() as u32).to_le_bytes()[..], &body].concat()
        };
        // Absolute addresses of four bytes.
        let common = sized(b"\0\0\0\0\x01zR\0\x01\x78\x10\x01\x03\x0c\x07\x08\x90\x01".to_vec());
        let mut body = (common.len() as u32 + 4).to_le_bytes().to_vec();
        body.extend([0x1000_u32, rows].iter().flat_map(|word| word.to_le_bytes()));
        body.push(0);
        (1..rows).for_each(|row| body.extend([0x41, 0x0e, (row % 100) as u8]));
        let section = [common, sized(body), vec![0; 4]].concat();
        let builder = CfiBuilder::new(Target::X86_64, 0);
        builder.eh_frame(Arc::new(section), Svma::new(SECTION)).build()
    }

    #[test]
    fn rows_of_a_long_description_are_those_that_running_it_gives() {
        const ROWS: u32 = 2000;
        let cfi = with_long_description(ROWS);
        cfi.prepare();
        let mut context = Context::new();
        for at in (0x1000..0x1000 + u64::from(ROWS)).map(Addr::new) {
            let mut run = None;
            cfi.row_in_place(at, &mut context, &mut |found| {
                run = Row::new(found);
                Some(())
            });
            assert!(run.is_some(), "{at:?}");
            assert_eq!(cfi.row(at, &mut context), run, "{at:?}");
        }
        assert_eq!(cfi.row(Addr::new(0x1000 + u64::from(ROWS)), &mut context), None);
        assert_eq!(cfi.row(Addr::new(0xfff), &mut context), None);
    }
}
