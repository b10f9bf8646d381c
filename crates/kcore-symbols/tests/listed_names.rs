//! Names that are found by an index in the file are those that are found by reading all.

mod common;

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use common::Build;
use kcore_elf::{Image, Section};
use kcore_symbols::{DebugContext, DebugInfo, IndexCache, Type};

const MAIN: &str = r"
#include <map>
#include <string>
#include <vector>
namespace app { struct Outer { struct Inner { int a; }; Inner inner; }; enum class E { A }; int counter = 3; }
struct Own { char c[5]; }; struct Twice { int one; }; struct Opaque; typedef Own Alias;
app::Outer outer; Own own; Twice twice; Opaque *opaque; Alias alias; app::E e;
std::vector<int> numbers; std::map<std::string, std::vector<int>> table;
int other();
int main() { return other() + app::counter; }
";

const OTHER: &str = r"
#include <list>
namespace app { template <class T> struct Box { T value; }; inline namespace v2 { struct New { long l; }; } }
struct Twice { long two[2]; }; struct Opaque { int known; };
union Either { long l; double d; };
app::Box<int> box; app::New fresh; Twice again; Opaque seen; Either either; std::list<short> shorts;
int other() { static int calls; struct Local { int l; } local{1}; return ++calls + local.l; }
";

/// Counts how often all was read.
#[derive(Default)]
struct Counter(AtomicUsize);

impl IndexCache for Counter {
    fn load(&self, _: &str) -> Option<Section> {
        None
    }

    fn store(&self, _: &str, _: &[u8]) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn worth(&self) -> usize {
        0
    }
}

/// Builds a program of two units, with what makes an index of its names at the end.
fn program(compiler: &str, flags: &[&str], finish: &[&[&str]]) -> (Build, Arc<Image>) {
    let flags = [&["-Wl,--build-id"], flags].concat();
    let object = [&["-c"], &flags[1..]].concat();
    let build = Build::compile(compiler, MAIN, "main.o", &object);
    std::fs::write(build.path("other.cpp"), OTHER).unwrap();
    build.run(compiler, &[&object[..], &["other.cpp", "-o", "other.o"]].concat());
    build.run(compiler, &[&flags[..], &["main.o", "other.o", "-o", "program"]].concat());
    for line in finish {
        build.run(line[0], &line[1..]);
    }
    let image = build.image("program");
    (build, image)
}

fn open(image: &Image) -> (Arc<DebugInfo>, Arc<Counter>) {
    let counter = Arc::new(Counter::default());
    let cache: Arc<dyn IndexCache> = counter.clone();
    let context = DebugContext { split: None, cache: Some(cache) };
    (Arc::new(DebugInfo::open_with(image, None, &context)), counter)
}

/// What is defined under a name, else what is declared.
fn found(info: &Arc<DebugInfo>, name: &str) -> Vec<(Option<String>, Option<u64>)> {
    let all = info.find_types(name);
    let defined: Vec<&Type> = all.iter().filter(|ty| !ty.node().is_declaration).collect();
    let chosen = if defined.is_empty() { all.iter().collect() } else { defined };
    chosen.into_iter().map(|ty| (ty.qualified_name(), ty.size())).collect()
}

/// All types by an index and without, and that these names were found without reading all. A name in
/// `once` is defined twice, of which the index tells one.
fn check(image: &Image, what: &str, quick: &[&str], once: &[&str]) {
    let (whole, _) = open(image);
    let mut names = vec!["Nowhere".to_owned(), "struct Own".to_owned(), "Inner".to_owned()];
    whole.each_type(|_, name| {
        names.push(name.to_owned());
        ControlFlow::Continue(())
    });
    names.sort();
    names.dedup();
    for name in names.iter().filter(|name| !once.contains(&name.as_str())).step_by(2) {
        assert_eq!(found(&open(image).0, name), found(&whole, name), "{what}: {name}");
    }
    for name in once {
        let (one, all) = (found(&open(image).0, name), found(&whole, name));
        assert!(one.len() == 1 && all.len() == 2 && all.contains(&one[0]), "{what}: {name}");
    }
    for name in ["app::counter", "numbers", "calls", "nothing"] {
        let (info, _) = open(image);
        assert_eq!(info.find_variables(name).len(), whole.find_variables(name).len(), "{name}");
    }
    for name in quick {
        let (info, counter) = open(image);
        assert!(!found(&info, name).is_empty(), "{what}: {name}");
        assert_eq!(counter.0.load(Ordering::Relaxed), 0, "{what}: {name} was scanned");
    }
}

/// Names of one unit each.
const QUICK: &[&str] =
    &["Own", "app::Box<int>", "app::Outer::Inner", "Either", "struct Own", "Opaque"];

#[test]
fn an_index_of_gdb_leads_to_what_a_scan_finds() {
    for flags in [["-g", "-gdwarf-4"], ["-g", "-gdwarf-5"]] {
        let (_build, image) = program("g++", &flags, &[&["gdb-add-index", "program"]]);
        assert!(image.section(".gdb_index").is_some());
        // A class of C++ has one definition, so gdb tells of one.
        check(&image, "gdb-add-index", QUICK, &["Twice"]);
    }
    let (_build, image) = program("g++", &["-g"], &[&["gdb-add-index", "-dwarf-5", "program"]]);
    assert!(image.section(".debug_names").is_some());
    check(&image, "gdb-add-index -dwarf-5", QUICK, &[]);
}

#[test]
fn an_index_of_a_linker_leads_to_what_a_scan_finds() {
    let flags = ["-g", "-ggnu-pubnames", "-fuse-ld=gold", "-Wl,--gdb-index"];
    let (_build, image) = program("g++", &flags, &[]);
    assert!(image.section(".gdb_index").is_some());
    // gcc tells of no types that lie in others.
    check(&image, "gold --gdb-index", &["Own", "app::Box<int>", "Either", "Opaque"], &[]);
}

#[test]
fn names_of_clang_lead_to_what_a_scan_finds() {
    for version in ["-std=c++14", "-std=c++17"] {
        let flags = ["-g", "-gdwarf-5", "-gpubnames", version];
        let (_build, image) = program("clang++", &flags, &[]);
        assert!(image.section(".debug_names").is_some());
        check(&image, version, QUICK, &[]);
    }
}

#[test]
fn an_index_that_lies_does_no_harm() {
    for (compiler, flags, finish) in [
        ("g++", &["-g"][..], &[&["gdb-add-index", "program"][..]][..]),
        ("clang++", &["-g", "-gdwarf-5", "-gpubnames"], &[]),
    ] {
        let (build, image) = program(compiler, flags, finish);
        let section = image.section(".gdb_index").or_else(|| image.section(".debug_names"));
        let (start, len) = section.unwrap().file_range().unwrap();
        let good = std::fs::read(build.path("program")).unwrap();
        let expected = found(&open(&image).0, "Own");
        for at in (0..len).step_by(usize::try_from(len / 300).unwrap().max(1)) {
            for value in [0_u8, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[usize::try_from(start.get() + at).unwrap()] = value;
                let (info, _) = open(&Image::parse(bad.into()).unwrap());
                assert_eq!(found(&info, "Own"), expected, "{compiler}: {at} is {value}");
            }
        }
    }
}
