//! Tells values: each as one line of JSON in values.jsonl, which says how a user would name it and what it is, as a tree.
//! The layout stands in gen-cores/README.md.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::rc::{self, Rc};
use std::sync::{self, Arc, Mutex, OnceLock, RwLock};

/// What tells itself as a tree of JSON.
pub trait Tell {
    fn tell(&self) -> String;
}

macro_rules! tell_as {
    ($($type:ty => $key:literal),* $(,)?) => {
        $(impl Tell for $type {
            fn tell(&self) -> String {
                format!("{{\"{}\":\"{}\"}}", $key, self)
            }
        })*
    };
}

tell_as! {
    i8 => "int", i16 => "int", i32 => "int", i64 => "int", i128 => "int", isize => "int",
    u8 => "int", u16 => "int", u32 => "int", u64 => "int", u128 => "int", usize => "int",
    std::num::NonZeroU32 => "int", std::num::NonZeroI64 => "int",
}

impl Tell for bool {
    fn tell(&self) -> String {
        format!("{{\"bool\":{self}}}")
    }
}

impl Tell for char {
    fn tell(&self) -> String {
        format!("{{\"char\":{}}}", u32::from(*self))
    }
}

macro_rules! tell_float {
    ($type:ty) => {
        impl Tell for $type {
            fn tell(&self) -> String {
                let text = format!("{self:e}").replace("NaN", "nan");
                format!("{{\"float\":\"{text}\"}}")
            }
        }
    };
}
tell_float!(f32);
tell_float!(f64);

impl Tell for () {
    fn tell(&self) -> String {
        "{\"empty\":true}".to_owned()
    }
}

pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

fn text(text: &str) -> String {
    format!("{{\"text\":{}}}", quoted(text))
}

impl Tell for str {
    fn tell(&self) -> String {
        text(self)
    }
}

macro_rules! tell_text {
    ($($type:ty => $method:ident),*) => {
        $(impl Tell for $type {
            fn tell(&self) -> String {
                text(&self.$method())
            }
        })*
    };
}
tell_text!(String => as_str, PathBuf => to_string_lossy, OsString => to_string_lossy,
           CString => to_string_lossy, Cow<'_, str> => as_ref);

trait AsRefStr {
    fn to_string_lossy(&self) -> Cow<'_, str>;
}
impl AsRefStr for CString {
    fn to_string_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.as_bytes())
    }
}

fn joined<'a, T: Tell + ?Sized + 'a>(items: impl Iterator<Item = &'a T>) -> String {
    items.map(Tell::tell).collect::<Vec<_>>().join(",")
}

fn list<'a, T: Tell + 'a>(key: &str, items: impl ExactSizeIterator<Item = &'a T>) -> String {
    let total = items.len();
    format!("{{\"{key}\":[{}],\"total\":{total}}}", joined(items))
}

fn map<'a, K: Tell + 'a, V: Tell + 'a>(
    key: &str,
    items: impl ExactSizeIterator<Item = (&'a K, &'a V)>,
) -> String {
    let total = items.len();
    let pairs: Vec<String> =
        items.map(|(key, value)| format!("[{},{}]", key.tell(), value.tell())).collect();
    format!("{{\"{key}\":[{}],\"total\":{total}}}", pairs.join(","))
}

impl<T: Tell> Tell for [T] {
    fn tell(&self) -> String {
        list("list", self.iter())
    }
}
impl<T: Tell, const N: usize> Tell for [T; N] {
    fn tell(&self) -> String {
        list("list", self.iter())
    }
}
impl<T: Tell> Tell for Vec<T> {
    fn tell(&self) -> String {
        list("list", self.iter())
    }
}
impl<T: Tell> Tell for VecDeque<T> {
    fn tell(&self) -> String {
        list("list", self.iter())
    }
}
impl<T: Tell> Tell for LinkedList<T> {
    fn tell(&self) -> String {
        list("list", self.iter())
    }
}
impl<T: Tell> Tell for BTreeSet<T> {
    fn tell(&self) -> String {
        list("list", self.iter())
    }
}
impl<T: Tell> Tell for BinaryHeap<T> {
    fn tell(&self) -> String {
        list("bag", self.iter())
    }
}
impl<T: Tell, S> Tell for HashSet<T, S> {
    fn tell(&self) -> String {
        list("bag", self.iter())
    }
}
impl<K: Tell, V: Tell> Tell for BTreeMap<K, V> {
    fn tell(&self) -> String {
        map("map", self.iter())
    }
}
impl<K: Tell, V: Tell, S> Tell for HashMap<K, V, S> {
    fn tell(&self) -> String {
        map("hash", self.iter())
    }
}

pub fn tuple(parts: &[&dyn Tell]) -> String {
    format!("{{\"tuple\":[{}]}}", joined(parts.iter().copied()))
}

impl<A: Tell, B: Tell> Tell for (A, B) {
    fn tell(&self) -> String {
        tuple(&[&self.0, &self.1])
    }
}
impl<A: Tell, B: Tell, C: Tell> Tell for (A, B, C) {
    fn tell(&self) -> String {
        tuple(&[&self.0, &self.1, &self.2])
    }
}

/// A variant of an enumeration, by its name and what it has.
pub fn variant(name: &str, parts: &[&dyn Tell]) -> String {
    format!("{{\"variant\":\"{name}\",\"of\":[{}]}}", joined(parts.iter().copied()))
}

/// A structure, or a variant with named members.
pub fn members(parts: &[(&str, &dyn Tell)]) -> String {
    let parts: Vec<String> =
        parts.iter().map(|&(name, part)| format!("\"{name}\":{}", part.tell())).collect();
    format!("{{\"struct\":{{{}}}}}", parts.join(","))
}

impl<T: Tell> Tell for Option<T> {
    fn tell(&self) -> String {
        match self {
            None => variant("None", &[]),
            Some(part) => variant("Some", &[part]),
        }
    }
}
impl<T: Tell, E: Tell> Tell for Result<T, E> {
    fn tell(&self) -> String {
        match self {
            Ok(part) => variant("Ok", &[part]),
            Err(part) => variant("Err", &[part]),
        }
    }
}

pub fn pointer<T: ?Sized>(at: *const T) -> String {
    format!("{{\"ptr\":\"{:#x}\"}}", at.cast::<()>() as usize)
}

/// A pointer that owns what it points to.
fn owner<T: Tell + ?Sized>(at: &T) -> String {
    let address = std::ptr::from_ref(at).cast::<()>() as usize;
    let owned = at.tell();
    match owned.starts_with("{\"text\"") || owned.starts_with("{\"list\"") {
        true => owned,
        false => format!("{{\"ptr\":\"{address:#x}\",\"owns\":{owned}}}"),
    }
}

impl<T: Tell + ?Sized> Tell for Box<T> {
    fn tell(&self) -> String {
        owner(self.as_ref())
    }
}
impl<T: Tell + ?Sized> Tell for Rc<T> {
    fn tell(&self) -> String {
        owner(self.as_ref())
    }
}
impl<T: Tell + ?Sized> Tell for Arc<T> {
    fn tell(&self) -> String {
        owner(self.as_ref())
    }
}
impl<T> Tell for rc::Weak<T> {
    fn tell(&self) -> String {
        pointer(self.as_ptr())
    }
}
impl<T> Tell for sync::Weak<T> {
    fn tell(&self) -> String {
        pointer(self.as_ptr())
    }
}
impl<T> Tell for *const T {
    fn tell(&self) -> String {
        pointer(*self)
    }
}

/// A reference: text and slices are told themselves, of anything else where it is.
impl<T: Tell + ?Sized> Tell for &T {
    fn tell(&self) -> String {
        let told = (**self).tell();
        match told.starts_with("{\"text\"") || told.starts_with("{\"list\"") {
            true => told,
            false => pointer(*self),
        }
    }
}

/// What a wrapper holds, however deep.
pub fn inside<T: Tell>(part: &T) -> String {
    format!("{{\"inside\":{}}}", part.tell())
}

impl<T: Tell + Copy> Tell for Cell<T> {
    fn tell(&self) -> String {
        inside(&self.get())
    }
}
impl<T: Tell> Tell for RefCell<T> {
    fn tell(&self) -> String {
        inside(&*self.borrow())
    }
}
impl<T: Tell> Tell for Mutex<T> {
    fn tell(&self) -> String {
        inside(&*self.lock().unwrap())
    }
}
impl<T: Tell> Tell for RwLock<T> {
    fn tell(&self) -> String {
        inside(&*self.read().unwrap())
    }
}
impl<T: Tell> Tell for OnceLock<T> {
    fn tell(&self) -> String {
        match self.get() {
            None => variant("None", &[]),
            Some(part) => variant("Some", &[part]),
        }
    }
}
impl<T: Tell> Tell for OnceCell<T> {
    fn tell(&self) -> String {
        match self.get() {
            None => variant("None", &[]),
            Some(part) => variant("Some", &[part]),
        }
    }
}

/// The file of all lines.
static OUT: Mutex<Option<File>> = Mutex::new(None);

/// A line: `name` as a user types it, the function if it is a local, and the tree.
pub fn line(name: &str, frame: Option<&str>, tree: &str) {
    let mut out = OUT.lock().unwrap();
    let out = out.get_or_insert_with(|| File::create("values.jsonl").unwrap());
    let frame = frame.map_or(String::new(), |frame| format!("\"frame\":\"{frame}\","));
    writeln!(out, "{{\"print\":\"{name}\",{frame}{}", &tree[1..]).unwrap();
}
