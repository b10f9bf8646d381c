//! Names of C++ and Rust, against what `c++filt` makes of them.
//!
//! What kcore shows is what `c++filt` shows, or the mangled name. Four things are decided otherwise than
//! by asking it:
//!
//! - Names of more than 1,024 letters are demangled, as by `c++filt --no-recurse-limit`: the limit guards
//!   against what is bounded here by depth and steps.
//! - What `c++filt` leaves mangled stays so, also where the ABI says what it means (`_BitInt`, constraints,
//!   `noexcept` of an expression, temporaries of references): there is no spelling to agree on. Of a
//!   function whose parameters alone it cannot write, the name is shown, as by `c++filt --no-params`.
//! - Letters that are no mangling, of which `c++filt` makes a name all the same (`_Z1fpl` is `f(operator+)`
//!   to it), stay as they are. So do names of older compilers in which it takes a scope for a name.
//! - Names of Rust come without their hash, as by `c++filt --no-verbose`; in full, as by rustfilt.

#[allow(dead_code, reason = "other tests need more of it")]
mod common;

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use common::Build;
use gen_cores::not_tested;
use kcore_symbols::{Mangling, SymbolTable, demangle};

const CORPUS: &str = include_str!("names/corpus.txt");

/// Names that `c++filt` leaves as they are, or makes nonsense of.
const LEFT_MANGLED: &[&str] = &[
    "_Z",
    "_ZN",
    "_ZN1AE1",
    "_Z999f",
    // A substitution alone is no name, nor is a type without digits a literal.
    "_ZNSsEv",
    "_Z1fILmEEvv",
    // Substitutions of which there are none.
    "_Z1fS_",
    // noexcept, typeid, _BitInt, constraints, friends, kinds of template parameters.
    "_Z1fIXnxLi1EEEvv",
    "_Z1fIXtiiEEvv",
    "_Z1fDB8_",
    "_Z1fDU8_",
    "_Z1fIiQLb1EEvv",
    "_Z1fITk1CiEvv",
    "_ZN1AF1fEv",
    // Temporaries of references.
    "_ZGR1x_",
    "_ZGRN3app2rtB2t1B2t2E_",
    // Marks of copies behind variables, and what are no such marks.
    "_ZL3foo.0",
    "_ZZ1fvE1x.0",
    "_Z1fv.Foo",
    "_Z1fv.",
    // No manglings; `c++filt` makes `f(operator+)` and `n::baz@:Foo()` of such.
    "_Z1fpl",
    "_ZN1nWP3Foo3bazEv",
    // Scopes without an end: to `c++filt` this is `decltype (C&&y) f<A>()`.
    "_Z1fI1AEDTaasr1B1xsr1C1yEv",
];

#[test]
fn names_of_every_kind_are_spelled_as_by_binutils() {
    let lines = CORPUS.lines().filter(|line| !line.starts_with('#'));
    let mut seen = 0;
    for line in lines {
        let [raw, full, function] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let names = demangle(raw.as_bytes());
        assert_eq!(
            (names.clone().whole().as_str(), names.mangling),
            (full, Mangling::Cpp),
            "{raw}"
        );
        assert_eq!(names.function, function, "{raw}");
        seen += 1;
    }
    assert!(seen > 500, "{seen} names");
}

#[test]
fn what_has_no_spelling_stays_mangled() {
    for raw in LEFT_MANGLED {
        let names = demangle(raw.as_bytes());
        assert_eq!((names.full.as_str(), names.function.as_str()), (*raw, *raw));
        assert_eq!((names.clone, names.mangling), (None, Mangling::None), "{raw}");
    }
}

#[test]
fn a_function_whose_parameters_have_no_spelling_has_its_name() {
    let cases = [("_Z1fT_", "f"), ("_Z1fIiEvT0_", "f<int>"), ("_Z1fIiEvDpT_S0_T1_.cold", "f<int>")];
    for (raw, function) in cases {
        let names = demangle(raw.as_bytes());
        assert_eq!((names.full.as_str(), names.clone), (raw, None));
        assert_eq!(names.function, function, "{raw}");
    }
}

#[test]
fn versions_and_stubs_stand_behind_the_name() {
    assert_eq!(demangle(b"_Z1fi@plt").full, "f(int)@plt");
    assert_eq!(demangle(b"_ZSt4cout@@GLIBCXX_3.4").full, "std::cout@@GLIBCXX_3.4");
    assert_eq!(demangle(b"_Z1fi@plt").function, "f@plt");
}

#[test]
fn a_long_name_is_demangled() {
    let parameters = "St6vectorIiSaIiEE".to_owned() + &"S1_".repeat(1000);
    let names = demangle(format!("_Z1f{parameters}").as_bytes());
    assert_eq!(names.full.matches("std::vector<int, std::allocator<int> >").count(), 1001);
}

/// A name of which each part stands for two of the one before it unfolds to no more than the bound, and
/// in no more than a number of steps, whatever it is made of.
#[test]
fn a_name_that_unfolds_without_end_stays_mangled() {
    let digits = || (b'0'..=b'9').chain(b'A'..=b'Z').map(char::from);
    let doubled = |first: &str, part: &dyn Fn(char) -> String| {
        first.to_owned() + &digits().map(part).collect::<String>()
    };
    let bombs = [
        doubled("_Z1fPFvvE", &|digit| format!("PFS{digit}_S{digit}_E")),
        doubled("_Z1fI1AIiE", &|digit| format!("1AIS{digit}_S{digit}_E")) + "Evv",
        doubled("_Z1fI1AIJEE", &|digit| format!("1AIJS{digit}_S{digit}_EE")) + "Evv",
        format!("_Z1fIJ{}EEvDp{}", "i".repeat(2000), "FDpT_E".repeat(60)),
        "_Z1fI".to_owned() + &"X".repeat(3) + &"sr1AI".repeat(4000),
        "_Z1f".to_owned() + &"1AIcvT_I".repeat(3000),
    ];
    for bomb in bombs {
        let names = demangle(bomb.as_bytes());
        assert!(names.full.len() <= 256 << 10, "{} bytes", names.full.len());
    }
}

/// Names as deep as the bounds allow are written on a small stack.
#[test]
fn the_deepest_names_fit_a_small_stack() {
    let deep = |depth: usize| {
        [
            format!("_Z1f{}i", "P".repeat(depth)),
            format!("_Z1f{}i{}", "1AI".repeat(depth), "E".repeat(depth)),
            format!("_Z1f{}v{}", "PFv".repeat(depth), "E".repeat(depth)),
            format!("_Z1fIX{}Li1EEEvv", "ng".repeat(depth)),
            format!("_Z{}1fv{}", "Z".repeat(depth), "E1x".repeat(depth)),
            format!("_Z1fI{}iEvT_", "A2_".repeat(depth)),
        ]
    };
    let names = (40..400).step_by(8).flat_map(deep).collect::<Vec<_>>();
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        names.iter().filter(|raw| demangle(raw.as_bytes()).mangling == Mangling::Cpp).count()
    });
    assert!(thread.unwrap().join().unwrap() > 60);
}

/// What `c++filt` makes of names; `None` where there is none.
fn filtered(names: &[String], options: &[&str]) -> Option<Vec<String>> {
    let filter = Command::new("c++filt")
        .args(["--no-recurse-limit"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut filter = filter.ok()?;
    let mut input = filter.stdin.take().unwrap();
    let text = names.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = filter.wait_with_output().unwrap();
    writer.join().unwrap();
    let lines: Vec<_> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), names.len());
    Some(lines)
}

/// Libraries of C++ on this machine, as far as there are any.
fn libraries() -> Vec<PathBuf> {
    let folders =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let begins =
        ["libstdc++.so.6", "libLLVM-", "libclang-cpp", "libc++.so.1", "libprotobuf.so", "libQt"];
    let mut found = BTreeSet::new();
    for entry in
        folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if begins.iter().any(|begin| name.starts_with(begin)) {
            found.extend(entry.path().canonicalize());
        }
    }
    found.into_iter().filter(|path| is_elf(path)).collect()
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = std::fs::File::open(path)
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

/// The mangled names of a file that `c++filt` reads as words.
fn mangled_names(path: &Path) -> Vec<String> {
    let table = SymbolTable::from_images(Some(&common::image(path)), None);
    let names = table.iter().map(|symbol| String::from_utf8_lossy(symbol.name()).into_owned());
    let is_word = |name: &String| {
        name.starts_with("_Z")
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte))
    };
    names.filter(is_word).collect::<BTreeSet<_>>().into_iter().collect()
}

/// All names of a file are spelled as by `c++filt`, and at most one in a thousand stays mangled.
fn compare(path: &Path) {
    let names = mangled_names(path);
    let Some(full) = filtered(&names, &[]) else { return not_tested("there is no c++filt") };
    let functions = filtered(&names, &["--no-params"]).unwrap();
    let mut mangled = 0;
    for ((raw, full), function) in names.iter().zip(&full).zip(&functions) {
        let found = demangle(raw.as_bytes());
        if found.mangling == Mangling::Rust {
            continue;
        }
        let shown = found.clone().whole();
        assert!(shown == *full || shown == *raw, "{raw}: {shown}, but {full}");
        assert!(found.function == *function || found.function == *raw, "{raw}: {}", found.function);
        mangled += usize::from(shown != *full);
    }
    assert!(mangled * 1000 <= names.len(), "{mangled} of {} in {path:?}", names.len());
}

#[test]
fn all_names_of_libraries_are_spelled_as_by_binutils() {
    let libraries = libraries();
    if libraries.is_empty() {
        not_tested("there is no library of C++");
    }
    libraries.iter().for_each(|path| compare(path));
}

/// Names of Rust, of this test itself, are those that `c++filt` shows without hashes.
#[test]
fn names_of_rust_are_spelled_as_by_binutils() {
    let table =
        SymbolTable::from_images(Some(&common::image(&std::env::current_exe().unwrap())), None);
    let names = table.iter().map(|symbol| String::from_utf8_lossy(symbol.name()).into_owned());
    let is_rust = |name: &String| demangle(name.as_bytes()).mangling == Mangling::Rust;
    let names: Vec<_> = names.filter(is_rust).collect();
    assert!(names.len() > 100);
    let Some(shown) = filtered(&names, &["--no-verbose"]) else {
        return not_tested("there is no c++filt");
    };
    for (raw, shown) in names.iter().zip(shown) {
        assert_eq!(demangle(raw.as_bytes()).function, shown, "{raw}");
    }
}

/// A program of the present language, by whatever compiler there is.
#[test]
fn names_of_a_new_program_are_spelled_as_by_binutils() {
    let build = Build::compile("g++", PROGRAM, "program", &["-std=c++20", "-O0"]);
    assert!(mangled_names(&build.path("program")).len() > 60);
    compare(&build.path("program"));
}

const PROGRAM: &str = r#"
#include <compare>
#include <concepts>
#include <coroutine>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>
namespace app {
template <class T> concept Number = std::integral<T> || std::floating_point<T>;
template <Number T> T twice(T t) { return t + t; }
auto least(Number auto first, auto... rest) { return first; }
template <class... T> auto sum(T... t) -> decltype((t + ...)) { return (t + ...); }
template <class T> auto call(T t) -> decltype(t(1), static_cast<long>(sizeof(T))) { t(1); return 0; }
struct Point { int x, y; auto operator<=>(const Point &) const = default; };
template <Point P> int at() { return P.x; }
template <auto... V> int values() { return sizeof...(V); }
struct Any { int member; template <class T> operator T *() { return nullptr; } explicit operator bool() const { return true; } };
int operator""_km(unsigned long long n) { return n; }
struct Task { struct promise_type { Task get_return_object() { return {}; } std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; } void return_void() {} void unhandled_exception() {} }; };
Task task(int) { co_await std::suspend_always{}; }
struct [[gnu::abi_tag("tag")]] Tagged { void f() {} };
Tagged tagged() { return {}; }
int (*pointer(int (&)[3], int Any::*, void (*)() noexcept))(char) { return nullptr; }
auto [first, second] = std::pair<std::string, int>("one", 2);
namespace { struct Hidden { void f() {} }; }
void run(int n) {
  auto plain = [n](int x) { return x + n; }; auto generic = [](auto x, auto &&...y) { return x; };
  auto typed = []<class T>(T x, std::vector<T> y) { return x; };
  plain(1); generic(1, 2, 'c'); typed(1, {1}); call(plain); Hidden().f(); tagged().f(); task(1);
  struct Local { void f(int = [] { return 1; }()) { [this] {}(); } }; Local().f();
  std::function<int(int)> kept = plain; kept(1); static std::map<std::string, std::vector<int>> map; map["a"].push_back(1);
  twice(1); twice(2.0); least(1, 'c'); sum(1, 2L); at<Point{1, 2}>(); values<1, 'c', &Any::member, nullptr>(); values<>();
  Any any; (void)(int *)any; (void)bool(any); (void)(Point{} < Point{}); 1_km; int three[3]; pointer(three, nullptr, nullptr);
}
}
int main() { app::run(1); }
"#;
