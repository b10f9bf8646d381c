//! Templates whose names lack their arguments have the names of those that do not.

mod common;

use std::{collections::BTreeSet, ops::ControlFlow, sync::Arc};

use common::Build;
use kcore_symbols::{DebugInfo, Type};

const SOURCE: &str = r"
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>
namespace app {
enum class Level { Low, High }; enum Plain { ONE = 1, TWO };
struct Outer { struct Inner { int a; }; };
template <class T> struct Box { struct Part { T *of; }; T value; Part part; };
template <class T, unsigned long N> struct Array { T of[N]; };
template <Level L> struct Leveled { int own; };
template <Plain P, bool B, char C, long N> struct Values { int own; };
template <template <class> class T> struct Higher { T<int> of; };
template <class... T> struct Many { int count; }; template <class T> struct Kind { int own; };
namespace { struct Hidden { int own; }; }
}
template <class T> struct Node { Node<T *> *next; };
app::Box<app::Outer::Inner> inner; app::Box<app::Box<const char *>> boxes; app::Box<char *const *> deep;
app::Array<app::Box<int>, 3> array; app::Leveled<app::Level::High> high; app::Higher<app::Box> higher;
app::Values<app::TWO, true, 'x', -5> values; app::Many<> none; app::Many<int, void (*)(char, ...)> some;
app::Kind<int (&)[3]> reference; app::Kind<int app::Outer::Inner::*> member; app::Box<app::Hidden> hidden;
std::vector<int> numbers; std::map<std::string, std::vector<int>> table; std::unique_ptr<long> owner;
std::tuple<int, char const &> tuple(1, *new char);
int main() { return 0; }
";

fn info(flags: &[&str]) -> (Build, Arc<DebugInfo>) {
    let build =
        Build::compile("clang++", SOURCE, "program", &[&["-g", "-std=c++17"], flags].concat());
    let info = Arc::new(DebugInfo::open(&build.image("program"), None));
    (build, info)
}

/// All names, without blanks: the printer of clang 14 and that of its debugger differ in them.
fn names(info: &Arc<DebugInfo>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    info.each_type(|_, name| {
        all.insert(name.replace(' ', ""));
        ControlFlow::Continue(())
    });
    all
}

#[test]
fn names_that_lack_their_arguments_are_made_whole() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let (_whole, whole) = info(&[version]);
        let (_simple, simple) = info(&[version, "-gsimple-template-names"]);
        let (whole, simple) = (names(&whole), names(&simple));
        let missing: Vec<_> = whole.difference(&simple).collect();
        assert!(missing.is_empty(), "{version}: {missing:#?}");
        // Arguments that otherwise stand in names alone are described.
        assert!(simple.difference(&whole).all(|name| name.contains('<')), "{version}");
        assert!(whole.len() > 300);
    }
}

#[test]
fn they_are_found_by_what_one_types() {
    let (_build, simple) = info(&["-gsimple-template-names"]);
    for (name, size) in [
        ("std::vector<int>", 24),
        ("vector<int, std::allocator<int> >", 24),
        ("std::map<std::string, std::vector<int>>", 48),
        ("app::Box<app::Outer::Inner>", 16),
        ("Box<char *const *>::Part", 8),
        ("app::Array<app::Box<int>, 3>", 48),
        ("app::Leveled<app::Level::High>", 4),
        ("app::Many<>", 4),
        ("Values<app::TWO, true, 'x', -5>", 4),
    ] {
        let found = simple.find_types(name);
        assert_eq!(found.first().and_then(Type::size), Some(size), "{name}: {found:?}");
    }
    assert!(simple.find_types("app::Box<long>").is_empty());
    assert!(simple.find_types("app::Box").len() >= 5);
}

#[test]
fn a_template_that_is_made_of_itself_has_a_name() {
    // The argument of a template is pointed at the template.
    let source =
        "template <class T> struct Loop { T *of; }; Loop<int> loop; int main() { return 0; }";
    let flags = ["-g", "-gdwarf-4", "-gsimple-template-names"];
    let build = Build::compile("clang++", source, "program", &flags);
    let image = build.image("program");
    let info = Arc::new(DebugInfo::open(&image, None));
    let offset = |name: &str| {
        let text = info.find_types(name)[0].id().unwrap().to_string();
        u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
    };
    let (own, int) = (offset("Loop<int>"), offset("int"));
    let (start, len) = image.section(".debug_info").unwrap().file_range().unwrap();
    let start = usize::try_from(start.get()).unwrap();
    let range = start + own as usize..start + usize::try_from(len).unwrap() - 4;
    let mut bytes = std::fs::read(build.path("program")).unwrap();
    let places: Vec<usize> = range.filter(|at| bytes[*at..*at + 4] == int.to_le_bytes()).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + 4].copy_from_slice(&own.to_le_bytes());
    }
    let info = DebugInfo::open(&kcore_elf::Image::parse(bytes.into()).unwrap(), None);
    let info = Arc::new(info);
    let found = info.find_types("Loop");
    assert_eq!(found.len(), 1);
    assert!(found[0].qualified_name().unwrap().starts_with("Loop"));
}
