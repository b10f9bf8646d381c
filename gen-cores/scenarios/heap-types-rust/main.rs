//! heap-types-rust: blocks that containers, boxes and enumerations of Rust own. types.txt has for each its address, how its
//! type stands in it, and what its name has in it.
#![allow(dead_code)]

#[path = "../../include/truth.rs"]
mod truth;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fs::File,
    hash::{BuildHasherDefault, DefaultHasher},
    hint::black_box,
    io::Write,
    rc::Rc,
    sync::{Arc, atomic::{AtomicPtr, Ordering}},
};

use truth::{call, die};

type Fixed = BuildHasherDefault<DefaultHasher>;

struct Leaf {
    weight: [u64; 5],
}

struct Node {
    next: Option<Box<Node>>,
    leaf: Option<Box<Leaf>>,
    id: u64,
}

enum Shape {
    Circle { radius: f64 },
    Named { name: String, leaf: Box<Leaf> },
    Empty,
}

struct Store {
    head: Option<Box<Node>>,
    numbers: Vec<u32>,
    leaves: Vec<Box<Leaf>>,
    text: String,
    texts: Vec<String>,
    table: HashMap<u32, Box<Leaf>, Fixed>,
    tree: BTreeMap<u32, u64>,
    ring: VecDeque<u16>,
    shapes: Vec<Shape>,
    shared: Arc<Leaf>,
    counted: Rc<Vec<u64>>,
}

static STORE: AtomicPtr<Store> = AtomicPtr::new(std::ptr::null_mut());

fn tell<T: ?Sized>(out: &mut File, at: *const T, role: &str, name: &str) {
    writeln!(out, "{:x} {role} {name}", at.cast::<u8>() as usize).expect("it is written");
}

fn leaf(out: &mut File) -> Box<Leaf> {
    let leaf = Box::new(Leaf { weight: [7; 5] });
    tell(out, &raw const *leaf, "object", "Leaf");
    leaf
}

fn list(out: &mut File) -> Option<Box<Node>> {
    let mut head = None;
    for id in 0..500 {
        let leaf = (id % 50 == 0).then(|| leaf(out));
        let node = Box::new(Node { next: head, leaf, id });
        tell(out, &raw const *node, "object", "Node");
        head = Some(node);
    }
    head
}

fn make(out: &mut File) -> Store {
    let store = Store {
        head: list(out),
        numbers: (0..400).collect(),
        leaves: (0..20).map(|_| leaf(out)).collect(),
        text: "t".repeat(90),
        texts: (0..10).map(|_| "u".repeat(50)).collect(),
        table: (0..40).map(|key| (key, leaf(out))).collect(),
        tree: (0..200).map(|key| (key, u64::from(key))).collect(),
        ring: (0..300).collect(),
        shapes: vec![
            Shape::Circle { radius: 1.0 },
            Shape::Named { name: "n".repeat(70), leaf: leaf(out) },
            Shape::Empty,
        ],
        shared: Arc::new(Leaf { weight: [8; 5] }),
        counted: Rc::new((0..100).collect()),
    };
    tell(out, store.numbers.as_ptr(), "part", "Vec<u32");
    tell(out, store.leaves.as_ptr(), "part", "Vec<alloc::boxed::Box<heap_types_rust::Leaf");
    tell(out, store.text.as_ptr(), "part", "String");
    tell(out, store.texts.as_ptr(), "part", "Vec<alloc::string::String");
    for text in &store.texts {
        tell(out, text.as_ptr(), "part", "String");
    }
    if let Some(value) = store.tree.get(&100) {
        tell(out, value, "part", "BTreeMap<u32");
    }
    if let Some(value) = store.table.get(&7) {
        tell(out, value, "part", "HashMap<u32");
    }
    tell(out, store.ring.as_slices().0.as_ptr(), "part", "VecDeque<u16");
    tell(out, store.shapes.as_ptr(), "part", "Vec<heap_types_rust::Shape");
    if let Some(Shape::Named { name, .. }) = store.shapes.get(1) {
        tell(out, name.as_ptr(), "part", "String");
    }
    tell(out, Arc::as_ptr(&store.shared), "object", "ArcInner<heap_types_rust::Leaf");
    tell(out, store.counted.as_ptr(), "part", "Vec<u64");
    store
}

#[inline(never)]
fn deepest(store: &Store) -> usize {
    let bad = black_box(8 as *mut u32);
    die!("deepest", unsafe { *bad = store.numbers.len() as u32 });
    store.numbers.len()
}

fn main() {
    let mut out = File::create("types.txt").expect("a file");
    let store = Box::new(make(&mut out));
    tell(&mut out, &raw const *store, "object", "Store");
    STORE.store(Box::into_raw(store), Ordering::SeqCst);
    let store = unsafe { &*STORE.load(Ordering::SeqCst) };
    black_box(call!("main", deepest(store)));
}
