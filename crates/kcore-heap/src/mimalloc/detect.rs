//! Finding it, and telling its version.

use super::NAME;
use super::heap::{Mimalloc, Root};
use super::layout::{LAYOUTS, Layout};
use super::lists::FreeBlocks;
use super::map::Map;
use super::page::Page;
use super::segments;
use crate::module_words::holds_text;
use crate::{HeapHost, HeapIdentity, HeapModule, NativeHeap, Refused};

/// What every build prints before its messages.
const TEXT: [&[u8]; 2] = [b"mimalloc: ", b"warning: "];
/// Pages of which count and lists are held against each other to tell the layout.
const SAMPLE: usize = 256;

/// Every copy of it in the process. Segments of 2.x do not say whose they are: of two copies, the first has all.
pub(super) fn detect(host: &dyn HeapHost) -> Vec<Result<Box<dyn NativeHeap>, Refused>> {
    let modules = host.modules();
    let with_it: Vec<&&dyn HeapModule> =
        modules.iter().filter(|module| holds_text(host.space(), **module, TEXT)).collect();
    let mut found: Vec<Result<Box<dyn NativeHeap>, Refused>> = Vec::new();
    let mut has_segments = false;
    for module in with_it {
        match best(host, *module) {
            Some((_, Root::Segments(_))) if has_segments => {}
            Some((layout, root)) => {
                has_segments |= matches!(root, Root::Segments(_));
                found.push(Ok(Box::new(Mimalloc::new(identity(*module, &layout), layout, root))));
            }
            None => found.push(Err(refused(*module))),
        }
    }
    found
}

fn refused(module: &dyn HeapModule) -> Refused {
    Refused {
        allocator: NAME,
        version: None,
        instance: module.name().into(),
        why: "its pages fit no table of layouts: it was never used, its memory is not in the core, too much of it was \
              written over, or its version is not known"
            .into(),
        ranges: Vec::new(),
    }
}

fn identity(module: &dyn HeapModule, layout: &Layout) -> HeapIdentity {
    HeapIdentity {
        allocator: NAME,
        version: Some(layout.versions.into()),
        instance: module.name().into(),
        layout: format!("table for {}, proven by counts and lists of its pages", layout.versions)
            .into(),
        unknown: Vec::new(),
    }
}

/// The layout by which most pages prove themselves, and where they are.
fn best(host: &dyn HeapHost, module: &dyn HeapModule) -> Option<(Layout, Root)> {
    let candidates = LAYOUTS.iter().filter_map(|layout| {
        let root = root(host, module, layout)?;
        let score = score(host, &root.pages(host, layout))?;
        Some((score, layout, root))
    });
    // The first of two that prove themselves as well.
    let best = candidates.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some((*best.1, best.2))
}

fn root(host: &dyn HeapHost, module: &dyn HeapModule, layout: &Layout) -> Option<Root> {
    match &layout.segment {
        Some(own) => {
            let found = segments::find(host, layout, own);
            (!found.is_empty()).then_some(Root::Segments(found))
        }
        None => Map::find(host, module, layout).map(Root::Map),
    }
}

/// Pages of a sample that prove themselves; `None` where more than one of eight does not, or no page shows anything.
fn score(host: &dyn HeapHost, pages: &[Page]) -> Option<usize> {
    let step = pages.len().div_ceil(SAMPLE).max(1);
    let (mut proven, mut told, mut looked_at, mut torn) = (0_usize, 0_usize, 0_usize, 0_usize);
    for page in pages.iter().step_by(step) {
        let blocks = FreeBlocks::of(host.space(), page);
        looked_at = looked_at.saturating_add(1);
        torn = torn.saturating_add(usize::from(blocks.broken.is_some()));
        proven = proven.saturating_add(usize::from(blocks.agree(page)));
        // A list of more than one block shows how links are kept.
        told = told.saturating_add(usize::from(blocks.agree(page) && blocks.count() > 1));
    }
    // Of few pages, one may be torn, if another one shows how links are kept.
    let one_is_torn = torn == 1 && told > 0 && proven.saturating_add(1) >= looked_at;
    (proven > 0 && (one_is_torn || proven >= looked_at.saturating_sub(looked_at / 8)))
        .then_some(proven.saturating_add(told))
}
