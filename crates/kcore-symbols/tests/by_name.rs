//! Types, variables and functions by the names that somebody would type.

mod common;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use common::Build;
use kcore_elf::Section;
use kcore_symbols::{DebugContext, DebugInfo, IndexCache, Type};

const CPP: &str = r#"
#include <map>
#include <string>
#include <vector>
#include <memory>
#include <array>
namespace app {
struct Outer { struct Inner { int a; }; Inner inner; };
namespace { struct Hidden { char c[3]; }; Hidden hidden; }
inline namespace v2 { struct Versioned { long l; }; }
int counter = 3;
thread_local int each;
struct Shared { static int total; int own; };
int Shared::total = 9;
}
struct Inner { char byte; } inner;
app::Outer outer;
app::v2::Versioned versioned;
std::vector<int> numbers;
std::vector<std::string> words;
std::map<std::string, std::vector<int>> table;
std::unique_ptr<app::Outer> owner;
std::array<const char*, 5> names;
unsigned long long wide;
struct Only;
Only *only;
int function(int n) { static int calls; return ++calls + n + (int)app::hidden.c[0] + app::each; }
int main() { app::Shared s{}; return function(s.own); }
"#;

fn cpp(flags: &[&str]) -> (Build, Arc<DebugInfo>) {
    let build = Build::compile("g++", CPP, "program", flags);
    let info = Arc::new(DebugInfo::open(&build.image("program"), None));
    (build, info)
}

fn names(types: &[Type]) -> Vec<String> {
    types.iter().map(|ty| ty.qualified_name().unwrap()).collect()
}

#[test]
fn types_are_found_by_the_names_that_people_type() {
    let (_build, info) = cpp(&["-g", "-O0"]);
    let size = |name: &str| {
        let found = info.find_types(name);
        found.first().unwrap_or_else(|| panic!("no type {name}")).size()
    };
    assert_eq!(size("app::Outer::Inner"), Some(4));
    assert_eq!(size("Outer::Inner"), Some(4));
    assert_eq!(size("struct app::Outer"), Some(4));
    assert_eq!(size("app::Hidden"), Some(3));
    assert_eq!(size("app::Versioned"), Some(8));
    assert_eq!(size("app::v2::Versioned"), Some(8));
    assert_eq!(size("std::vector<int>"), Some(24));
    assert_eq!(size("std::vector<int, std::allocator<int> >"), Some(24));
    assert_eq!(size("vector<std::string>"), Some(24));
    assert_eq!(size("std::vector<std::__cxx11::basic_string<char>>"), Some(24));
    assert_eq!(size("std::string"), Some(32));
    assert_eq!(size("std::map<std::string,std::vector<int>>"), Some(48));
    assert_eq!(size("std::unique_ptr<app::Outer>"), Some(8));
    assert_eq!(size("std::array<char const *, 5>"), Some(40));
    assert_eq!(size("unsigned  long long"), Some(8));
    assert_eq!(size("long long unsigned int"), Some(8));
    assert_eq!(size("unsigned long"), Some(8));
    assert!(info.find_types("vector<long>").is_empty());
    assert!(info.find_types("enum app::Outer").is_empty());
    assert!(info.find_types("").is_empty());
}

#[test]
fn the_very_scope_counts_more_than_another() {
    let (_build, info) = cpp(&["-g"]);
    assert_eq!(names(&info.find_types("Inner")), ["Inner"]);
    assert_eq!(names(&info.find_types("Outer")), ["app::Outer"]);
    let only = info.find_types("Only");
    assert_eq!(names(&only), ["Only"]);
    assert!(only[0].node().is_declaration);
}

#[test]
fn a_template_without_arguments_means_any_instance() {
    let (_build, info) = cpp(&["-g"]);
    let all = names(&info.find_types("std::vector"));
    assert!(all.len() >= 2 && all.iter().all(|name| name.starts_with("std::vector<")), "{all:?}");
}

#[test]
fn variables_are_found_wherever_they_stand() {
    let (_build, info) = cpp(&["-g"]);
    for name in
        ["app::counter", "counter", "app::each", "app::Shared::total", "calls", "app::hidden"]
    {
        assert_eq!(info.find_variables(name).len(), 1, "{name}");
    }
    assert!(info.find_variables("own").is_empty());
    assert!(info.find_variables("n").is_empty(), "a parameter");
    assert_eq!(info.find_functions("function").len(), 1);
    assert!(info.find_functions("counter").is_empty());
}

#[test]
fn types_of_rust_are_found_without_what_nobody_types() {
    let source = "
        pub mod inner { pub struct Node<T> { pub next: Option<Box<Node<T>>>, pub value: T } }
        pub static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
        pub fn main() {
            let node = inner::Node { next: None, value: 3_u16 };
            let all: Vec<String> = vec![String::from(\"a\")];
            let map: std::collections::HashMap<u8, Vec<i32>> = Default::default();
            let text: &str = &all[0];
            let many: &[u64] = &[1, 2];
            println!(\"{} {text} {many:?} {map:?} {:?}\", node.value, COUNT);
        }";
    let build = Build::compile("rustc", source, "program", &["-g"]);
    let info = Arc::new(DebugInfo::open(&build.image("program"), None));
    for (name, size) in [
        ("Node<u16>", 16),
        ("source::inner::Node<u16>", 16),
        ("Vec<String>", 24),
        ("alloc::vec::Vec<alloc::string::String>", 24),
        ("HashMap<u8, Vec<i32>>", 48),
        ("Option<Box<Node<u16>>>", 8),
        ("&str", 16),
        ("&[u64]", 16),
    ] {
        let found = info.find_types(name);
        assert_eq!(found.first().and_then(Type::size), Some(size), "{name}: {found:?}");
    }
    assert_eq!(info.find_variables("COUNT").len(), 1);
}

#[test]
fn who_asks_once_for_a_scope_hears_the_same_as_who_asks_often() {
    for compiler in ["g++", "clang++"] {
        let build = Build::compile(compiler, CPP, "program", &["-g"]);
        let image = build.image("program");
        let info = Arc::new(DebugInfo::open(&image, None));
        let mut ids = Vec::new();
        info.each_type(|id, _| {
            ids.push(id);
            std::ops::ControlFlow::Continue(())
        });
        for id in ids.into_iter().step_by(7) {
            let once = Arc::new(DebugInfo::open(&image, None)).scope_of(id);
            assert_eq!(once, info.scope_of(id), "{compiler} {id}");
        }
        assert!(info.find_types("Outer::Inner")[0].scope().len() == 2);
    }
}

/// Keeps every index, and says how often one was made.
#[derive(Default)]
struct Memory {
    kept: Mutex<HashMap<String, Vec<u8>>>,
    stored: Mutex<usize>,
}

impl IndexCache for Memory {
    fn load(&self, name: &str) -> Option<Section> {
        self.kept.lock().unwrap().get(name).cloned().map(Section::from)
    }

    fn store(&self, name: &str, bytes: &[u8]) {
        self.kept.lock().unwrap().insert(name.to_owned(), bytes.to_vec());
        *self.stored.lock().unwrap() += 1;
    }

    fn worth(&self) -> usize {
        0
    }
}

#[test]
fn a_kept_index_answers_as_a_new_one_and_a_damaged_one_is_made_anew() {
    let build = Build::compile("g++", CPP, "program", &["-g", "-Wl,--build-id"]);
    let memory = Arc::new(Memory::default());
    let answers = |image: &str| {
        let cache: Arc<dyn IndexCache> = memory.clone();
        let context = DebugContext { split: None, cache: Some(cache) };
        let info = Arc::new(DebugInfo::open_with(&build.image(image), None, &context));
        let mut types = Vec::new();
        info.each_type(|id, name| {
            types.push((id, name.to_owned()));
            std::ops::ControlFlow::Continue(())
        });
        (info.find_types("std::vector").len(), info.find_variables("calls"), types)
    };
    let first = answers("program");
    assert!(first.2.len() > 100);
    assert_eq!(answers("program"), first);
    assert_eq!(*memory.stored.lock().unwrap(), 1);
    for bytes in memory.kept.lock().unwrap().values_mut() {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    }
    assert_eq!(answers("program"), first);
    assert_eq!(*memory.stored.lock().unwrap(), 2);
    build.run("g++", &["source.cpp", "-g", "-O2", "-Wl,--build-id", "-o", "other"]);
    assert_ne!(answers("other").1, []);
    assert_eq!(memory.kept.lock().unwrap().len(), 2);
}
