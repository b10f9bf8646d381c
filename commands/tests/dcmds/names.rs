//! Whatever a name is shown as, it can be typed: to filters of stacks, to commands that take symbols, as an
//! address.

use std::sync::LazyLock;

use kcore::{Addr, demangle};

use crate::harness::{Opened, hex, open};

static CPP: LazyLock<Opened> = LazyLock::new(|| open("cpp", "O0-pie"));

/// A function of the crashed thread's stack.
struct Function {
    shown: String,
    offset: u64,
    start: u64,
    raw: String,
}

/// The functions of C++ in the stack, each with what it is shown as.
fn functions() -> Vec<Function> {
    let stack = CPP.json("::stack").remove(0);
    let frames = stack["frames"].as_array().expect("frames").clone();
    let found = frames.iter().filter(|frame| frame["inline"] == false).filter_map(|frame| {
        let offset = hex(&frame["offset"]);
        let start = hex(&frame["pc"]).checked_sub(offset)?;
        let raw = CPP.core.symbols().mangled_name(Addr::new(start))?;
        let shown = frame["function"].as_str()?.to_owned();
        raw.starts_with("_Z").then_some(Function { shown, offset, start, raw })
    });
    let found: Vec<_> = found.collect();
    let all: Vec<_> = found.iter().map(|function| function.shown.as_str()).collect();
    for name in ["shop::Box<long>::get", "(anonymous namespace)::hidden", "shop::fold<long, 3>"] {
        assert!(all.contains(&name), "{name} is in the stack: {all:?}");
    }
    found
}

/// How many records pass a filter; where none does, a note says so.
fn found(line: &str) -> usize {
    CPP.json(line).iter().filter(|record| record["type"] != "note").count()
}

impl Function {
    /// What commands show it as, without an offset.
    fn spellings(&self) -> Vec<String> {
        let full = demangle(self.raw.as_bytes()).whole();
        vec![
            self.shown.clone(),
            full.clone(),
            full.replace(", ", ","),
            self.raw.clone(),
            format!("cpp`{}", self.shown),
            format!("cpp`{full}"),
            format!("a.out`{}", self.raw),
        ]
    }
}

#[test]
fn filters_of_stacks_take_every_spelling_of_a_function() {
    for function in functions() {
        for name in function.spellings() {
            assert_eq!(found(&format!("::stacks -c '{name}'")), 1, "{name}");
            assert_eq!(found(&format!("::stacks -C '{name}'")), 0, "{name}");
            assert_eq!(found(&format!("::findstack -c '{name}'")), 1, "{name}");
            let at = format!("{name}+0x{:x}", function.offset);
            assert_eq!(found(&format!("::stacks -c '{at}'")), 1, "{at}");
            let beyond = format!("{name}+0x{:x}", function.offset + 1);
            assert_eq!(found(&format!("::stacks -c '{beyond}'")), 0, "{beyond}");
        }
    }
}

#[test]
fn filters_of_stacks_take_templates_without_their_arguments() {
    assert_eq!(found("::stacks -c shop::fold"), 1);
    for other in
        ["shop", "shop::Box", "shop::fold<long>", "fold", "shop::fold<long, 4>", "operator+"]
    {
        assert_eq!(found(&format!("::stacks -c '{other}'")), 0, "{other}");
    }
}

#[test]
fn a_module_before_a_function_counts() {
    assert_eq!(found("::stacks -c 'cpp`main'"), 1);
    assert_eq!(found("::stacks -c 'libc.so.6`main'"), 0);
    assert!(CPP.error("::stacks -c 'zz`main'").contains("unknown object file name"));
    assert!(CPP.error("::stacks -c main+zz").contains("zz"));
}

#[test]
fn commands_take_every_spelling_of_a_symbol() {
    for function in functions() {
        for name in function.spellings() {
            let found = CPP.one(&format!("\"{name}\"::nm"));
            assert_eq!(
                (hex(&found["address"]), &found["linkage_name"]),
                (function.start, &function.raw.as_str().into()),
                "{name}"
            );
            let at = format!("{name}+0x{:x}", function.offset);
            for (typed, expected) in
                [(&name, function.start), (&at, function.start + function.offset)]
            {
                let first = CPP.json(&format!("::dis -n 0 '{typed}'")).remove(0);
                assert_eq!(hex(&first["address"]), expected, "{typed}");
            }
        }
    }
}

/// What `::nm` lists is found again by what it is listed as, operators, tables and copies too.
#[test]
fn what_nm_lists_can_be_typed() {
    let rows = CPP.json("::nm cpp");
    let named = |row: &&serde_json::Value| {
        row["linkage_name"].as_str().is_some_and(|it| it.starts_with("_Z"))
    };
    let rows: Vec<_> = rows.iter().filter(named).filter(|row| !row["address"].is_null()).collect();
    let mut special = 0;
    for row in &rows {
        let name = row["name"].as_str().expect("a name");
        special += usize::from(name.contains(" for ") || name.contains("operator"));
        let same = |other: &&&serde_json::Value| other["name"] == row["name"];
        let places: Vec<_> = rows.iter().filter(same).map(|other| hex(&other["address"])).collect();
        let found = CPP.one(&format!("\"a.out`{}\"::nm", name.replace('"', "\\\"")));
        assert!(places.contains(&hex(&found["address"])), "{name}");
    }
    assert!(special > 5, "tables and operators: {special} of {}", rows.len());
}

#[test]
fn operators_need_no_quotes() {
    let stream = "std::basic_ostream<char, std::char_traits<char> >::";
    let string = "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::";
    for (class, operator) in [
        (stream, "operator<<(int)"),
        (string, "operator[](unsigned long)"),
        (string, "operator+=(char)"),
    ] {
        let bare = CPP.text(&format!("libstdc++.so.6`{class}{operator}=K"));
        let quoted = CPP.text(&format!("\"libstdc++.so.6`{class}{operator}\"=K"));
        assert_eq!(bare, quoted, "{operator}");
    }
}
