//! Debug information that lies: whatever its bytes are, questions about types end, and nothing panics.

mod common;

use std::{ops::ControlFlow, sync::Arc};

use common::Build;
use kcore_elf::Image;
use kcore_mem::Svma;
use kcore_symbols::{DebugInfo, ModuleSymbols, Type, TypeError, TypeKind};

const SOURCE: &str = r"
namespace n { template <class T> struct Node { T value; Node *next; int bits : 3; }; }
struct Base { virtual ~Base() {} int b; };
struct Derived : virtual Base { int d[4][2]; n::Node<char> nodes[3]; };
union Either { long l; double d; }; enum class E : short { A = -1, B = 2 };
typedef Derived *const Pointer; int Derived::*member; int (*function)(Either, ...);
n::Node<int> ints; Derived derived; Pointer pointer = nullptr; Either either; E e; static int hidden;
int main() { static long calls; return (int)++calls + hidden; }
";

/// Types that are looked at, of those with a name.
const TYPES: usize = 40;

#[test]
fn damaged_bytes_are_borne() {
    for flags in [["-g", "-gdwarf-5"], ["-g", "-gdwarf-4"], ["-g", "-fdebug-types-section"]] {
        let build = Build::compile("g++", SOURCE, "program", &flags);
        let good = std::fs::read(build.path("program")).unwrap();
        let image = build.image("program");
        for name in [".debug_info", ".debug_abbrev", ".debug_types"] {
            let Some((start, len)) = image.section(name).and_then(|section| section.file_range())
            else {
                continue;
            };
            for at in (0..len).step_by(usize::try_from(len / 61).unwrap().max(1)) {
                for value in [0_u8, 1, 0x7f, 0xff] {
                    let mut bad = good.clone();
                    bad[usize::try_from(start.get() + at).unwrap()] = value;
                    ask_all(bad);
                }
            }
        }
    }
}

fn ask_all(bytes: Vec<u8>) {
    let image = Image::parse(bytes.into()).unwrap();
    let info = Arc::new(DebugInfo::open(&image, None));
    for name in ["n::Node<int>", "Node", "Derived", "Pointer", "E"] {
        info.find_types(name).iter().for_each(|ty| ask(ty, 5));
    }
    let _ = (info.find_variables("calls"), info.find_functions("main"), info.vtable_types().len());
    let mut all = Vec::new();
    info.each_type(|id, _| {
        all.push(id);
        if all.len() < TYPES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    all.into_iter().filter_map(|id| info.type_at(id).ok()).for_each(|ty| ask(&ty, 3));
}

fn ask(ty: &Type, depth: usize) {
    let _ = (ty.size(), ty.spelled(), ty.qualified_name(), ty.stripped().is_ok());
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Ok(Some(target)) = ty.target() {
        ask(&target, depth);
    }
    if let TypeKind::Composite(composite) = ty.kind() {
        for member in composite.members.iter().take(8) {
            let _ = ty.follow(&member.ty).map(|ty| ask(&ty, depth));
        }
    }
}

#[test]
fn a_type_that_is_made_of_itself_has_no_size() {
    // The typedef at the end of the chain is pointed back at the first one.
    let source = "typedef int a; typedef a b; typedef b c; c value; int main(void) { return 0; }";
    let build = Build::compile("gcc", source, "program", &["-g", "-gdwarf-4"]);
    let image = build.image("program");
    let info = Arc::new(DebugInfo::open(&image, None));
    let types: Vec<Type> =
        ["a", "c"].iter().map(|name| info.find_types(name).pop().unwrap()).collect();
    let bytes = std::fs::read(build.path("program")).unwrap();
    let (start, _) = image.section(".debug_info").unwrap().file_range().unwrap();
    let int = info.find_types("int").pop().unwrap();
    let [a, c, int] = [&types[0], &types[1], &int].map(|ty| {
        let text = ty.id().unwrap().to_string();
        u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
    });
    // Of all references to `int` within the entry of `a`, the one that is its type.
    let start = usize::try_from(start.get()).unwrap();
    let entry = start + a as usize..start + a as usize + 16;
    let at = entry.clone().find(|at| bytes[*at..*at + 4] == int.to_le_bytes()).unwrap();
    let mut bad = bytes;
    bad[at..at + 4].copy_from_slice(&c.to_le_bytes());
    let info = Arc::new(DebugInfo::open(&Image::parse(bad.into()).unwrap(), None));
    let circle = info.find_types("c").pop().unwrap();
    assert_eq!(circle.size(), None);
    assert!(matches!(circle.stripped(), Err(TypeError::Endless(_))));
}

/// 20,000 members share one name of 60,000 bytes: a file of 160 KB must not become text of 1.2 GB.
#[test]
fn a_name_that_many_share_is_not_copied_for_all_of_them() {
    const ENTRIES: &str = r"
.section .debug_abbrev
.byte 1, 0x11, 1, 0, 0
.byte 2, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0
.byte 3, 0x0d, 0, 0x03, 0x0e, 0, 0
.byte 0
.section .debug_info
.long 2f - 1f
1: .short 4
.long 0
.byte 8, 1, 2
.byte 0x77, 0x69, 0x64, 0x65, 0
.byte 1
.rept 20000
.byte 3
.long 0
.endr
.byte 0, 0
2:
.section .debug_str
.fill 60000, 1, 0x61
.byte 0
.text
";
    let assembly = ENTRIES.replace('\n', "\\n");
    let source = format!("__asm__(\"{assembly}\"); int main(void) {{ return 0; }}");
    let build = Build::compile("gcc", &source, "program", &["-g0"]);
    let info = Arc::new(DebugInfo::open(&build.image("program"), None));
    let wide = info.find_types("wide").into_iter().next().expect("it is found");
    let TypeKind::Composite(composite) = wide.kind() else { panic!("it is a structure") };
    let names: Vec<usize> =
        composite.members.iter().map(|it| it.name.as_ref().map_or(0, |name| name.len())).collect();
    assert_eq!((names.len(), names[0]), (20_000, 60_000));
    assert!(names.iter().sum::<usize>() <= 16 << 20, "{} bytes", names.iter().sum::<usize>());
}

/// 40 functions have a name of 2 MB each, that of the next one a byte shorter: more than is kept of long names.
#[test]
fn long_names_that_are_left_out_are_a_doubt() {
    const ENTRIES: &str = r"
.section .debug_abbrev
.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0
.byte 2, 0x2e, 0, 0x03, 0x0e, 0x11, 1, 0x12, 7, 0, 0
.byte 0
.section .debug_info
.long 2f - 1f
1: .short 4
.long 0
.byte 8, 1
.quad 0x1000, 40
.set at, 0
.rept 40
.byte 2
.long at
.quad 0x1000 + at, 1
.set at, at + 1
.endr
.byte 0
2:
.section .debug_str
.fill 2000000, 1, 0x61
.byte 0
.text
";
    let assembly = ENTRIES.replace('\n', "\\n");
    let source = format!("__asm__(\"{assembly}\"); int main(void) {{ return 0; }}");
    let build = Build::compile("gcc", &source, "program", &["-g0"]);
    let symbols = ModuleSymbols::new(Some(build.image("program")), None);
    let lengths: Vec<usize> = (0x1000..0x1028)
        .map(|at| symbols.lines().find(Svma::new(at))[0].function.as_ref().map_or(0, |it| it.len()))
        .collect();
    assert_eq!(lengths[0], 2_000_000);
    assert!(lengths.iter().sum::<usize>() <= 64 << 20, "{lengths:?}");
    assert_eq!(lengths[39], 0, "there is no room for the last one");
    assert!(symbols.lines().problem().is_some_and(|why| why.contains("64 MiB")));
}
