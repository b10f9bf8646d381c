//! The index of names that is kept on the disk: one that was damaged must not change an answer.

use std::{
    ops::ControlFlow,
    sync::{Arc, LazyLock, Mutex},
};

use kcore_elf::{Image, Section};
use kcore_symbols::{DebugContext, DebugInfo, DieId, IndexCache};

use crate::input::Input;

/// A program whose index is kept: the seed of `image`.
const PROGRAM: &[u8] = include_bytes!("../seeds/image/tiny");
/// What is asked for.
const NAMES: [&str; 8] =
    ["node", "struct node", "int", "last", "main_of", "walk", "no such name", "{vtable}"];
/// Where the sum of all that follows stands.
const SUM: std::ops::Range<usize> = 12..20;
/// Places that one input damages, at most.
const MAX_DAMAGED: u8 = 16;
/// How a file is made.
const WHOLE: u8 = 1;
const FORGED: u8 = 2;

/// A byte that says how the file is made of the rest: either that is all of it, or places of a good
/// file, each with the bytes that stand there instead. The sum may be made to fit, as if somebody
/// forged it: then no answer is right, but each must come.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let how = input.byte();
    let mut file = if how & WHOLE == 0 { damaged(&mut input) } else { input.rest().to_vec() };
    if how & FORGED != 0 {
        forge(&mut file);
    }
    // Damage does not know what the sum would be.
    let is_forged = how & (FORGED | WHOLE) != 0 || file.get(SUM) != GOOD.get(SUM);
    let is_good = file == *GOOD;
    let (answers, was_used) = asked(file);
    assert!(!is_good || was_used, "a good index is used");
    if !is_forged {
        assert!(is_good || !was_used, "damage is seen");
    }
    if !was_used || is_good {
        assert_eq!(answers, *ANSWERS);
    }
}

/// Some places of a good file, overwritten; a place beyond its end cuts it there or makes it longer.
fn damaged(input: &mut Input<'_>) -> Vec<u8> {
    let mut file = GOOD.clone();
    for _ in 0..input.byte().min(MAX_DAMAGED) {
        let at = usize::from(input.byte()) | usize::from(input.byte()) << 8;
        let bytes = input.part();
        if bytes.is_empty() {
            file.truncate(at);
        }
        let end = at.saturating_add(bytes.len()).min(2 * GOOD.len());
        file.resize(file.len().max(end), 0);
        if let Some(place) = file.get_mut(at..end) {
            place.copy_from_slice(&bytes[..place.len()]);
        }
    }
    file
}

/// Writes the sum of a file into it, as `index/stored.rs` makes it.
fn forge(file: &mut [u8]) {
    let Some((head, rest)) = file.split_at_mut_checked(SUM.end) else { return };
    let (words, odd) = rest.as_chunks::<8>();
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    let sum = words.iter().map(|word| u64::from_le_bytes(*word));
    let sum = sum.fold(rest.len() as u64, mix);
    let sum = odd.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)));
    head[SUM].copy_from_slice(&sum.to_le_bytes());
}

/// What the program has by some names, and all of it.
type Answers = (Vec<[Vec<DieId>; 3]>, Vec<(DieId, String)>);

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (_, stored) = ask(None);
    let mut again = stored.expect("an index is kept");
    forge(&mut again);
    again
});

static ANSWERS: LazyLock<Answers> = LazyLock::new(|| ask(None).0);

/// Asks with a file in the cache; says whether the file was good enough to be used.
fn asked(file: Vec<u8>) -> (Answers, bool) {
    let (answers, stored) = ask(Some(file));
    (answers, stored.is_none())
}

/// Asks, and says what was kept instead of the file.
fn ask(file: Option<Vec<u8>>) -> (Answers, Option<Vec<u8>>) {
    let kept = Arc::new(Kept { file, stored: Mutex::default() });
    let context = DebugContext { split: None, cache: Some(kept.clone()) };
    let image = Image::parse(PROGRAM.to_vec().into()).expect("the seed is ELF");
    let info = Arc::new(DebugInfo::open_with(&image, None, &context));
    let found = |name| {
        let types = info.find_types(name).into_iter().filter_map(|ty| ty.id()).collect();
        [types, info.find_variables(name), info.find_functions(name)]
    };
    let found = NAMES.into_iter().map(found).collect();
    let mut all = Vec::new();
    info.each_type(|id, name| {
        all.push((id, name.to_owned()));
        ControlFlow::Continue(())
    });
    let stored = kept.stored.lock().expect("nobody panicked").take();
    ((found, all), stored)
}

/// A cache of one file.
struct Kept {
    file: Option<Vec<u8>>,
    stored: Mutex<Option<Vec<u8>>>,
}

impl IndexCache for Kept {
    fn load(&self, _: &str) -> Option<Section> {
        self.file.clone().map(Section::from)
    }

    fn store(&self, _: &str, bytes: &[u8]) {
        *self.stored.lock().expect("nobody panicked") = Some(bytes.to_vec());
    }

    fn worth(&self) -> usize {
        0
    }
}
