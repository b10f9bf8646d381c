//! Files that were opened, each once: several modules may name one file, such as a library that is
//! loaded into two namespaces, and a core may name one file as often as it likes.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kcore_elf::Image;

use crate::{Why, regular::open_image};

/// The files that could be opened, by path.
#[derive(Clone, Debug, Default)]
pub struct ImageCache(Arc<Mutex<HashMap<PathBuf, Arc<Image>>>>);

impl ImageCache {
    /// The file at `path`, opened if it was not before.
    ///
    /// # Errors
    /// Why there is none; it may be there the next time.
    pub fn open(&self, path: &Path) -> Result<Arc<Image>, Why> {
        if let Some(image) = self.lock().get(path) {
            return Ok(image.clone());
        }
        // Not under the lock: others open other files meanwhile.
        let image = Arc::new(open_image(path)?);
        Ok(self.lock().entry(path.to_owned()).or_insert(image).clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Image>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
