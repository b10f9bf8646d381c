//! Every answer about lines is held against addr2line's, on files of many makers.

#[allow(dead_code, reason = "other tests need more of it")]
mod common;

#[path = "common/oracle.rs"]
mod oracle;

use std::{path::Path, process::Command, sync::Arc};

use common::{Build, image};
use kcore_elf::{Image, SymbolTableKind};
use kcore_mem::Svma;
use kcore_symbols::{DebugContext, LineFrame, Lines};
use oracle::{Oracle, Subject};

/// Addresses of one file that are asked for, about.
const ADDRESSES: usize = 3000;

const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline int twice(int x) { return x * 2; }
static inline int four(int x) { if (x > 7) { int y = twice(x); return twice(y) + 1; } return twice(twice(x)); }
static int cold(int x) { fprintf(stderr, "%d\n", x); abort(); }
__attribute__((noinline)) int work(int x) {
  int sum = 0;
  for (int i = 0; i < x; i++) { sum += four(i); if (sum < 0) cold(sum); }
  return sum;
}
int outer(int n) { int inner(int m) { return m * n + twice(m); } return inner(n) + inner(n + 1); }
int main(int argc, char **argv) { return work(argc) + (int)strlen(argv[0]) + outer(argc); }
"#;

const CPP: &str = r#"
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace shop { template <class T> struct Box { std::vector<T> all; void put(T one) { all.push_back(std::move(one)); }
  template <class F> void each(F f) const { std::for_each(all.begin(), all.end(), f); } }; }
static std::map<std::string, int> count(const shop::Box<std::string> &box) {
  std::map<std::string, int> found; box.each([&](const std::string &name) { found[name]++; }); return found; }
int main(int argc, char **argv) {
  shop::Box<std::string> box; for (int i = 0; i < argc; i++) box.put(argv[i]);
  auto found = count(box); auto total = std::make_unique<int>(0);
  for (auto &[name, times] : found) *total += times + (int)name.size();
  return *total; }
"#;

const RUST: &str = r#"
use std::collections::{BTreeMap, HashMap};
fn count(words: &[String]) -> BTreeMap<&str, usize> {
    let mut found = HashMap::new();
    for word in words { *found.entry(word.as_str()).or_insert(0) += 1; }
    found.into_iter().filter(|(word, _)| !word.is_empty()).collect()
}
fn main() {
    let mut words: Vec<String> = std::env::args().flat_map(|arg| arg.split('/').map(str::to_owned).collect::<Vec<_>>()).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    for (word, times) in count(&words) { println!("{word} {times}"); }
}
"#;

/// Addresses all over the functions of a file.
fn addresses(image: &Image) -> Vec<Svma> {
    let functions: Vec<_> = image
        .symbols(SymbolTableKind::Full)
        .filter(|symbol| symbol.kind.is_function() && symbol.is_defined() && symbol.size > 0)
        .collect();
    let bytes: u64 = functions.iter().map(|function| function.size).sum();
    let step = (bytes / ADDRESSES as u64).max(1);
    let mut all: Vec<Svma> = functions
        .iter()
        .flat_map(|function| {
            let offsets = (0..function.size).step_by(usize::try_from(step).unwrap());
            offsets.map(|offset| function.value.checked_add(offset).unwrap())
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    let every = (all.len() / ADDRESSES).max(1);
    all.into_iter().step_by(every).collect()
}

fn hold(subject: &Subject) {
    let lines = Lines::with_supplementary(
        Some(Arc::clone(&subject.image)),
        None,
        subject.supplementary.clone(),
        DebugContext::default(),
    );
    let oracle = Oracle::open(&subject.image, subject.supplementary.as_deref());
    let asked = addresses(&subject.image);
    assert!(asked.len() > 20, "{}: only {} addresses", subject.name, asked.len());
    let (mut inlined, mut wrong) = (0, Vec::new());
    for svma in &asked {
        let ours: Vec<_> = lines
            .find(*svma)
            .iter()
            .map(|frame| LineFrame { language: None, ..frame.clone() })
            .collect();
        inlined += usize::from(ours.len() > 1);
        let theirs = oracle.find(*svma);
        if ours != theirs {
            wrong.push(format!("{svma:x}\n  ours   {ours:?}\n  theirs {theirs:?}"));
        }
    }
    println!("{}: {} addresses, {inlined} in inlined calls", subject.name, asked.len());
    wrong.truncate(3);
    assert!(wrong.is_empty(), "{}:\n{}", subject.name, wrong.join("\n"));
    assert_eq!(lines.problem(), None, "{}", subject.name);
}

fn hold_build(name: &str, build: &Build, file: &str) {
    hold(&Subject { name: name.to_owned(), image: build.image(file), supplementary: None });
}

fn installed(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

#[test]
fn c_programs_of_all_dwarf_versions() {
    for flags in [
        &["-O0", "-g"][..],
        &["-O2", "-g"],
        &["-O2", "-gdwarf-3"],
        &["-O2", "-gdwarf-4", "-ffunction-sections", "-Wl,--gc-sections"],
        &["-O2", "-g", "-gz", "-static"],
        &["-O3", "-g", "-flto"],
        &["-O2", "-g", "-gsplit-dwarf"],
    ] {
        let build = Build::compile("gcc", C, "program", flags);
        hold_build(&format!("gcc {flags:?}"), &build, "program");
    }
}

#[test]
fn units_without_a_table_of_addresses_are_found_too() {
    let build = Build::compile("gcc", C, "program", &["-O2", "-g", "-gz=none"]);
    build.run("objcopy", &["--remove-section=.debug_aranges", "program", "without"]);
    assert!(build.image("without").section(".debug_aranges").is_none());
    hold_build("no .debug_aranges", &build, "without");
}

#[test]
fn cpp_programs() {
    for flags in
        [&["-O0", "-g"][..], &["-O2", "-g", "-gz"], &["-O2", "-g", "-fdebug-types-section"]]
    {
        let build = Build::compile("g++", CPP, "program", flags);
        hold_build(&format!("g++ {flags:?}"), &build, "program");
    }
}

#[test]
fn what_dwz_shares_between_files_is_followed() {
    if !installed("dwz") {
        println!("dwz is not installed");
        return;
    }
    let build = Build::compile("g++", CPP, "one", &["-O2", "-g"]);
    build.run("cp", &["one", "two"]);
    build.run("dwz", &["-m", "shared", "one", "two"]);
    let supplementary = Some(build.image("shared"));
    hold(&Subject { name: "dwz".to_owned(), image: build.image("one"), supplementary });
}

#[test]
fn rust_programs() {
    let build = Build::compile("gcc", "int main(void) { return 0; }", "unused", &[]);
    std::fs::write(build.path("program.rs"), RUST).unwrap();
    build.run("rustc", &["-Copt-level=3", "-g", "-o", "program", "program.rs"]);
    hold_build("rustc -O", &build, "program");
    hold(&Subject {
        name: "this test".to_owned(),
        image: image(&std::env::current_exe().unwrap()),
        supplementary: None,
    });
}

#[test]
fn the_debug_file_of_the_c_library() {
    let libraries = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/lib/libc.so.6"];
    let Some(library) = libraries.into_iter().map(Path::new).find(|path| path.exists()) else {
        return;
    };
    let id = image(library).build_id().unwrap().to_string();
    let (first, rest) = id.split_at(2);
    let path = format!("/usr/lib/debug/.build-id/{first}/{rest}.debug");
    if !Path::new(&path).exists() {
        println!("{path} is not installed");
        return;
    }
    hold(&Subject { name: path.clone(), image: image(Path::new(&path)), supplementary: None });
}
