//! Heap dumps, read by a reader of their own: the format as its description has it, not as kcore writes it.

use std::{collections::BTreeMap, ops::ControlFlow};

use kcore::java::Java;

use crate::{Opened, cases, heap::is_settled};

/// What a dump says.
#[derive(Default)]
struct Dump {
    texts: BTreeMap<u64, String>,
    /// Names of classes, by their ids.
    classes: BTreeMap<u64, String>,
    /// Of each class, its parent, its own fields and the references of its static ones.
    parents: BTreeMap<u64, u64>,
    fields: BTreeMap<u64, Vec<(String, u8)>>,
    statics: BTreeMap<(String, String), u64>,
    /// Objects: their class and the bytes of their fields.
    instances: BTreeMap<u64, (u64, Vec<u8>)>,
    /// Arrays: their length, and the value of the last element.
    arrays: BTreeMap<u64, (u32, u64)>,
    roots: BTreeMap<u8, usize>,
    threads: usize,
    /// Methods and lines of each trace.
    traces: Vec<Vec<(String, i32)>>,
    frames: BTreeMap<u64, (String, i32)>,
    ended: bool,
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn number(&mut self, size: usize) -> u64 {
        self.take(size).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn u1(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn u4(&mut self) -> u32 {
        u32::try_from(self.number(4)).unwrap()
    }

    fn id(&mut self) -> u64 {
        self.number(8)
    }
}

/// The bytes of a type.
fn size(kind: u8) -> usize {
    match kind {
        2 | 7 | 11 => 8,
        4 | 8 => 1,
        5 | 9 => 2,
        6 | 10 => 4,
        other => panic!("type {other}"),
    }
}

impl Dump {
    fn parse(bytes: &[u8]) -> Self {
        let mut dump = Self::default();
        let mut bytes = Bytes(bytes.strip_prefix(b"JAVA PROFILE 1.0.2\0").expect("the format"));
        assert_eq!(bytes.u4(), 8);
        bytes.take(8);
        while !bytes.0.is_empty() {
            let (tag, _, len) = (bytes.u1(), bytes.u4(), bytes.u4());
            dump.record(tag, Bytes(bytes.take(len as usize)));
        }
        dump
    }

    fn record(&mut self, tag: u8, mut body: Bytes<'_>) {
        assert!(!self.ended, "nothing follows the end");
        match tag {
            0x01 => {
                let id = body.id();
                self.texts.insert(id, String::from_utf8(body.0.to_vec()).expect("text"));
            }
            0x02 => {
                body.u4();
                let class = body.id();
                body.u4();
                let name = self.texts[&body.id()].replace('/', ".");
                assert!(self.classes.insert(class, name).is_none(), "each class once");
            }
            0x04 => {
                let (id, name) = (body.id(), body.id());
                body.take(8 + 8 + 4);
                let line = body.u4().cast_signed();
                self.frames.insert(id, (self.texts[&name].clone(), line));
            }
            0x05 => {
                body.take(8);
                let count = body.u4();
                let frames = (0..count).map(|_| self.frames[&body.id()].clone()).collect();
                self.traces.push(frames);
            }
            0x1c => {
                while !body.0.is_empty() {
                    self.part(&mut body);
                }
            }
            0x2c => self.ended = true,
            other => panic!("record {other:#x}"),
        }
    }

    fn part(&mut self, body: &mut Bytes<'_>) {
        let tag = body.u1();
        match tag {
            0x20 => self.class(body),
            0x21 => {
                let id = body.id();
                body.u4();
                let class = body.id();
                let len = body.u4() as usize;
                self.instances.insert(id, (class, body.take(len).to_vec()));
            }
            0x22 => {
                let (id, _, length) = (body.id(), body.u4(), body.u4());
                let class = body.id();
                assert!(self.classes[&class].starts_with('['), "{}", self.classes[&class]);
                let last = (0..length).map(|_| body.id()).last();
                self.arrays.insert(id, (length, last.unwrap_or_default()));
            }
            0x23 => {
                let (id, _, length, kind) = (body.id(), body.u4(), body.u4(), body.u1());
                let last = (0..length).map(|_| body.number(size(kind))).last();
                self.arrays.insert(id, (length, last.unwrap_or_default()));
            }
            root => {
                body.take(match root {
                    0x01 => 16,
                    0x02 | 0x03 | 0x08 => 16,
                    0x05 => 8,
                    other => panic!("part {other:#x}"),
                });
                self.threads += usize::from(root == 0x08);
                *self.roots.entry(root).or_default() += 1;
            }
        }
    }

    fn class(&mut self, body: &mut Bytes<'_>) {
        let class = body.id();
        body.u4();
        self.parents.insert(class, body.id());
        body.take(5 * 8 + 4);
        assert_eq!(body.number(2), 0, "no constants");
        for _ in 0..body.number(2) {
            let (name, kind) = (self.texts[&body.id()].clone(), body.u1());
            let value = body.number(size(kind));
            self.statics.insert((self.classes[&class].clone(), name), value);
        }
        let count = body.number(2);
        let fields = (0..count).map(|_| (self.texts[&body.id()].clone(), body.u1())).collect();
        self.fields.insert(class, fields);
    }

    /// A field of an object.
    fn field(&self, object: u64, wanted: &str) -> u64 {
        let (class, values) = &self.instances[&object];
        let mut bytes = Bytes(values);
        let mut class = *class;
        while class != 0 {
            for (name, kind) in &self.fields[&class] {
                let value = bytes.number(size(*kind));
                if name == wanted {
                    return value;
                }
            }
            class = self.parents[&class];
        }
        panic!("no {wanted}");
    }

    fn of_heap(&self, name: &str) -> u64 {
        self.statics[&("Heap".to_owned(), name.to_owned())]
    }
}

fn written(core: &Opened) -> Dump {
    let java = core.core.runtimes().of::<Java>().next().expect("a machine");
    let mut bytes = Vec::new();
    let told = core.core.write_java_heap(java, &mut bytes, &mut |_, _| ControlFlow::Continue(()));
    let told = told.expect("it is written");
    let dump = Dump::parse(&bytes);
    assert!(dump.ended, "{}", core.name);
    assert_eq!(told.objects as usize, dump.instances.len() + dump.arrays.len(), "{}", core.name);
    assert_eq!(told.classes as usize, dump.classes.len(), "{}", core.name);
    assert_eq!(told.stacks as usize, dump.threads, "{}", core.name);
    dump
}

#[test]
fn a_dump_has_the_objects_of_the_program() {
    for core in cases("java-heap").iter().map(Opened::untold).filter(is_settled) {
        let dump = written(&core);
        let mut chain = Vec::new();
        let mut node = dump.of_heap("chain");
        while node != 0 {
            chain.push(dump.field(node, "id"));
            node = dump.field(node, "next");
        }
        assert_eq!(chain, (0..5000).rev().collect::<Vec<u64>>(), "{}", core.name);
        assert_eq!(dump.arrays[&dump.of_heap("huge")], (500_000, 77), "{}", core.name);
        let shown = dump.of_heap("shown");
        assert_eq!(dump.field(shown, "big").cast_signed(), -9_007_199_254_740_993, "{}", core.name);
        assert_eq!(dump.field(shown, "quarter"), (-0.25_f64).to_bits(), "{}", core.name);
        let color = dump.field(shown, "color");
        assert_eq!(dump.field(color, "ordinal"), 1, "{}", core.name);
        // Every reference of the program's objects leads to something that is in the dump.
        for (id, (class, _)) in &dump.instances {
            if dump.classes[class] == "Heap$Owner" {
                let leaf = dump.field(*id, "leaf");
                assert!(dump.instances.contains_key(&leaf), "{}: {leaf:#x}", core.name);
            }
        }
    }
}

#[test]
fn a_dump_has_the_stacks_of_threads_and_roots() {
    for core in cases("java-heap").iter().map(Opened::untold) {
        let dump = written(&core);
        let main = dump.traces.iter().find(|trace| trace.last().is_some_and(|it| it.0 == "main"));
        let main = main.unwrap_or_else(|| panic!("{}: {:?}", core.name, dump.traces));
        assert!(main[0].0.starts_with("sleep"), "{}: {main:?}", core.name);
        assert!(main.last().is_some_and(|(_, line)| *line > 0), "{}: {main:?}", core.name);
        for kind in [0x01, 0x03, 0x05, 0x08] {
            assert!(dump.roots.contains_key(&kind), "{} {kind}: {:?}", core.name, dump.roots);
        }
    }
}
