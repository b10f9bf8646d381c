//! Types as compilers describe them, in all versions of DWARF.

mod common;

use std::sync::Arc;

use common::Build;
use kcore_symbols::{
    BitField, Composite, DebugInfo, Dimension, Encoding, MemberPlace, Type, TypeKind,
};

const C: &str = r"
#include <complex.h>
struct bits { unsigned a : 3; int b : 7; unsigned long long c : 40; char d; };
struct order { int first; struct { char x; short y; }; union { int i; float f; } u; int tail[]; };
enum level { LOW = -3, HIGH = 200, TOP = 70000 };
enum big { HUGE_ONE = 0xfedcba9876543210ull };
typedef int vector4 __attribute__((vector_size(16)));
struct bits bits; struct order order; enum level level; enum big big;
vector4 vec; double complex z; int grid[3][5]; const char *const text = 0;
int (*callback)(const char *, ...); signed char tiny; unsigned char byte; char letter; _Bool flag;
int main(void) { return 0; }
";

fn info(compiler: &str, source: &str, flags: &[&str]) -> Arc<DebugInfo> {
    let build = Build::compile(compiler, source, "program", flags);
    Arc::new(DebugInfo::open(&build.image("program"), None))
}

fn named(info: &Arc<DebugInfo>, name: &str) -> Type {
    let found = info.find_types(name).into_iter().next();
    found.unwrap_or_else(|| panic!("no type {name}"))
}

fn composite(ty: &Type) -> &Composite {
    ty.composite().unwrap()
}

fn places(ty: &Type) -> Vec<MemberPlace> {
    composite(ty).members.iter().map(|member| member.place.clone()).collect()
}

fn enumerators(ty: &Type) -> Vec<i128> {
    match ty.kind() {
        TypeKind::Enumeration(enumeration) => {
            enumeration.enumerators.iter().map(|name| name.value).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_versions_say_the_same_of_c() {
    for compiler in ["gcc", "clang"] {
        for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
            let flags = ["-g", version];
            let what = format!("{compiler} {version}");
            check_c(&info(compiler, C, &flags), &what);
        }
    }
}

fn check_c(info: &Arc<DebugInfo>, what: &str) {
    let bit = |offset, size| MemberPlace::Bits(BitField { offset, size });
    let bits = named(info, "struct bits");
    assert_eq!(bits.size(), Some(8), "{what}");
    let expected = [bit(0, 3), bit(3, 7), bit(10, 40), MemberPlace::Offset(7)];
    assert_eq!(places(&bits), expected, "{what}");
    let order = named(info, "struct order");
    assert_eq!(places(&order), [0, 4, 8, 12].map(MemberPlace::Offset), "{what}");
    let members = &composite(&order).members;
    assert_eq!(members[1].name, None, "{what}");
    let tail = order.follow(&members[3].ty).unwrap();
    assert_eq!(tail.size(), None, "{what}");
    assert_eq!(enumerators(&named(info, "enum level")), [-3, 200, 70000], "{what}");
    assert_eq!(enumerators(&named(info, "enum big")), [0xfedc_ba98_7654_3210], "{what}");
    assert_eq!(named(info, "vector4").size(), Some(16), "{what}");
    let encoding = |name: &str| match named(info, name).kind() {
        TypeKind::Base(base) => base.encoding,
        other => panic!("{other:?}"),
    };
    assert_eq!(encoding("signed char"), Encoding::SignedChar, "{what}");
    assert_eq!(encoding("unsigned char"), Encoding::UnsignedChar, "{what}");
    assert_eq!(encoding("_Bool"), Encoding::Bool, "{what}");
}

#[test]
fn types_that_are_remembered_keep_nothing_alive() {
    let info = info("gcc", C, &["-g"]);
    let found = info.find_types("struct order");
    assert_eq!(found.first().and_then(Type::size), Some(12));
    drop(found);
    assert_eq!(Arc::strong_count(&info), 1);
}

#[test]
fn arrays_of_several_dimensions_are_one_type() {
    let info = info("gcc", "typedef int grid[3][5]; grid g; int main(void) { return 0; }", &["-g"]);
    let grid = named(&info, "grid");
    assert_eq!(grid.size(), Some(60));
    let TypeKind::Array(array) = grid.stripped().unwrap().kind().clone() else { panic!() };
    assert_eq!(array.dimensions, [Dimension::Count(3), Dimension::Count(5)]);
    assert_eq!(grid.stripped().unwrap().spelled(), "int [3][5]");
}

#[test]
fn a_qualified_array_is_one_of_qualified_elements() {
    let source = "const char *const names[2] = {}; const int numbers[3] = {1};
        int main(void) { return sizeof __func__ + (__func__[0] == *names[0]); }";
    for compiler in ["gcc", "clang"] {
        let info = info(compiler, source, &["-g"]);
        let declared = |name: &str| {
            let found = info.find_variables(name).first().copied();
            let variable = info.variable_at(found.unwrap(), None).unwrap();
            info.type_of(&variable).unwrap().spelled()
        };
        assert_eq!(declared("names"), "const char *const [2]", "{compiler}");
        assert_eq!(declared("numbers"), "const int [3]", "{compiler}");
        if compiler == "gcc" {
            assert_eq!(declared("__func__"), "const char [5]");
        }
    }
}

#[test]
fn a_structure_in_the_other_byte_order_says_so() {
    let source = "struct other { int n; } __attribute__((scalar_storage_order(\"big-endian\")));
        struct other o; int main(void) { return 0; }";
    let info = info("gcc", source, &["-g"]);
    let other = named(&info, "other");
    let member = other.follow(&composite(&other).members[0].ty).unwrap();
    let TypeKind::Base(base) = member.stripped().unwrap().kind().clone() else { panic!() };
    assert!(base.swapped);
}

#[test]
fn wide_integers_say_how_many_bits_count() {
    let source = "_BitInt(37) n; unsigned _BitInt(9) u; int main(void) { return 0; }";
    let info = info("clang", source, &["-g", "-w", "-std=c2x"]);
    let sizes: Vec<_> = ["_BitInt", "unsigned _BitInt"]
        .into_iter()
        .flat_map(|name| info.find_types(name))
        .map(|ty| (ty.size(), ty.kind().clone()))
        .collect();
    assert_eq!(sizes.len(), 2, "{sizes:?}");
}

const RUST: &str = "
    pub trait Speak { fn speak(&self) -> u32; }
    pub struct Dog(pub u32); pub struct Cat { pub lives: u64 }
    impl Speak for Dog { fn speak(&self) -> u32 { self.0 } }
    impl Speak for Cat { fn speak(&self) -> u32 { self.lives as u32 } }
    #[repr(i8)] pub enum Signed { Minus(u8) = -3, Plus(u16) = 4 }
    pub enum Wide { A(u128), B(Box<u8>), C }
    pub fn main() {
        let all: Vec<Box<dyn Speak>> = vec![Box::new(Dog(1)), Box::new(Cat { lives: 9 })];
        let (signed, other) = (Signed::Minus(1), Signed::Plus(2));
        let wide = [Wide::A(1), Wide::B(Box::new(1)), Wide::C];
        let sum: u32 = all.iter().map(|one| one.speak()).sum();
        if let Signed::Minus(n) = signed { println!(\"{n}\") }
        if let Signed::Plus(n) = other { println!(\"{n}\") }
        if let Wide::A(n) = &wide[0] { println!(\"{n}\") }
        println!(\"{sum}\");
    }";

#[test]
fn tables_of_rust_name_the_type_behind_them() {
    let info = info("rustc", RUST, &["-g"]);
    let types: Vec<String> = info
        .vtable_types()
        .values()
        .filter_map(|id| info.type_at(*id).ok()?.qualified_name())
        .collect();
    for name in ["source::Dog", "source::Cat"] {
        assert!(types.iter().any(|ty| ty == name), "{name} of {types:?}");
    }
    let (svma, _) = info.vtable_types().iter().next().unwrap();
    assert!(info.type_of_vtable(*svma).is_some());
}

#[test]
fn discriminants_are_unsigned_numbers_of_their_size() {
    let info = info("rustc", RUST, &["-g"]);
    let values = |name: &str| -> Vec<Vec<(u128, u128)>> {
        let ty = named(&info, name);
        let part = composite(&ty).variants.clone().unwrap();
        part.variants.into_iter().map(|variant| variant.values).collect()
    };
    assert_eq!(values("source::Signed"), [[(0xfd, 0xfd)], [(4, 4)]]);
    assert_eq!(values("source::Wide").len(), 3);
}
