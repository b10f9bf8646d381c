//! Objects made up in memory, healthy and damaged.

use kcore_mem::{Addr, AddressSpace, Fault, Origin, Region, Target};

use super::{
    Function, Heap, Layout, Script, Tagged, Version,
    frame::{FrameSlots, Shape},
    heap::Object,
    layout::Column,
    read_only::{self, Pointers},
    value::{ElementContent, ValueKind},
};

const BASE: u64 = 0x10_0000;

/// A heap of V8 11.3 that is written word by word.
struct Made {
    bytes: Vec<u8>,
    layout: Layout,
    meta: u64,
}

impl AddressSpace for Made {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let offset = at.get().checked_sub(BASE).ok_or(Fault::Unmapped(at))?;
        let rest = self.bytes.get(offset as usize..).filter(|rest| !rest.is_empty());
        rest.ok_or(Fault::NotDumped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

const fn tag(at: u64) -> u64 {
    at | 1
}

const fn smi(value: u64) -> u64 {
    value << 32
}

impl Made {
    fn new() -> Self {
        let column = Column::of(Version::new([11, 3, 244, 8])).unwrap();
        let layout = Layout::load(column, &|_| None);
        let mut made = Self { bytes: Vec::new(), layout, meta: BASE };
        let meta = made.map(layout.types.map);
        assert_eq!(meta, BASE);
        made
    }

    fn heap(&self) -> Heap<'_> {
        Heap { space: self, layout: &self.layout, maps: None }
    }

    fn words(&mut self, words: &[u64]) -> u64 {
        let at = BASE + self.bytes.len() as u64;
        self.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        at
    }

    fn set(&mut self, at: u64, word: u64) {
        let offset = (at - BASE) as usize;
        self.bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
    }

    fn map(&mut self, kind: u64) -> u64 {
        let meta = tag(self.meta);
        self.words(&[meta, kind << 32, 0, 0, 0, 0, 0, 0, 0])
    }

    /// An object of a type: its fields behind a map of its own.
    fn object(&mut self, kind: u64, fields: &[u64]) -> u64 {
        let map = self.map(kind);
        let at = self.words(&[tag(map)]);
        self.words(fields);
        at
    }

    /// A sequential string: Latin-1 where it fits.
    fn string(&mut self, text: &str) -> u64 {
        let units: Vec<u16> = text.encode_utf16().collect();
        let one_byte = units.iter().all(|unit| *unit < 0x100);
        let mut bytes: Vec<u8> = match one_byte {
            true => units.iter().map(|unit| *unit as u8).collect(),
            false => units.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
        };
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let chars: Vec<u64> =
            bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        let kind = if one_byte { 8 } else { 0 };
        let at = self.object(kind, &[smi(units.len() as u64)]);
        self.words(&chars);
        at
    }

    fn load(&self, at: u64) -> Object {
        self.heap().object_at(Addr::new(at)).expect("an object")
    }

    fn text(&self, at: u64) -> String {
        self.heap().text(self.load(at), 1 << 20).expect("a string")
    }
}

#[test]
fn strings_are_put_together_from_what_they_consist_of() {
    let mut made = Made::new();
    let (first, second) = (made.string("größe "), made.string("→ 𝒳!"));
    let cons = made.object(1, &[smi(11), tag(first), tag(second)]);
    let sliced = made.object(3, &[smi(4), tag(cons), smi(4)]);
    let thin = made.object(5, &[smi(4), tag(sliced)]);
    assert_eq!(made.text(cons), "größe → 𝒳!");
    assert_eq!((made.text(sliced), made.text(thin)), ("e → ".to_owned(), "e → ".to_owned()));
    assert_eq!(made.heap().text(made.load(cons), 7).unwrap(), "größe →");
}

#[test]
fn a_string_that_holds_itself_ends() {
    let mut made = Made::new();
    let cons = made.object(1, &[smi(1000), 0, 0]);
    made.set(cons + 16, tag(cons));
    made.set(cons + 24, tag(cons));
    assert_eq!(made.text(cons), "");
    let thin = made.object(5, &[smi(1000), 0]);
    made.set(thin + 16, tag(thin));
    assert_eq!(made.text(thin), "");
}

#[test]
fn a_length_that_lies_costs_no_memory() {
    let mut made = Made::new();
    let string = made.object(8, &[smi(0x7fff_ffff), u64::from_le_bytes(*b"abcdefgh")]);
    assert_eq!(made.heap().text(made.load(string), u64::MAX).unwrap(), "abcdefgh");
    let array = made.object(made.layout.types.fixed_array, &[smi(1_000_000_000), 0]);
    assert_eq!(made.heap().length(made.load(array)), None);
}

#[test]
fn a_dictionary_is_looked_through_as_far_as_memory_goes() {
    let mut made = Made::new();
    let capacity = smi(1 << 27);
    let table = made.object(made.layout.types.fixed_array, &[smi(1 << 28), 0, 0, capacity, 0, 0]);
    assert_eq!(made.heap().capacity(made.load(table)), Some(5));
}

#[test]
fn elements_that_were_not_dumped_are_no_holes() {
    let mut made = Made::new();
    let array = made.object(made.layout.types.array, &[0, 0, smi(1000)]);
    let store = made.object(made.layout.types.fixed_array, &[smi(1000), smi(1), smi(2)]);
    made.set(array + 16, tag(store));
    let (elements, is_cut) = made.heap().elements(made.load(array), 10);
    let missing = ElementContent::Bare(ValueKind::Unreadable("address was not dumped"));
    assert_eq!(elements[2..], [(2, missing.clone())]);
    assert!(is_cut && elements[1] == (1, ElementContent::Word(smi(2))));

    made.set(array + 16, tag(0xdead_0000));
    let (elements, is_cut) = made.heap().elements(made.load(array), 10);
    assert!(
        matches!(elements[..], [(0, ElementContent::Bare(ValueKind::Unreadable(_)))]) && is_cut
    );
}

#[test]
fn what_has_no_map_of_maps_is_no_object() {
    let mut made = Made::new();
    let string = made.string("text");
    let map = made.heap().word(Addr::new(string), 0).unwrap() & !3;
    assert!(made.heap().object(Tagged::of(tag(string))).is_some());
    made.set(map, 0x4141_4141_4141_4141);
    assert_eq!(made.heap().object(Tagged::of(tag(string))), None);
    assert_eq!(made.heap().object(Tagged::of(tag(0xdead_0000))), None, "nothing lies there");
    assert_eq!(made.heap().object(Tagged::of(smi(7))), None);
}

/// A function of this name in a script of two lines, and where it lies.
fn function(made: &mut Made, name: &str) -> u64 {
    let types = made.layout.types;
    let (source, file) = (made.string("first\nsecond line\n"), made.string("/app/index.js"));
    let script = made
        .object(types.script, &[tag(source), tag(file), smi(0), smi(0), 0, 0, smi(0), smi(7), 0]);
    let name = made.string(name);
    let flags = 0;
    let shared = made.object(types.shared, &[0, tag(name), 0, tag(script), 0, flags]);
    made.object(types.first_function, &[0, 0, tag(shared), 0, 0, 0, 0])
}

#[test]
fn a_function_has_the_name_of_its_source_and_a_place() {
    let mut made = Made::new();
    let at = function(&mut made, "handler");
    let heap = made.heap();
    let function = Function::load(&heap, Tagged::of(tag(at))).expect("a function");
    assert_eq!(function.name(&heap).as_deref(), Some("handler"));
    let script = function.shared.script(&heap).expect("a script");
    assert_eq!(script.name(&heap).as_deref(), Some("/app/index.js"));
    let place = |offset| script.place(&heap, offset).map(|place| (place.line, place.column));
    assert_eq!([place(0), place(5), place(6)], [Some((1, 1)), Some((1, 6)), Some((2, 1))]);
}

#[test]
fn a_table_of_line_ends_counts_before_the_source() {
    let mut made = Made::new();
    let at = function(&mut made, "handler");
    let ends = made.object(made.layout.types.fixed_array, &[smi(3), smi(5), smi(17), smi(18)]);
    let script = {
        let heap = made.heap();
        let shared = heap.field(Addr::new(at), 24).unwrap();
        heap.field(shared.at, 32).unwrap().at
    };
    made.set(script.get() + 56, tag(ends));
    let heap = made.heap();
    let script = Script::load(&heap, heap.object_at(script).unwrap()).unwrap();
    let place = |offset| script.place(&heap, offset).map(|place| (place.line, place.column));
    assert_eq!([place(5), place(6), place(18)], [Some((1, 6)), Some((2, 1)), Some((3, 1))]);
}

#[test]
fn frames_are_told_by_what_lies_in_them() {
    let mut made = Made::new();
    let at = function(&mut made, "handler");
    let context = made.object(made.layout.types.first_context, &[smi(0)]);
    // The offset in bytecode, the bytecode, the count of arguments, the function, the context, and what
    // every frame has; then the receiver and an argument.
    let frame = made.words(&[0, 0, 2, tag(at), tag(context), 0, 0, smi(1), smi(42)]) + 40;
    let slots = FrameSlots(Addr::new(frame));
    assert!(matches!(slots.shape(&made.heap()), Shape::Function(_)));
    assert_eq!(slots.receiver(&made.heap()), Some(Tagged::Smi(1)));
    assert_eq!(slots.arguments(&made.heap()), [Tagged::Smi(42)]);

    made.set(frame - 8, 19 << 1);
    assert_eq!(slots.shape(&made.heap()), Shape::Typed(19));
    made.set(frame - 8, tag(context));
    made.set(frame - 16, tag(0xdead_0000));
    assert_eq!(slots.shape(&made.heap()), Shape::Unreadable);
    assert_eq!(slots.doubt(&made.heap()), "address was not dumped");
    made.set(frame - 16, 0x1234);
    assert_eq!(slots.shape(&made.heap()), Shape::Unknown);
}

#[test]
fn arguments_end_with_the_stack() {
    let mut made = Made::new();
    let frame = made.words(&[0, 0, u64::MAX, 0, 0, 0, 0, smi(1), smi(42)]) + 40;
    assert_eq!(FrameSlots(Addr::new(frame)).arguments(&made.heap()).len(), 1);
}

#[test]
fn positions_are_found_by_the_last_entry_before() {
    let mut made = Made::new();
    // Offset 0 at 10, and 5 bytes on, an expression, at 4; positions are doubled, and one more.
    let entry = |code: i64, position: i64| {
        let zigzag = |value: i64| ((value << 1) ^ (value >> 63)) as u8;
        [zigzag(code), zigzag(position)]
    };
    let mut table = entry(1, 22).to_vec();
    table.extend(entry(!5, -12));
    table.resize(8, 0);
    let word = u64::from_le_bytes(table.try_into().unwrap());
    let at = made.object(made.layout.types.byte_array, &[smi(4), word]);
    let heap = made.heap();
    let table = made.load(at);
    let offset = |at| heap.position_at(table, at).and_then(|position| position.script_offset());
    assert_eq!(
        [offset(0), offset(4), offset(5), offset(90)],
        [Some(10), Some(10), Some(4), Some(4)]
    );
}

#[test]
fn a_read_only_heap_is_known_by_its_map_of_maps_and_undefined() {
    let mut made = Made::new();
    let text = made.string("undefined");
    let undefined = made.object(made.layout.types.oddball, &[0, tag(text)]);
    let page = Addr::new(BASE);
    assert_eq!(read_only::in_page(&made, page), None, "a map refers to a prototype");
    for offset in [24, 32, 40] {
        made.set(BASE + offset, tag(undefined));
    }
    let found = read_only::in_page(&made, page).expect("a map of maps");
    assert_eq!((found.kind, found.pointers), (made.layout.types.map, Pointers::Whole));
    assert!(found.fits(&made.heap()));
    made.set(undefined + 16, tag(undefined));
    assert!(!found.fits(&made.heap()), "no text of it");
    made.set(BASE, 0);
    assert_eq!(read_only::in_page(&made, page), None);
}

#[test]
fn compressed_pointers_are_seen_in_the_map_of_maps() {
    let mut made = Made::new();
    let at = BASE + 0x200;
    made.bytes = vec![0; 0x200];
    let parts = [at as u32 | 1, 0, 254, 0, 9, 9, 9, 9, 0, 0];
    made.bytes.extend(parts.iter().flat_map(|part| part.to_le_bytes()));
    let found = read_only::in_page(&made, Addr::new(BASE)).expect("a map of maps");
    assert_eq!((found.at, found.kind), (Addr::new(at), 254));
    assert_eq!(found.pointers, Pointers::Compressed);
    assert!(!found.fits(&made.heap()), "it is not decoded");
    made.bytes.truncate(0x210);
    assert_eq!(read_only::in_page(&made, Addr::new(BASE)), None, "cut short");
}
