//! Files that were lost while kcore read them.

use std::path::{Path, PathBuf};

use kcore_elf::Image;

use crate::{FileView, Module};

impl FileView<'_> {
    /// Files that shrank, or whose disk failed, since they were opened. What was read of their lost
    /// parts was zeros, so what was said by them may be wrong.
    pub fn lost(self) -> Vec<PathBuf> {
        let parts = self.core.parts.as_ref().filter(|parts| parts.file.bytes().is_lost());
        let core = parts.and_then(|parts| parts.path.clone());
        let of_modules = self.core.modules().all().iter().flat_map(Module::lost_files);
        let mut lost: Vec<_> = core.into_iter().chain(of_modules).collect();
        // Modules may share a file.
        lost.sort();
        lost.dedup();
        lost
    }
}

impl Module {
    /// Those of its files that were opened, and lost since.
    fn lost_files(&self) -> impl Iterator<Item = PathBuf> {
        self.opened_files().filter(|(image, _)| is_lost(image)).map(|(_, path)| path.to_owned())
    }

    /// Its file and its debug files, if they were looked for and found.
    fn opened_files(&self) -> impl Iterator<Item = (&Image, &Path)> {
        let found =
            self.files_found().into_iter().flatten().filter_map(|found| found.file.as_ref());
        found.map(|file| (&*file.image, file.path.as_path()))
    }
}

fn is_lost(image: &Image) -> bool {
    image.bytes().is_lost()
}
