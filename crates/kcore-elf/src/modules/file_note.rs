//! Modules by `NT_FILE`: which of its rows belong together.

use std::collections::HashMap;

use kcore_mem::{Addr, AddressSpace, FileOff};

use super::{AT_PAGESZ, MappedModule, MappedRange, PAGE, PF_X};
use crate::{
    CoreFile, CoreSpace, ImageSegment, MemoryImage, core_file::MappedFile, memory_image::has_header,
};

const PF_W: u32 = 2;
/// All flags of a segment that tell of access.
const ACCESS: u32 = 7;
/// Rows of a file among which its program headers are looked for, at most: linkers write some five.
const MAX_ROWS: usize = 64;

/// Rows of `NT_FILE` that belong together, and the header that is mapped at the first of them.
struct Group<'a> {
    rows: Vec<&'a MappedFile>,
    image: Option<MemoryImage>,
    /// Whether an ELF header is mapped there, though its program headers may not have been dumped.
    is_elf: bool,
}

/// Groups the rows of `NT_FILE`: a module is a run of rows of one path that its program headers
/// account for. Files that were mapped whole are read as data.
pub(super) fn from_file_note(core: &CoreFile, space: &CoreSpace) -> Vec<MappedModule> {
    let Some(files) = core.files() else { return Vec::new() };
    let mut rows: Vec<&MappedFile> = files.files.iter().collect();
    rows.sort_by_key(|row| row.range.start);
    // No two mappings begin at one address; what says so would be read again and again.
    rows.dedup_by_key(|row| row.range.start);
    let page = core.aux(AT_PAGESZ).unwrap_or(PAGE);
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        match groups.last_mut().filter(|group| group.continues_with(row, space, page)) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group::begin(space, row, rows.get(index..).unwrap_or_default())),
        }
    }
    groups.retain(|group| !group.is_read_whole(space));
    let whole: HashMap<&[u8], &MemoryImage> = groups.iter().filter_map(Group::whole).collect();
    let copies: Vec<Option<MemoryImage>> = groups
        .iter()
        .map(|group| {
            whole.get(group.path()?).copied().filter(|_| group.is_copied_code(space)).cloned()
        })
        .collect();
    let modules = groups.into_iter().zip(copies).filter_map(|(group, copy)| match copy {
        Some(_) => Some(MappedModule { copy_of: copy, ..group.into_module()? }),
        None => module_of(group, space),
    });
    modules.collect()
}

impl<'a> Group<'a> {
    /// A group that begins with a row; `following` are that and the rows behind it.
    fn begin(space: &CoreSpace, row: &'a MappedFile, following: &[&MappedFile]) -> Self {
        let base = row.range.start;
        let of_file = following.iter().take(MAX_ROWS).take_while(|next| next.path == row.path);
        let places = |offset: FileOff| {
            let holding = of_file.clone().filter_map(|row| {
                let into = offset.get().checked_sub(row.offset.get())?;
                (into < row.range.len()).then(|| row.range.start.saturating_add(into))
            });
            holding.collect()
        };
        let image = MemoryImage::load_placed(space, base, &places);
        let is_elf = image.is_some() || (row.offset.get() == 0 && has_header(space, base));
        Self { rows: vec![row], image, is_elf }
    }
}

impl Group<'_> {
    fn path(&self) -> Option<&[u8]> {
        self.rows.first().map(|row| row.path.as_slice())
    }

    /// Its header, by its path.
    fn whole(&self) -> Option<(&[u8], &MemoryImage)> {
        Some((self.path()?, self.image.as_ref()?))
    }

    /// Whether it is code alone, from the middle of a file: where that file is mapped whole elsewhere,
    /// this is a second mapping of it. V8 maps its builtins so, to have them near the code that it makes.
    fn is_copied_code(&self, space: &CoreSpace) -> bool {
        let is_code = |row: &&MappedFile| {
            space.segment_at(row.range.start).is_none_or(|segment| segment.flags & PF_X != 0)
        };
        // A file that is mapped to be read is mapped from its beginning.
        self.image.is_none() && self.rows.iter().all(|row| row.offset.get() != 0 && is_code(row))
    }

    /// Whether a file was mapped whole by who reads it, and not loaded: the mapping of its beginning reaches
    /// over code, and may not be executed.
    fn is_read_whole(&self, space: &CoreSpace) -> bool {
        let (Some(first), Some(image)) = (self.rows.first(), &self.image) else { return false };
        let end = first.offset.get().saturating_add(first.range.len());
        let is_code_in_it = |segment: &ImageSegment| {
            let code_end = segment.offset.get().saturating_add(segment.file_size);
            segment.is_load() && segment.flags & PF_X != 0 && code_end <= end
        };
        let segment = space.segment_at(first.range.start);
        segment.is_some_and(|segment| segment.flags & PF_X == 0)
            && image.segments.iter().any(is_code_in_it)
    }

    fn into_module(self) -> Option<MappedModule> {
        let first = self.rows.first()?;
        let ranges =
            self.rows.iter().map(|row| MappedRange { range: row.range, offset: row.offset });
        Some(MappedModule {
            path: first.path.clone(),
            ranges: ranges.collect(),
            image: self.image,
            copy_of: None,
            namespace: 0,
            is_exe: false,
            is_vdso: false,
        })
    }

    /// File offsets grow within a module, and what they stand for is mapped once, but for a page that two segments
    /// share; one that begins again begins another copy of the file, unless a segment maps the file's first page
    /// once more, as linkers that do not separate code from data let it. Where no header is mapped, the same offset
    /// is another copy too: each isolate of V8 has its own of V8's builtins.
    fn continues_with(&self, row: &MappedFile, space: &CoreSpace, page: u64) -> bool {
        self.rows.last().is_some_and(|last| {
            let again = row.offset == last.offset && !self.is_elf;
            let end = last.offset.get().saturating_add(last.range.len());
            // A linker leaves holes of the file between segments, up to where the next one begins.
            let is_next = last.range.end == row.range.start && !self.is_read_whole(space);
            let goes_on = is_next || row.offset.get().saturating_add(page) >= end;
            let grows = row.offset.get() != 0 && row.offset >= last.offset && goes_on && !again;
            last.path == row.path
                && (grows || self.has_segment_at(row) || self.ends_without_header(row, space))
        })
    }

    /// Whether a row holds the data of a module whose header was not dumped: right behind what the loader reserved and
    /// nobody may access, or the file's first page once more, to be written, as pages of 64 KiB are that hold code and
    /// data.
    fn ends_without_header(&self, row: &MappedFile, space: &CoreSpace) -> bool {
        let flags = |at: Addr| space.segment_at(at).map(|segment| segment.flags & ACCESS);
        let Some(last) = self.rows.last().filter(|_| self.image.is_none()) else { return false };
        let is_reserved = flags(last.range.start) == Some(0) && last.range.end == row.range.start;
        let is_code = |at: Addr| flags(at).is_some_and(|it| it & PF_X != 0 && it & PF_W == 0);
        let is_data = |at: Addr| flags(at).is_some_and(|it| it & PF_W != 0);
        let is_shared = row.offset.get() == 0
            && last.offset.get() == 0
            && is_code(last.range.start)
            && is_data(row.range.start);
        (is_reserved && row.offset.get() != 0) || is_shared
    }

    fn has_segment_at(&self, row: &MappedFile) -> bool {
        let Some(image) = &self.image else { return false };
        image.segments.iter().filter(|segment| segment.is_load()).any(|segment| {
            let into_row = image.addr(segment.svma).offset_from(row.range.start);
            let into_file = segment.offset.get().checked_sub(row.offset.get());
            into_row == into_file && into_row.is_some_and(|into| into < row.range.len())
        })
    }
}

/// A group of rows is a module if it begins with ELF's headers, or, where these or some of them were not dumped,
/// if part of it was executable. Mapped data files are neither. gdb writes no segment for what it leaves out, so
/// what was executable is lost: there several rows make a module, since a data file has one.
fn module_of(group: Group<'_>, space: &CoreSpace) -> Option<MappedModule> {
    let first = group.rows.first()?;
    let several = group.rows.len() > 1;
    let executable = |row: &&MappedFile| match space.segment_at(row.range.start) {
        Some(segment) => segment.flags & PF_X != 0,
        None => several,
    };
    let may_be_one = group.is_elf || space.slice(first.range.start).is_err();
    let is_one = group.image.is_some() || (may_be_one && group.rows.iter().any(executable));
    is_one.then(|| group.into_module())?
}
