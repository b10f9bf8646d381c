//! Files that belong to modules, each opened once: several modules may have one file, such as a
//! library that is loaded into two namespaces, and a core may name one file as often as it likes.

use std::{
    collections::HashMap,
    fs::File,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kcore_elf::Image;
use kcore_mem::Budget;

use crate::{Why, checksum::Checksums, regular::image_of};

/// Device and inode: the same under every path.
type FileId = (u64, u64);

/// The files that were accepted.
#[derive(Clone, Debug, Default)]
pub struct ImageCache {
    images: Arc<Mutex<HashMap<FileId, Arc<Image>>>>,
    checksums: Arc<Checksums>,
    budget: Budget,
}

impl ImageCache {
    /// A cache of files whose inflated sections are charged to `budget`.
    pub fn within(budget: &Budget) -> Self {
        Self { budget: budget.clone(), ..Self::default() }
    }

    /// The budget that inflated sections are charged to.
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The checksum of `file`, as `.gnu_debuglink` has it; it is read once.
    ///
    /// # Errors
    /// Why there is none.
    pub fn checksum(&self, file: &File) -> Result<u32, Why> {
        self.checksums.of(file, &self.budget)
    }

    /// What `file` at `path` holds, if it is an ELF file and `check` has nothing against it, with what `check`
    /// says.
    ///
    /// # Errors
    /// Why not; it may be there the next time, and is not kept open.
    pub fn open<T>(
        &self,
        file: &File,
        path: &Path,
        check: impl FnOnce(&Image) -> Result<T, Why>,
    ) -> Result<(Arc<Image>, T), Why> {
        let id = file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
        if let Some(image) = id.and_then(|id| self.lock().get(&id).cloned()) {
            let said = check(&image)?;
            return Ok((image, said));
        }
        // Not under the lock: others open other files meanwhile.
        let image = Arc::new(image_of(file, path, &self.budget)?);
        let said = check(&image)?;
        if let Some(id) = id {
            self.lock().insert(id, image.clone());
        }
        Ok((image, said))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<FileId, Arc<Image>>> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
