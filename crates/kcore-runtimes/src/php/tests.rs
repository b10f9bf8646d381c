//! Arrays, strings and calls that are written word by word, whole and damaged.

use kcore_mem::{Addr, AddressSpace, Fault, Origin, Region, Target};

use super::{
    array::{Elements, Key},
    frame::Chain,
    layout::Layout,
    memory::{Memory, Value},
};

const BASE: u64 = 0x1000;

/// Words from an address on.
struct Words(Vec<u8>);

impl AddressSpace for Words {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let skip = at.get().checked_sub(BASE).map(|skip| skip as usize);
        let bytes = skip.and_then(|skip| self.0.get(skip..));
        bytes.filter(|bytes| !bytes.is_empty()).ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

/// Memory of 4 KiB with words at offsets.
fn with<T>(version: (u8, u8), words: &[(u64, u64)], ask: impl FnOnce(&Memory<'_>) -> T) -> T {
    let mut all = vec![0_u8; 4096];
    for (offset, word) in words {
        let offset = *offset as usize;
        all[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
    }
    let layout = Layout::of(version).expect("it is known");
    ask(&Memory { space: &Words(all), layout })
}

fn elements(version: (u8, u8), words: &[(u64, u64)]) -> Option<Vec<(Key, u64)>> {
    with(version, words, |memory| {
        let all = Elements::of(memory, Addr::new(BASE))?;
        Some(all.map(|(key, value, _)| (key, value.word)).collect())
    })
}

const COUNTS: u64 = 2 | 2 << 32;

#[test]
fn lists_have_values_alone_since_8_2() {
    let list = [(8, 4), (16, BASE + 64), (24, COUNTS), (64, 5), (72, 4), (80, 6), (88, 4)];
    let (first, second) = (Key::Index(0), Key::Index(1));
    assert_eq!(elements((8, 2), &list), Some(vec![(first.clone(), 5), (second.clone(), 6)]));
    let old =
        [(8, 4), (16, BASE + 64), (24, COUNTS), (64, 5), (72, 4), (96, 6), (104, 4), (112, 1)];
    assert_eq!(elements((7, 4), &old), Some(vec![(first, 5), (second, 6)]));
}

#[test]
fn what_was_removed_is_passed_and_references_are_followed() {
    // Two buckets: one that is free, and one with a key that is a reference to 7.
    let map = [
        (16, BASE + 64),
        (24, 2 | 1 << 32),
        (96, BASE + 256),
        (104, 10),
        (120, BASE + 512),
        (264, 7),
        (272, 4),
    ];
    let key = Key::Name(Addr::new(BASE + 512));
    assert_eq!(elements((8, 4), &map), Some(vec![(key, 7)]));
}

#[test]
fn counts_that_cannot_be_are_refused() {
    // More elements than places; more places than memory.
    assert_eq!(elements((8, 4), &[(16, BASE + 64), (24, 1 | 2 << 32)]), None);
    assert_eq!(elements((8, 4), &[(16, BASE + 64), (24, u64::MAX)]), None);
    let beyond = [(8, 4), (16, BASE + 4080), (24, COUNTS), (4080, 5), (4088, 4)];
    assert_eq!(elements((8, 4), &beyond).map(|all| all.len()), Some(1));
    // A reference to itself ends what is told.
    let circle = [(8, 4), (16, BASE + 64), (24, COUNTS), (64, BASE + 56), (72, 10)];
    assert_eq!(elements((8, 4), &circle), Some(Vec::new()));
}

#[test]
fn strings_are_as_long_as_they_say() {
    let text = |length| {
        let letters = u64::from_le_bytes(*b"abcdefgh");
        with((8, 4), &[(16, length), (24, letters)], |memory| memory.text(Addr::new(BASE)))
    };
    assert_eq!(text(3).as_deref(), Some("abc"));
    assert_eq!((text(0).as_deref(), text(1 << 40), text(4096)), (Some(""), None, None));
}

/// A call of a method and the file that calls it, in 8.4: calls at 0 and 160, functions at 512 and 768, instructions at 1024.
fn calls() -> Vec<(u64, u64)> {
    let at = |offset: u64| BASE + offset;
    vec![
        (0, at(1024)),
        (24, at(512)),
        (32, at(1536)),
        (40, 2 << 16 | 8),
        (48, at(160)),
        (160, at(1056)),
        (184, at(768)),
        (200, 2 << 16),
        (512, 2),
        (520, at(1280)),
        (528, at(1408)),
        (608, 2),
        (616, at(1024)),
        (768, 2),
        (864, 2),
        (872, at(1024)),
        (1048, 7 | 62 << 32),
        (1080, 9 | 60 << 32),
        (1296, 3),
        (1304, u64::from_le_bytes(*b"pay\0\0\0\0\0")),
        (1416, at(1440)),
        (1456, 7),
        (1464, u64::from_le_bytes(*b"Account\0")),
    ]
}

fn chain(words: &[(u64, u64)]) -> Chain {
    with((8, 4), words, |memory| memory.chain(Addr::new(BASE), None))
}

fn told(chain: &Chain) -> Vec<(&str, Option<u32>)> {
    let all = chain.frames.iter();
    all.map(|frame| {
        let line = frame.code.as_ref().and_then(|code| code.line);
        (frame.name.as_deref().unwrap_or("?"), line)
    })
    .collect()
}

#[test]
fn calls_have_class_name_and_line() {
    let whole = chain(&calls());
    assert_eq!(told(&whole), [("Account->pay", Some(7)), ("{main}", Some(9))]);
    assert_eq!((whole.broken, whole.frames[1].is_top), (None, true));
    // The file includes what it calls.
    let mut including = calls();
    including.extend([(520, 0), (1080, 9 | 73 << 32), (1072, 8 << 32)]);
    assert_eq!(told(&chain(&including))[0], ("require", Some(7)));
}

#[test]
fn chains_that_are_damaged_say_so() {
    let with_word = |offset, word| {
        let mut words = calls();
        words.push((offset, word));
        let chain = chain(&words);
        (chain.frames.len(), chain.broken.is_some())
    };
    // A circle; a call nowhere; a function of no kind; a function nowhere.
    assert_eq!(with_word(208, BASE), (2, true));
    assert_eq!(with_word(48, 0x9999_9998), (1, true));
    assert_eq!(with_word(768, 9), (1, true));
    assert_eq!(with_word(184, 0x9999_9998), (1, true));
}

#[test]
fn values_lead_to_objects_of_their_type_alone() {
    let value = Value { kind: 8, word: BASE };
    assert_eq!((value.object(8), value.object(7)), (Some(Addr::new(BASE)), None));
    assert_eq!(Value { kind: 8, word: 1 }.object(8), None);
}
