//! Finding it, and telling its version.

use std::ops::ControlFlow;
use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use memchr::memmem;

use super::NAME;
use super::classes::Classes;
use super::extent::ExtentState;
use super::heap::Jemalloc;
use super::layout::LAYOUTS;
use super::tree::{Entry, Tree};
use crate::module_words::{constants, holds_text};
use crate::{HeapHost, HeapIdentity, HeapModule, NativeHeap, Refused};

/// What every build prints before its messages.
const TEXT: [&[u8]; 2] = [b"<jemalloc>", b": "];
/// Bytes of a commit's name at the end of a version.
const COMMIT: usize = 40;
/// The longest version that stands before it: `5.3.0-1-g`.
const VERSION: usize = 16;
/// Extents that are looked at to tell which classes there are.
const SAMPLE: u32 = 4096;
const PAGE: u64 = 4096;
/// The largest block whose extent has the size of its class in all versions (`USIZE_GROW_SLOW_THRESHOLD`).
const TELLING: u64 = 32 << 10;

/// Every copy of it in the process.
pub(super) fn detect(host: &dyn HeapHost) -> Vec<Result<Box<dyn NativeHeap>, Refused>> {
    let modules = host.modules();
    let with_it = modules.iter().filter(|module| is_in(host, **module));
    with_it.filter_map(|module| heap_of(host, *module).transpose()).collect()
}

/// Whether a module has it built in, as its texts say; where those cannot be read, as what it exports says.
fn is_in(host: &dyn HeapHost, module: &dyn HeapModule) -> bool {
    holds_text(host.space(), module, TEXT) || module.exported("mallctl").is_some()
}

fn heap_of(
    host: &dyn HeapHost,
    module: &dyn HeapModule,
) -> Result<Option<Box<dyn NativeHeap>>, Refused> {
    let version = version(host.space(), module);
    let refused = |why: &str| Refused {
        allocator: NAME,
        version: version.clone(),
        instance: module.name().into(),
        why: why.into(),
        ranges: Vec::new(),
    };
    let Some(tree) = Tree::find(host, module) else {
        return match &version {
            Some(known) if !LAYOUTS.iter().any(|layout| is_of(layout.prefixes, known)) => {
                Err(refused("the layout of this version is not known"))
            }
            // A program may hold the text without the allocator.
            None if module.exported("mallctl").is_none() => Ok(None),
            _ => Err(refused(
                "its tree of pages was not found: it was never used, its memory is not in the core, or it was built \
                 for other pages or addresses",
            )),
        };
    };
    let Some(classes) = classes(host, &tree) else {
        return Err(refused(
            "its size classes fit no table: it was built with another quantum or other pages",
        ));
    };
    let identity = identity(module, version, &tree, &classes);
    Ok(Some(Box::new(Jemalloc::new(identity, tree, classes))))
}

fn is_of(prefixes: &[&str], version: &str) -> bool {
    prefixes.iter().any(|prefix| version.starts_with(prefix))
}

fn identity(
    module: &dyn HeapModule,
    version: Option<Arc<str>>,
    tree: &Tree,
    classes: &Classes,
) -> HeapIdentity {
    let versions = tree.layout.versions;
    let quantum = 1_u64.wrapping_shl(classes.lg_quantum);
    let layout =
        format!("table for {versions}, quantum {quantum}, tree of pages at {:x}", tree.root);
    HeapIdentity {
        allocator: NAME,
        version: Some(version.unwrap_or_else(|| versions.into())),
        instance: module.name().into(),
        layout: layout.into(),
        unknown: Vec::new(),
    }
}

/// Its version as it stands among the constants, with the commit that it was built of: `5.3.0-0-g54eaed1d…`.
fn version(space: &dyn AddressSpace, module: &dyn HeapModule) -> Option<Arc<str>> {
    constants(space, module).into_iter().find_map(version_in)
}

fn version_in(bytes: &[u8]) -> Option<Arc<str>> {
    memmem::find_iter(bytes, b"-g").find_map(|at| {
        let commit = bytes.get(at.checked_add(2)?..)?.get(..COMMIT)?;
        let head = bytes.get(at.saturating_sub(VERSION)..at)?;
        let head = head.rsplit(|byte| *byte == 0).next()?;
        let text =
            std::str::from_utf8(head).ok()?.strip_suffix(|last: char| last.is_ascii_digit())?;
        let number = text.trim_end_matches(|last: char| last.is_ascii_digit()).strip_suffix('-')?;
        let parts = number.split('.').filter(|part| part.parse::<u8>().is_ok()).count();
        let is_version =
            parts == 3 && number.split('.').count() == 3 && number.starts_with(['3', '4', '5']);
        (is_version && commit.iter().all(u8::is_ascii_hexdigit)).then(|| number.into())
    })
}

/// How well a table of classes fits what there is.
#[derive(Default)]
struct Fit {
    fits: u32,
    contradicts: u32,
    /// Large extents with a page more than their block, and without.
    padded: u32,
    exact: u32,
}

impl Fit {
    fn score(&self) -> i64 {
        i64::from(self.fits).saturating_sub(i64::from(self.contradicts))
    }

    fn add(&mut self, classes: &Classes, entry: &Entry) {
        let counter = match shown(classes, entry) {
            Shape::Nothing => return,
            Shape::Slab => &mut self.fits,
            Shape::Padded => &mut self.padded,
            Shape::Exact => &mut self.exact,
            Shape::Impossible => &mut self.contradicts,
        };
        *counter = counter.saturating_add(1);
    }
}

/// The classes that the extents show: of a large one the class follows from its pages, and a slab is full of blocks.
fn classes(host: &dyn HeapHost, tree: &Tree) -> Option<Classes> {
    let tables = [Classes::new(4), Classes::new(3)];
    let mut fits = [Fit::default(), Fit::default()];
    let mut seen = 0_u32;
    let everywhere = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));
    let _ = tree.each_entry(host.space(), everywhere, &mut |entry| {
        tables.iter().zip(&mut fits).for_each(|(table, fit)| fit.add(table, &entry));
        seen = seen.saturating_add(1);
        if seen < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    for fit in &mut fits {
        fit.fits = fit.fits.saturating_add(fit.padded).saturating_add(fit.exact);
    }
    // The first of two that fit as well.
    let best = tables.into_iter().zip(fits).rev().max_by_key(|(_, fit)| fit.score())?;
    let (mut classes, fit) = best;
    if fit.exact > fit.padded {
        classes.pad = 0;
    }
    (fit.fits / 8 >= fit.contradicts).then_some(classes)
}

/// What an extent is by a table of classes.
enum Shape {
    Nothing,
    Slab,
    Padded,
    Exact,
    Impossible,
}

fn shown(classes: &Classes, entry: &Entry) -> Shape {
    let extent = &entry.extent;
    if extent.state != ExtentState::Active {
        return Shape::Nothing;
    }
    let Some(size) = classes.size(extent.class) else { return Shape::Impossible };
    let bytes = extent.pages.len();
    match extent.is_slab {
        true if bytes.checked_rem(size) == Some(0) => Shape::Slab,
        // Sampled small blocks show nothing, nor do large ones since 5.3.1.
        false if usize::from(extent.class) < classes.small || size > TELLING => Shape::Nothing,
        false if bytes == size => Shape::Exact,
        false if bytes == size.saturating_add(PAGE) => Shape::Padded,
        _ => Shape::Impossible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Option<String> {
        version_in(text.as_bytes()).map(|version| version.to_string())
    }

    #[test]
    fn versions_stand_before_their_commits() {
        let commit = "54eaed1d8b56b1aa528be3bdd1877e59c56fa90c";
        assert_eq!(version(&format!("abc\x005.3.0-0-g{commit}\0")), Some("5.3.0".to_owned()));
        assert_eq!(version(&format!("\x004.5.0-12-g{commit}\0")), Some("4.5.0".to_owned()));
        assert_eq!(version(&format!("\x006.5.0-12-g{commit}\0")), None);
        assert_eq!(version(&format!("\x005.3.0-0-g{}\0", &commit[1..])), None);
        assert_eq!(version("-g"), None);
    }
}
