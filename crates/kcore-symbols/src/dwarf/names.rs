//! The name of a function: its own, or that of the entry which it is an instance of, in this unit,
//! in another one, or in the supplementary file.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use gimli::{Attribute, AttributeValue, Error, Reader as _, constants};
use rustc_hash::FxHashMap;

use super::{
    Reader, Result, UnitOffset,
    files::{Files, Which},
    unit::Unit,
    walk::Walk,
};

/// References that are followed to a name: an instance, its abstract origin, its declaration, and
/// hostile ones.
const MAX_REFERENCES: usize = 16;

/// Bytes of a name that every function may have of its own.
const SHORT: usize = 256;
/// Bytes of longer names that are kept of one module. Any number of functions may have one of them, or each a part
/// of it.
const MAX_LONG: usize = 64 << 20;

/// Names that are not short, by the place where they lie.
#[derive(Default)]
pub struct LongNames {
    kept: Mutex<NameCache>,
    /// Whether a name was left out, since too much text of long names is kept.
    is_cut: AtomicBool,
}

#[derive(Default)]
struct NameCache {
    names: FxHashMap<(u64, usize), Arc<str>>,
    /// The same by where they begin in the strings of a file: to find the end of one takes as long as to read it.
    in_strings: FxHashMap<(Which, usize), Arc<str>>,
    bytes: usize,
}

impl LongNames {
    /// Whether some name was left out.
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// The name that an attribute of a unit of that file stands for; `Some(None)` where too much text of long names is
    /// kept.
    fn find(
        &self,
        files: &Files,
        which: Which,
        unit: &Unit,
        value: AttributeValue<Reader>,
    ) -> Result<Option<Option<Arc<str>>>> {
        let AttributeValue::DebugStrRef(offset) = value else {
            let text = files.string(which, unit, value);
            return text.map(|text| self.get(&text)).transpose();
        };
        let place = (which, offset.0);
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().in_strings.get(&place) {
            return Ok(Some(Some(Arc::clone(known))));
        }
        let Some(text) = files.string(which, unit, value) else { return Ok(None) };
        let name = self.get(&text)?;
        if let Some(name) = name.as_ref().filter(|_| text.len() > SHORT) {
            lock().in_strings.insert(place, Arc::clone(name));
        }
        Ok(Some(name))
    }

    /// The text of a name; `None` where too much text of long names is kept.
    fn get(&self, text: &Reader) -> Result<Option<Arc<str>>> {
        if text.len() <= SHORT {
            return Ok(Some(text.to_string_lossy()?.into()));
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (text.offset_id().0, text.len());
        // What lay at a place may have been closed since, and other bytes may lie there now.
        let bytes = text.to_slice()?;
        if let Some(known) = kept.names.get(&place).filter(|known| known.as_bytes() == &*bytes) {
            return Ok(Some(Arc::clone(known)));
        }
        let in_all = kept.bytes.saturating_add(text.len());
        if in_all > MAX_LONG {
            self.is_cut.store(true, Ordering::Relaxed);
            return Ok(None);
        }
        kept.bytes = in_all;
        let name: Arc<str> = String::from_utf8_lossy(&bytes).into();
        kept.names.insert(place, Arc::clone(&name));
        Ok(Some(name))
    }
}

/// What an entry says of its name.
#[derive(Clone, Default)]
pub struct NameAttributes {
    linkage: Option<AttributeValue<Reader>>,
    plain: Option<AttributeValue<Reader>>,
    origin: Option<AttributeValue<Reader>>,
}

impl NameAttributes {
    /// Takes note of an attribute if it is one of names.
    pub fn take(&mut self, attribute: &Attribute<Reader>) {
        match attribute.name() {
            constants::DW_AT_linkage_name | constants::DW_AT_MIPS_linkage_name => {
                self.linkage = Some(attribute.value());
            }
            constants::DW_AT_name => self.plain = Some(attribute.value()),
            constants::DW_AT_abstract_origin | constants::DW_AT_specification => {
                self.origin = Some(attribute.value());
            }
            _ => {}
        }
    }

    /// The names of the entry at `entry`.
    pub fn read(unit: &Unit, entry: UnitOffset) -> Result<Self> {
        let mut names = Self::default();
        let mut walk = Walk::new(unit, Some(entry))?;
        let found = walk.next(-1)?.ok_or(Error::NoEntryAtGivenOffset(entry.0 as u64))?;
        walk.attributes(&found, |attribute| {
            names.take(attribute);
            Ok(())
        })?;
        Ok(names)
    }
}

/// The name of an entry of a unit of that file: its linkage name, else its plain name, else that of its origin.
pub fn name(
    files: &Files,
    mut which: Which,
    unit: &Arc<Unit>,
    mut names: NameAttributes,
) -> Result<Option<Arc<str>>> {
    let mut unit = Arc::clone(unit);
    for _ in 0..MAX_REFERENCES {
        let own = [names.linkage.take(), names.plain.take()];
        for value in own.into_iter().flatten() {
            if let Some(name) = files.long_names.find(files, which, &unit, value)? {
                return Ok(name.filter(|name| !name.is_empty()));
            }
        }
        let Some(origin) = names.origin.take() else { return Ok(None) };
        let Some((file, there, entry)) = follow(files, which, &unit, &origin)? else {
            return Ok(None);
        };
        names = NameAttributes::read(&there, entry)?;
        (which, unit) = (file, there);
    }
    Ok(None)
}

/// The entry that an attribute of `unit` refers to.
fn follow(
    files: &Files,
    which: Which,
    unit: &Arc<Unit>,
    reference: &AttributeValue<Reader>,
) -> Result<Option<(Which, Arc<Unit>, UnitOffset)>> {
    let Some((file, offset)) = files.reference(which, unit, reference) else { return Ok(None) };
    if files.units(file).is_none() {
        return Ok(None);
    }
    let (there, entry) = files.place(file, offset)?;
    Ok(Some((file, there, entry)))
}
