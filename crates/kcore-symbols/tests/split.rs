//! Type units and split units, as compilers write them.

mod common;

use std::sync::Arc;

use common::{Build, image};
use kcore_elf::Image;
use kcore_symbols::{DebugContext, DebugInfo, SplitFiles, SplitName, Type};

const SOURCE: &str = r"
namespace app {
struct Inner { int a; char b; };
struct Outer { Inner inner; Outer *next; struct Nested { short s; } nested; };
enum class Color : unsigned char { Red, Blue = 200 };
union Either { long l; char c[16]; };
Outer outer; Color color; Either either;
thread_local int each;
static int hidden;
}
int main() { return app::hidden + app::each; }
";

/// Finds files in the folder where they were built.
struct Folder(&'static Build, Option<&'static str>);

impl SplitFiles for Folder {
    fn file(&self, name: &SplitName) -> Option<Arc<Image>> {
        let path = self.0.path(&name.path);
        path.exists().then(|| image(&path))
    }

    fn package(&self) -> Option<Arc<Image>> {
        Some(self.0.image(self.1?))
    }
}

fn open(build: Build, package: Option<&'static str>) -> Arc<DebugInfo> {
    // The folder lives as long as the test.
    let build: &'static Build = Box::leak(Box::new(build));
    let context = DebugContext { split: Some(Arc::new(Folder(build, package))), cache: None };
    Arc::new(DebugInfo::open_with(&build.image("program"), None, &context))
}

fn check(info: &Arc<DebugInfo>, what: &str) {
    let ty = |name: &str| -> Type {
        let found = info.find_types(name).into_iter().next();
        found.unwrap_or_else(|| panic!("{what}: no type {name}"))
    };
    assert_eq!(ty("app::Inner").size(), Some(8), "{what}");
    assert_eq!(ty("app::Color").size(), Some(1), "{what}");
    assert_eq!(ty("app::Either").size(), Some(16), "{what}");
    assert_eq!(ty("Outer::Nested").size(), Some(2), "{what}");
    let outer = ty("app::Outer");
    assert_eq!(outer.qualified_name().as_deref(), Some("app::Outer"), "{what}");
    let members = &outer.composite().unwrap().members;
    let inner = outer.follow(&members[0].ty).unwrap();
    assert_eq!((inner.size(), inner.node().is_declaration), (Some(8), false), "{what}");
    let next = outer.follow(&members[1].ty).unwrap().target().unwrap().unwrap();
    assert_eq!(next.size(), outer.size(), "{what}");
    for name in ["app::outer", "app::each", "app::hidden"] {
        assert_eq!(info.find_variables(name).len(), 1, "{what}: {name}");
    }
    assert_eq!(info.missing_files(), [], "{what}");
}

#[test]
fn types_in_units_of_their_own_are_found() {
    for compiler in ["g++", "clang++"] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let flags = ["-g", version, "-fdebug-types-section", "-std=c++17"];
            let build = Build::compile(compiler, SOURCE, "program", &flags);
            check(&open(build, None), &format!("{compiler} {version}"));
        }
    }
}

#[test]
fn split_units_are_read_from_their_files() {
    for compiler in ["g++", "clang++"] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            for types in ["-fdebug-types-section", "-fno-debug-types-section"] {
                let flags = ["-g", version, "-gsplit-dwarf", types, "-std=c++17", "-c"];
                let build = Build::compile(compiler, SOURCE, "source.o", &flags);
                build.run(compiler, &["source.o", "-o", "program"]);
                check(&open(build, None), &format!("{compiler} {version} {types}"));
            }
        }
    }
}

#[test]
fn split_units_are_read_from_a_package() {
    for (compiler, version) in [("g++", "-gdwarf-4"), ("clang++", "-gdwarf-5")] {
        for types in ["-fdebug-types-section", "-fno-debug-types-section"] {
            let flags = ["-g", version, "-gsplit-dwarf", types, "-std=c++17", "-c"];
            let build = Build::compile(compiler, SOURCE, "source.o", &flags);
            build.run(compiler, &["source.o", "-o", "program"]);
            let tool = if version == "-gdwarf-4" { "dwp" } else { "llvm-dwp" };
            build.run(tool, &["source.dwo", "-o", "all.dwp"]);
            std::fs::remove_file(build.path("source.dwo")).unwrap();
            check(&open(build, Some("all.dwp")), &format!("{compiler} {version} {types}"));
        }
    }
}

#[test]
fn what_is_missing_is_told() {
    let flags = ["-g", "-gsplit-dwarf", "-std=c++17", "-c"];
    let build = Build::compile("g++", SOURCE, "source.o", &flags);
    build.run("g++", &["source.o", "-o", "program"]);
    std::fs::remove_file(build.path("source.dwo")).unwrap();
    let info = open(build, None);
    assert!(info.find_types("app::Outer").is_empty());
    let missing: Vec<String> = info.missing_files().into_iter().map(|name| name.path).collect();
    assert_eq!(missing, ["source.dwo"]);
}
