use super::*;

#[test]
fn functions_come_without_their_parameters() {
    let cases = [
        ("_D3std5stdio7writelnFAyaZv", "std.stdio.writeln", "std.stdio.writeln(immutable(char)[])"),
        ("_D4main3Foo3barMFiZi", "main.Foo.bar", "main.Foo.bar(int)"),
        ("_D4main3Foo6__ctorMFZCQpQn", "main.Foo.this", "main.Foo.this()"),
        ("_D8demangle5outerFiZ5innerMFZv", "demangle.outer.inner", "demangle.outer(int).inner()"),
        ("_D8demangle4testFxAaZv", "demangle.test", "demangle.test(const(char[]))"),
        ("_D8demangle12__ModuleInfoZ", "ModuleInfo for demangle", "ModuleInfo for demangle"),
        (
            "_D8demangle__T4testTiZQiFiZv",
            "demangle.test!(int).test",
            "demangle.test!(int).test(int)",
        ),
        (
            "_D8demangle13__T4testVi42Z4testFZv",
            "demangle.test!(42).test",
            "demangle.test!(42).test()",
        ),
        ("_Dmain", "D main", "D main"),
    ];
    for (raw, function, full) in cases {
        let found = demangle(raw).unwrap_or_else(|| panic!("{raw} is a name"));
        assert_eq!((found.function.as_str(), found.full.as_str()), (function, full), "{raw}");
    }
}

#[test]
fn names_of_c_stay() {
    for raw in [
        "_D",
        "_DYNAMIC",
        "_D2x",
        "_D3foo",
        "_D3fooFiZ",
        "_D3fooQa",
        "_D9shortFZv",
        "_Debug",
        "_D1\u{e9}Z",
    ] {
        assert_eq!(demangle(raw), None, "{raw}");
    }
}

#[test]
fn references_that_unfold_end() {
    // Each type is a tuple of two of the one before.
    let mut bomb = String::from("_D1fFB2ii");
    let mut last = bomb.len() - 4;
    for _ in 0..40 {
        let at = bomb.len();
        bomb.push_str("B2");
        for _ in 0..2 {
            let distance = bomb.len() - last;
            bomb.push('Q');
            if distance >= 26 {
                bomb.push(char::from(b'A' + (distance / 26) as u8));
            }
            bomb.push(char::from(b'a' + (distance % 26) as u8));
        }
        last = at;
    }
    bomb.push_str("Zv");
    assert_eq!(demangle(&bomb), None);
    let deep = format!("_D1fF{}iZv", "A".repeat(20_000));
    assert_eq!(demangle(&deep), None);
    let named = format!("_D{}1aZ", "1a".repeat(2_000));
    assert!(demangle(&named).is_some());
}
