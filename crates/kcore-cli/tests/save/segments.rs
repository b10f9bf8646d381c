//! The segments of a core, read without kcore.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub const PAGE: u64 = 4096;

/// The segments of a core: addresses, offset in the file, bytes in it.
pub struct Segments(File, Vec<(u64, u64, u64, u64)>);

impl Segments {
    /// Reads the program headers.
    pub fn of(core: &Path) -> Self {
        let file = File::open(core).unwrap();
        let word = |at: u64| {
            let mut bytes = [0; 8];
            file.read_exact_at(&mut bytes, at).unwrap();
            u64::from_ne_bytes(bytes)
        };
        let (table, count) = (word(32), word(56) & 0xffff);
        let all =
            (0..count).map(|index| table + 56 * index).filter(|at| word(*at) & 0xffff_ffff == 1);
        let all =
            all.map(|at| (word(at + 16), word(at + 40), word(at + 8), word(at + 32))).collect();
        Self(file, all)
    }

    /// The bytes of a page; `None` when the core has none.
    pub fn page(&self, address: u64) -> Option<Vec<u8>> {
        let holds =
            |segment: &&(u64, u64, u64, u64)| (segment.0..segment.0 + segment.1).contains(&address);
        let (start, _, offset, held) = self.1.iter().find(holds).expect("every page has a segment");
        let mut bytes = vec![0; PAGE as usize];
        let within = address - start;
        (within + PAGE <= *held)
            .then(|| self.0.read_exact_at(&mut bytes, offset + within).unwrap())?;
        Some(bytes)
    }

    /// All pages that the core has bytes of, with their addresses.
    pub fn pages(&self) -> impl Iterator<Item = (u64, Vec<u8>)> {
        let starts = self
            .1
            .iter()
            .flat_map(|(start, _, _, held)| (*start..start + held).step_by(PAGE as usize));
        starts.filter_map(|at| Some((at, self.page(at)?)))
    }
}
