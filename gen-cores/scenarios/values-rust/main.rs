//! values-rust: values of every kind of type that Rust and its library have, in statics and locals. The program tells all
//! of them in values.jsonl, then it dies.
#![allow(static_mut_refs, dead_code)]

#[path = "../../include/truth.rs"]
mod truth;
mod tell;

use std::borrow::Cow;
use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CString, OsString};
use std::future::Future;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;
use std::marker::PhantomData;
use std::num::{NonZeroI64, NonZeroU32};
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, RwLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tell::{Tell, inside, members, pointer, quoted, variant};
use truth::{call, die};

type Fixed = BuildHasherDefault<DefaultHasher>;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Point {
    x: i32,
    y: i32,
}
struct Unit;
struct Meters(f64);
struct Pair<A, B> {
    a: A,
    b: B,
}
struct Tagged<T> {
    id: u16,
    kind: PhantomData<T>,
}

#[derive(Clone, Copy)]
enum Color {
    Red,
    Green,
    Blue,
}
#[repr(i16)]
#[derive(Clone, Copy)]
enum Signed {
    Minus = -300,
    Plus = 300,
}
enum Shape {
    Circle { radius: f64 },
    Square(u32),
    Line(Point, Point),
    Nothing,
}
enum Niche {
    Flag(bool),
    First,
    Second,
}
enum Wide {
    Small(u8),
    Large(u128),
}
enum Single {
    Only(i32),
}
#[repr(u8)]
enum Explicit {
    A(u32) = 10,
    B = 20,
}
enum Nested {
    Inner(Shape),
    Text(String),
    Empty,
}
enum Tree {
    Leaf(i32),
    Branch(Box<Tree>, Box<Tree>),
}
union Either {
    whole: u32,
    real: f32,
}

trait Animal {
    fn noise(&self) -> u32;
}
struct Dog {
    age: u32,
}
struct Cat {
    lives: u8,
}
#[repr(align(64))]
struct Aligned {
    wide: u64,
}
impl Animal for Dog {
    fn noise(&self) -> u32 {
        self.age
    }
}
impl Animal for Aligned {
    fn noise(&self) -> u32 {
        self.wide as u32 * 3
    }
}
impl Animal for Cat {
    fn noise(&self) -> u32 {
        u32::from(self.lives)
    }
}
struct Node {
    number: u32,
    next: RefCell<Option<Rc<Node>>>,
    owner: RefCell<Weak<Node>>,
}

macro_rules! tell_members {
    ($type:ty: $($member:ident),*) => {
        impl Tell for $type {
            fn tell(&self) -> String {
                members(&[$((stringify!($member), &self.$member)),*])
            }
        }
    };
}
tell_members!(Point: x, y);
tell_members!(Pair<u8, &'static str>: a, b);
tell_members!(Pair<Point, Option<char>>: a, b);
tell_members!(Tagged<String>: id);
tell_members!(Dog: age);

impl Tell for Unit {
    fn tell(&self) -> String {
        "{\"empty\":true}".to_owned()
    }
}
impl Tell for Meters {
    fn tell(&self) -> String {
        tell::tuple(&[&self.0])
    }
}
impl Tell for Color {
    fn tell(&self) -> String {
        let name = ["Red", "Green", "Blue"][*self as usize];
        format!("{{\"enum\":\"{}\",\"symbol\":\"{name}\"}}", *self as u8)
    }
}
impl Tell for Signed {
    fn tell(&self) -> String {
        let name = if (*self as i16) < 0 { "Minus" } else { "Plus" };
        format!("{{\"enum\":\"{}\",\"symbol\":\"{name}\"}}", *self as i16)
    }
}
impl Tell for Shape {
    fn tell(&self) -> String {
        match self {
            Shape::Circle { radius } => {
                format!("{{\"variant\":\"Circle\",{}", &members(&[("radius", radius)])[1..])
            }
            Shape::Square(side) => variant("Square", &[side]),
            Shape::Line(from, to) => variant("Line", &[from, to]),
            Shape::Nothing => variant("Nothing", &[]),
        }
    }
}
impl Tell for Niche {
    fn tell(&self) -> String {
        match self {
            Niche::Flag(flag) => variant("Flag", &[flag]),
            Niche::First => variant("First", &[]),
            Niche::Second => variant("Second", &[]),
        }
    }
}
impl Tell for Wide {
    fn tell(&self) -> String {
        match self {
            Wide::Small(part) => variant("Small", &[part]),
            Wide::Large(part) => variant("Large", &[part]),
        }
    }
}
impl Tell for Single {
    fn tell(&self) -> String {
        let Single::Only(part) = self;
        variant("Only", &[part])
    }
}
impl Tell for Explicit {
    fn tell(&self) -> String {
        match self {
            Explicit::A(part) => variant("A", &[part]),
            Explicit::B => variant("B", &[]),
        }
    }
}
impl Tell for Nested {
    fn tell(&self) -> String {
        match self {
            Nested::Inner(part) => variant("Inner", &[part]),
            Nested::Text(part) => variant("Text", &[part]),
            Nested::Empty => variant("Empty", &[]),
        }
    }
}
impl Tell for Tree {
    fn tell(&self) -> String {
        match self {
            Tree::Leaf(part) => variant("Leaf", &[part]),
            Tree::Branch(left, right) => variant("Branch", &[left, right]),
        }
    }
}

/// Statics that are filled when the program runs, and functions that fill and tell all of them.
macro_rules! statics {
    ($group:ident: $($name:ident: $type:ty = $start:expr $(=> $later:expr)?;)*) => {
        $(#[used] static mut $name: $type = $start;)*
        fn $group() {
            unsafe {
                $($($name = $later;)?)*
                $(tell::line(concat!("values_rust::", stringify!($name)), None, &$name.tell());)*
            }
        }
    };
}

statics! { scalars:
    I8: i8 = -128;
    I16: i16 = -30000;
    I32: i32 = i32::MIN;
    I64: i64 = i64::MIN;
    I128: i128 = -(1 << 100) + 1;
    ISIZE: isize = -5;
    U8: u8 = 255;
    U16: u16 = 65535;
    U32: u32 = 4_000_000_000;
    U64: u64 = u64::MAX;
    U128: u128 = u128::MAX;
    USIZE: usize = 77;
    TRUE: bool = true;
    FALSE: bool = false;
    LETTER: char = 'x';
    EURO: char = '€';
    SMILE: char = '\u{1f600}';
    F32: f32 = -0.15625;
    F64: f64 = std::f64::consts::PI;
    INFINITE: f64 = f64::INFINITY;
    NAN: f64 = f64::NAN;
    UNIT: () = ();
    UNIT_STRUCT: Unit = Unit;
    NON_ZERO: NonZeroU32 = NonZeroU32::new(9).unwrap();
    POINT: Point = Point { x: 3, y: -4 };
    METERS: Meters = Meters(1.5);
    PAIR: Pair<u8, &'static str> = Pair { a: 1, b: "pair" };
    PAIR_OF_MORE: Pair<Point, Option<char>> = Pair { a: Point { x: 1, y: 2 }, b: Some('c') };
    TAGGED: Tagged<String> = Tagged { id: 5, kind: PhantomData };
    TUPLE: (i32, &'static str) = (1, "two");
    TRIPLE: (u8, (bool, char), f32) = (1, (true, 'z'), 0.5);
}

statics! { enums:
    COLOR: Color = Color::Blue;
    COLOR_RED: Color = Color::Red;
    COLOR_GREEN: Color = Color::Green;
    SIGNED: Signed = Signed::Minus;
    SIGNED_PLUS: Signed = Signed::Plus;
    CIRCLE: Shape = Shape::Circle { radius: 2.5 };
    SQUARE: Shape = Shape::Square(7);
    LINE: Shape = Shape::Line(Point { x: 1, y: 2 }, Point { x: 3, y: 4 });
    NOTHING: Shape = Shape::Nothing;
    NICHE_FLAG: Niche = Niche::Flag(true);
    NICHE_FIRST: Niche = Niche::First;
    NICHE_SECOND: Niche = Niche::Second;
    WIDE_SMALL: Wide = Wide::Small(8);
    WIDE_LARGE: Wide = Wide::Large(1 << 100);
    SINGLE: Single = Single::Only(-1);
    EXPLICIT_A: Explicit = Explicit::A(1);
    EXPLICIT_B: Explicit = Explicit::B;
    NESTED_INNER: Nested = Nested::Inner(Shape::Square(3));
    NESTED_TEXT: Nested = Nested::Empty => Nested::Text("nested".to_owned());
    NESTED_EMPTY: Nested = Nested::Empty;
    TREE: Tree = Tree::Leaf(1) => Tree::Branch(Box::new(Tree::Leaf(2)), Box::new(Tree::Leaf(3)));
    OPTION_NONE: Option<u32> = None;
    OPTION_SOME: Option<u32> = Some(42);
    OPTION_OPTION_NONE: Option<Option<bool>> = None;
    OPTION_SOME_NONE: Option<Option<bool>> = Some(None);
    OPTION_SOME_SOME: Option<Option<bool>> = Some(Some(true));
    OPTION_BOX: Option<Box<i32>> = None => Some(Box::new(7));
    OPTION_NO_BOX: Option<Box<i32>> = None;
    OPTION_STR: Option<&'static str> = Some("a str");
    OPTION_NO_STR: Option<&'static str> = None;
    OPTION_NON_ZERO: Option<NonZeroU32> = NonZeroU32::new(5);
    OPTION_NO_NON_ZERO: Option<NonZeroI64> = None;
    OPTION_CHAR: Option<char> = Some('€');
    OPTION_NO_CHAR: Option<char> = None;
    OPTION_STRING: Option<String> = None => Some("owned".to_owned());
    OPTION_NO_STRING: Option<String> = None;
    OPTION_U128: Option<u128> = Some(u128::MAX);
    OPTION_TUPLE: Option<(i32, bool)> = Some((1, true));
    RESULT_OK: Result<u8, String> = Ok(1);
    RESULT_ERR: Result<u8, String> = Ok(0) => Err("an error".to_owned());
    RESULT_UNIT: Result<(), Color> = Err(Color::Green);
}

statics! { texts:
    STR: &str = "a str";
    STR_EMPTY: &str = "";
    STR_UTF8: &str = "grüß €";
    STRING_EMPTY: String = String::new();
    STRING: String = String::new() => "a string".to_owned();
    STRING_LONG: String = String::new() => "long ".repeat(60);
    STRING_NUL: String = String::new() => "a\0b\"\\\n".to_owned();
    BOX_STR: Option<Box<str>> = None => Some("boxed".into());
    RC_STR: Option<Rc<str>> = None => Some("counted".into());
    COW_BORROWED: Cow<'static, str> = Cow::Borrowed("borrowed");
    COW_OWNED: Cow<'static, str> = Cow::Borrowed("") => Cow::Owned("owned".to_owned());
    PATH: Option<PathBuf> = None => Some(PathBuf::from("/usr/share/doc"));
    OS_STRING: Option<OsString> = None => Some(OsString::from("os string"));
    C_STRING: Option<CString> = None => Some(CString::new("c string").unwrap());
}

statics! { sequences:
    ARRAY: [i32; 3] = [1, -2, 3];
    ARRAY_EMPTY: [i32; 0] = [];
    MATRIX: [[u8; 2]; 2] = [[1, 2], [3, 4]];
    POINTS: [Point; 2] = [Point { x: 1, y: 2 }, Point { x: 3, y: 4 }];
    SLICE: &[i32] = &[10, 20, 30];
    SLICE_EMPTY: &[i32] = &[];
    SLICE_STRS: &[&str] = &["x", "y"];
    VEC_EMPTY: Vec<i32> = Vec::new();
    VEC_ONE: Vec<i32> = Vec::new() => vec![42];
    VEC_MANY: Vec<i32> = Vec::new() => (0..100).map(|n| n * 3).collect();
    VEC_STRINGS: Vec<String> = Vec::new() => vec!["one".to_owned(), "two".to_owned()];
    VEC_NESTED: Vec<Vec<u8>> = Vec::new() => vec![vec![1], vec![], vec![2, 3]];
    VEC_SHAPES: Vec<Shape> = Vec::new() => vec![Shape::Square(1), Shape::Nothing];
    VEC_OPTIONS: Vec<Option<u8>> = Vec::new() => vec![Some(1), None];
    DEQUE_EMPTY: VecDeque<i32> = VecDeque::new();
    DEQUE: VecDeque<i32> = VecDeque::new() => wrapped();
    LINKED_EMPTY: LinkedList<i32> = LinkedList::new();
    LINKED: LinkedList<i32> = LinkedList::new() => LinkedList::from([7, 8, 9]);
    HEAP: BinaryHeap<i32> = BinaryHeap::new() => BinaryHeap::from([3, 9, 4]);
    BOX_SLICE: Option<Box<[u16]>> = None => Some(Box::new([1, 2, 3]));
    ARC_SLICE: Option<Arc<[u8]>> = None => Some(Arc::new([4, 5]));
}

statics! { maps:
    TREE_EMPTY: BTreeMap<i32, i32> = BTreeMap::new();
    TREE_ONE: BTreeMap<i32, i32> = BTreeMap::new() => BTreeMap::from([(1, 2)]);
    TREE_MANY: BTreeMap<i32, i32> = BTreeMap::new() => (0..100).map(|n| (n, n * n)).collect();
    TREE_AGES: BTreeMap<String, u8> = BTreeMap::new() => ages().into_iter().collect();
    TREE_SET: BTreeSet<i32> = BTreeSet::new() => BTreeSet::from([3, 1, 2]);
    TREE_SET_MANY: BTreeSet<u64> = BTreeSet::new() => (0..50).map(|n| n * 2).collect();
    HASH_EMPTY: HashMap<i32, i32, Fixed> = HashMap::with_hasher(BuildHasherDefault::new());
    HASH_ONE: HashMap<i32, String, Fixed> = HashMap::with_hasher(BuildHasherDefault::new())
        => HashMap::from_iter([(1, "one".to_owned())]);
    HASH_MANY: HashMap<i32, i32, Fixed> = HashMap::with_hasher(BuildHasherDefault::new())
        => (0..100).map(|n| (n, n * n)).collect();
    HASH_AGES: HashMap<String, u8, Fixed> = HashMap::with_hasher(BuildHasherDefault::new())
        => ages().into_iter().collect();
    HASH_DEEP: Option<HashMap<String, Vec<(i32, String)>>> = None
        => Some(HashMap::from([("a".to_owned(), vec![(1, "one".to_owned())])]));
    HASH_SET: Option<HashSet<u16>> = None => Some(HashSet::from([5, 6, 7]));
    HASH_SET_EMPTY: Option<HashSet<u16>> = None => Some(HashSet::new());
    HASH_POINTS: Option<HashMap<Point, Color>> = None
        => Some(HashMap::from([(Point { x: 1, y: 2 }, Color::Red)]));
}

statics! { pointers:
    BOX: Option<Box<Point>> = None => Some(Box::new(Point { x: 5, y: 6 }));
    RC: Option<Rc<i32>> = None => Some(Rc::new(17));
    ARC: Option<Arc<Point>> = None => Some(Arc::new(Point { x: 7, y: 8 }));
    WEAK: Option<Weak<i32>> = None => RC.as_ref().map(Rc::downgrade);
    RAW: *const Point = std::ptr::null() => &raw const POINT;
    RAW_NULL: *const i32 = std::ptr::null();
    REFERENCE: &Point = &Point { x: 9, y: 10 };
    CELL: Cell<i32> = Cell::new(31);
    REF_CELL: RefCell<Point> = RefCell::new(Point { x: 11, y: 12 });
    MUTEX: Mutex<u64> = Mutex::new(4711);
    MUTEX_VEC: Mutex<Vec<i32>> = Mutex::new(Vec::new()) => Mutex::new(vec![1, 2]);
    RW_LOCK: RwLock<&'static str> = RwLock::new("guarded");
    ONCE: OnceLock<String> = OnceLock::new() => OnceLock::from("once".to_owned());
    SHARED: Option<Arc<Mutex<Point>>> = None => Some(Arc::new(Mutex::new(Point { x: 1, y: 1 })));
    ARC_WEAK: Option<std::sync::Weak<Point>> = None => ARC.as_ref().map(Arc::downgrade);
    ONCE_EMPTY: OnceLock<String> = OnceLock::new();
    ONCE_CELL: OnceCell<u16> = OnceCell::new() => OnceCell::from(12);
    ONCE_CELL_EMPTY: OnceCell<u16> = OnceCell::new();
    ARC_STR: Option<Arc<str>> = None => Some("in an arc".into());
    RC_SLICE: Option<Rc<[Point]>> = None => Some(Rc::new([Point { x: 1, y: 2 }, Point { x: 3, y: 4 }]));
}

#[used]
static ATOMIC: AtomicU64 = AtomicU64::new(88);
#[used]
static ATOMIC_BOOL: AtomicBool = AtomicBool::new(true);
#[used]
static mut DURATION: Duration = Duration::new(1, 500);
#[used]
static mut EITHER: Either = Either { whole: 0x3f80_0000 };
#[used]
static mut FUNCTION: fn(u32) -> u32 = twice;
#[used]
static mut DYN_DOG: Option<Box<dyn Animal>> = None;
#[used]
static mut DYN_CAT: &dyn Animal = &Cat { lives: 9 };
#[used]
static mut RC_DYN: Option<Rc<dyn Animal>> = None;
#[used]
static mut ARC_DYN: Option<Arc<dyn Animal>> = None;
#[used]
static mut WEAK_DYN: Option<Weak<dyn Animal>> = None;
#[used]
static mut WEAK_STR: Option<Weak<str>> = None;
#[used]
static mut WEAK_NEVER: Weak<i32> = Weak::new();
#[used]
static mut WEAK_GONE: Weak<i32> = Weak::new();
#[used]
static LAZY: LazyLock<String> = LazyLock::new(|| "lazy".to_owned());
#[used]
static LAZY_NEVER: LazyLock<String> = LazyLock::new(|| "never".to_owned());
#[used]
static mut LAZY_CELL: LazyCell<u64> = LazyCell::new(|| 4711);
#[used]
static mut LAZY_CELL_NEVER: LazyCell<u64> = LazyCell::new(|| 4712);
#[used]
static mut RING: Option<Rc<Node>> = None;

thread_local! {
    static COUNTER: Cell<u32> = const { Cell::new(6) };
}

/// Its elements go around the end of the buffer.
fn wrapped() -> VecDeque<i32> {
    let mut deque = VecDeque::with_capacity(8);
    deque.extend([0, 0, 0, 0, 0, 1, 2, 3]);
    deque.drain(..5);
    deque.extend([4, 5, 6]);
    deque
}

fn ages() -> [(String, u8); 3] {
    [("Ada".to_owned(), 36), ("Bob".to_owned(), 25), ("Eve".to_owned(), 99)]
}

#[inline(never)]
fn twice(n: u32) -> u32 {
    n * 2
}

fn says(text: &str) -> String {
    format!("{{\"says\":{}}}", quoted(text))
}

/// An owner of a type that only its vtable tells.
fn dynamic(at: *const (), name: &str, parts: &[(&str, &dyn Tell)]) -> String {
    let address = at as usize;
    format!(
        "{{\"ptr\":\"{address:#x}\",\"dynamic\":\"values_rust::{name}\",\"owns\":{}}}",
        members(parts)
    )
}

fn global(name: &str, tree: &str) {
    tell::line(&format!("values_rust::{name}"), None, tree);
}

/// Two nodes that own each other.
fn ring() -> Rc<Node> {
    let node = |number| Node { number, next: RefCell::new(None), owner: RefCell::new(Weak::new()) };
    let (first, second) = (Rc::new(node(1)), Rc::new(node(2)));
    *first.next.borrow_mut() = Some(second.clone());
    *second.owner.borrow_mut() = Rc::downgrade(&first);
    *second.next.borrow_mut() = Some(first.clone());
    first
}

/// Owners and observers of values whose size is not known, and observers of nothing.
unsafe fn observers() {
    unsafe {
        // Each stands further behind its counts than the one before.
        RC_DYN = Some(Rc::new(Dog { age: 6 }));
        ARC_DYN = Some(Arc::new(Aligned { wide: 7 }));
        WEAK_DYN = RC_DYN.as_ref().map(Rc::downgrade);
        WEAK_STR = RC_STR.as_ref().map(Rc::downgrade);
        WEAK_GONE = Rc::downgrade(&Rc::new(5));
        let some = |tree: String| format!("{{\"variant\":\"Some\",\"of\":[{tree}]}}");
        let dog = Rc::as_ptr(RC_DYN.as_ref().unwrap()).cast::<()>();
        global("RC_DYN", &some(dynamic(dog, "Dog", &[("age", &6u32)])));
        let wide = Arc::as_ptr(ARC_DYN.as_ref().unwrap()).cast::<()>();
        global("ARC_DYN", &some(dynamic(wide, "Aligned", &[("wide", &7u64)])));
        let dog = dog as usize;
        let weak = format!("{{\"ptr\":\"{dog:#x}\",\"dynamic\":\"values_rust::Dog\"}}");
        global("WEAK_DYN", &some(weak));
        let text = Rc::as_ptr(RC_STR.as_ref().unwrap()).cast::<()>() as usize;
        global("WEAK_STR", &some(format!("{{\"ptr\":\"{text:#x}\"}}")));
        global("WEAK_NEVER", &says("dangling"));
        global("WEAK_GONE", &format!("{{\"ptr\":\"{:#x}\"}}", (*&raw const WEAK_GONE).as_ptr() as usize));
    }
}

unsafe fn others() {
    unsafe {
        DYN_DOG = Some(Box::new(Dog { age: 5 }));
        RING = Some(ring());
        global("ATOMIC", &inside(&88u64));
        global("ATOMIC_BOOL", &inside(&true));
        global("DURATION", &members(&[("secs", &1u64)]));
        global("EITHER", &members(&[("whole", &0x3f80_0000u32), ("real", &1f32)]));
        global("FUNCTION", &says("values_rust::twice"));
        let dog = std::ptr::from_ref(DYN_DOG.as_deref().unwrap()).cast::<()>();
        let dog = dynamic(dog, "Dog", &[("age", &5u32)]);
        global("DYN_DOG", &format!("{{\"variant\":\"Some\",\"of\":[{dog}]}}"));
        let cat = std::ptr::from_ref(DYN_CAT).cast::<()>();
        global("DYN_CAT", &dynamic(cat, "Cat", &[("lives", &9u8)]));
        global("POINT.y", &(-4i32).tell());
        global("VEC_MANY[99]", &297i32.tell());
        global("SLICE[1]", &20i32.tell());
        global("RAW->x", &3i32.tell());
        observers();
        black_box(LAZY.len());
        global("LAZY", "{\"variant\":\"Some\",\"of\":[{\"text\":\"lazy\"}]}");
        global("LAZY_NEVER", "{\"variant\":\"None\",\"of\":[]}");
        black_box(*(*&raw const LAZY_CELL));
        global("LAZY_CELL", "{\"variant\":\"Some\",\"of\":[{\"int\":\"4711\"}]}");
        global("LAZY_CELL_NEVER", "{\"variant\":\"None\",\"of\":[]}");
        let first = RING.as_ref().unwrap();
        let next = first.next.borrow();
        let (first, next) = (Rc::as_ptr(first), Rc::as_ptr(next.as_ref().unwrap()));
        let some = |tree: &str| format!("{{\"inside\":{{\"variant\":\"Some\",\"of\":[{tree}]}}}}");
        let node = |at: *const Node, number: u32, next: &str| {
            let owns = members(&[("number", &number)]);
            let owns = format!("{},\"next\":{next}}}}}", &owns[..owns.len() - 2]);
            format!("{{\"ptr\":\"{:#x}\",\"owns\":{owns}}}", at as usize)
        };
        let inner = node(next, 2, &some(&pointer(first)));
        let outer = node(first, 1, &some(&inner));
        global("RING", &format!("{{\"variant\":\"Some\",\"of\":[{outer}]}}"));
    }
}

struct Later(bool);

impl Future for Later {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
        match std::mem::replace(&mut self.0, true) {
            true => Poll::Ready(1),
            false => Poll::Pending,
        }
    }
}

async fn wait_twice(start: u32, label: &'static str) -> u32 {
    let first = Later(false).await;
    let second = Later(false).await;
    start + first + second + label.len() as u32
}

#[inline(never)]
fn deepest(count: u32, name: &str, numbers: &[i32], point: &Point, animal: &dyn Animal) -> u32 {
    let words = HashMap::from([("local".to_owned(), count)]);
    let maybe = Some(Shape::Square(count));
    let boxed: Box<dyn Animal> = Box::new(Dog { age: 3 });
    let owned = format!("{name}!");
    let pair = (count, 'p');
    let adder = move |n: u32| n + count;
    let mut waiting = Box::pin(wait_twice(count, "label"));
    let polled = waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
    let local = |name: &str, tree: &str| tell::line(name, Some("values_rust::deepest"), tree);
    local("count", &count.tell());
    local("name", &name.tell());
    local("numbers", &numbers.tell());
    local("point", &pointer(point));
    local("words", &words.tell());
    local("maybe", &maybe.tell());
    local("owned", &owned.tell());
    local("pair", &pair.tell());
    local("polled", &polled.tell());
    let at = std::ptr::from_ref(animal).cast::<()>();
    local("animal", &dynamic(at, "Cat", &[("lives", &9u8)]));
    let at = std::ptr::from_ref(&*boxed).cast::<()>();
    local("boxed", &dynamic(at, "Dog", &[("age", &3u32)]));
    local("adder", &members(&[("count", &count)]));
    local("waiting", &says("Suspend0"));
    let at = std::ptr::from_ref(&*waiting).cast::<()>() as usize;
    let names = "{\"members\":\"start label __awaitee\"}";
    local("waiting", &format!("{{\"ptr\":\"{at:#x}\",\"owns\":{names}}}"));
    black_box((&words, &maybe, &boxed, &owned, &pair, &adder, &waiting, COUNTER.get()));
    let bad = black_box(8 as *mut u32);
    die!("deepest", unsafe { *bad = adder(count) });
    boxed.noise() + animal.noise()
}

fn main() {
    scalars();
    enums();
    texts();
    sequences();
    maps();
    pointers();
    unsafe { others() };
    let numbers = black_box(vec![1, 2, 3]);
    let point = Point { x: 1, y: 2 };
    let cat = unsafe { DYN_CAT };
    black_box(call!("main", deepest(7, "a name", &numbers, &point, cat)));
}
