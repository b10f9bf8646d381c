//! Maps that are written by hand.

use super::*;

/// Two lines of generated text from two sources: `let ab = cd(1);` and `ef()`, names for `ab` and `cd`.
const PLAIN: &str = r#"{"version":3,"file":"out.js","sourceRoot":"","sources":["../src/a.ts","../src/b.ts"],
    "names":["total","compute"],"sourcesContent":["let total =\n  compute(1);\n",null],
    "mappings":"AAAA,IAAIA,KACFC;ACDF,E"}"#;
const TEXT: &str = "let ab = cd(1);\nef()\n";

fn map(text: &str) -> SourceMap {
    SourceMap::parse(text.as_bytes()).expect("a map")
}

/// Source, line and column from 1, name.
fn place(map: &SourceMap, line: u32, column: u32) -> Option<(String, u32, u32, Option<&str>)> {
    let found = map.original(line, column)?;
    Some((found.source(Some("/app/dist")), found.line + 1, found.column + 1, found.name))
}

fn misfit(map: &SourceMap, text: &str) -> Option<Misfit> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let ends = units.iter().enumerate().filter(|(_, unit)| **unit == 0x0a);
    let starts: Vec<u32> = ends.map(|(at, _)| at as u32 + 1).collect();
    map.misfit(GeneratedText { units: &units, starts: &starts })
}

#[test]
fn a_place_has_what_the_mapping_before_it_on_its_line_says() {
    let map = map(PLAIN);
    let of = |source: &str, line, column, name| Some((source.to_owned(), line, column, name));
    assert_eq!(place(&map, 0, 0), of("/app/src/a.ts", 1, 1, None));
    assert_eq!(place(&map, 0, 3), of("/app/src/a.ts", 1, 1, None));
    assert_eq!(place(&map, 0, 4), of("/app/src/a.ts", 1, 5, Some("total")));
    assert_eq!(place(&map, 0, 9), of("/app/src/a.ts", 2, 3, Some("compute")));
    assert_eq!(place(&map, 1, 1), of("/app/src/b.ts", 1, 1, None));
    assert_eq!([place(&map, 1, 2), place(&map, 2, 0), place(&map, 9, 9)], [None, None, None]);
    assert!(map.original(0, 4).unwrap().is_exact && !map.original(0, 5).unwrap().is_exact);
    assert_eq!((map.file(), map.debug_id()), (Some("out.js"), None));
}

#[test]
fn sections_begin_where_they_say() {
    let section = |line, column, source: &str| {
        format!(
            r#"{{"offset":{{"line":{line},"column":{column}}},"map":{{"version":3,"names":[],"sources":["{source}"],"mappings":"AAAA,IAAI;AACA"}}}}"#
        )
    };
    let parts = [section(0, 0, "/a.ts"), section(2, 10, "/b.ts")].join(",");
    let map = map(&format!(r#"{{"version":3,"sections":[{parts}]}}"#));
    let found = |line, column| place(&map, line, column).map(|it| (it.0, it.1, it.2));
    assert_eq!(found(0, 5), Some(("/a.ts".into(), 1, 5)));
    assert_eq!(found(2, 9), None);
    assert_eq!(found(2, 13), Some(("/b.ts".into(), 1, 1)));
    assert_eq!(found(2, 14), Some(("/b.ts".into(), 1, 5)));
    assert_eq!(found(3, 0), Some(("/b.ts".into(), 2, 5)), "steps go on over lines");

    let parts = [section(2, 0, "/a.ts"), section(0, 0, "/b.ts")].join(",");
    let wrong = SourceMap::parse(format!(r#"{{"version":3,"sections":[{parts}]}}"#).as_bytes());
    assert_eq!(wrong.unwrap_err(), SourceMapError::Sections);
}

#[test]
fn what_is_no_map_is_refused_in_words() {
    let said = |text: &str| SourceMap::parse(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(said("{"), "it is no source map: its JSON ends at line 1, column 1");
    assert_eq!(said("{}"), "it is no source map: it has no mappings");
    assert_eq!(
        said(r#"{"version":4,"mappings":""}"#),
        "it is of version 4 of source maps, which is not known"
    );
    assert_eq!(said(r#"{"version":3,"mappings":"A;A;!"}"#), "its mappings of line 3 are damaged");
    assert_eq!(
        said(r#"{"version":3,"mappings":"E,D"}"#),
        "its mappings of line 1 are not in order"
    );
    assert!(said(r#"{"version":3,"names":[1],"mappings":""}"#).contains("another type"));
}

#[test]
fn a_map_begins_behind_what_guards_it() {
    assert_eq!(map(&format!(")]}}'\n{PLAIN}")).file(), Some("out.js"));
    assert_eq!(map(&format!("\u{feff}{PLAIN}")).file(), Some("out.js"));
}

#[test]
fn marks_change_no_answer() {
    // A thousand mappings, two columns each, and as many lines of the source.
    let mappings = format!("AAAA{};{}", ",EACA".repeat(999), "AACA,EACA");
    let map =
        map(&format!(r#"{{"version":3,"sources":["/a"],"names":[],"mappings":"{mappings}"}}"#));
    for number in [0, 1, 255, 256, 257, 511, 512, 998, 999] {
        for column in [number * 2, number * 2 + 1] {
            assert_eq!(place(&map, 0, column).unwrap().1, number + 1, "{column}");
        }
    }
    assert_eq!(place(&map, 0, u32::MAX).unwrap().1, 1000);
    assert_eq!(place(&map, 1, 1).unwrap().1, 1001);
}

#[test]
fn a_map_of_another_text_is_told() {
    let map = map(PLAIN);
    assert_eq!(misfit(&map, TEXT), None);
    assert_eq!(misfit(&map, "let ab = cd(1);"), Some(Misfit::Line { line: 2, lines: 1 }));
    assert_eq!(misfit(&map, "let ab;\nef()"), Some(Misfit::Column { line: 1, column: 10 }));
    assert_eq!(misfit(&map, "letting abcd=1;\nefgh\n"), Some(Misfit::Words { line: 1 }));
    let short = PLAIN.replace("let total =\\n  compute(1);\\n", "let");
    assert_eq!(misfit(&self::map(&short), TEXT), None, "one behind the last line is its end");
    let shorter = PLAIN.replace("AAAA,", "AAEA,");
    assert_eq!(
        misfit(&self::map(&shorter.replace("let total =\\n  compute(1);\\n", "let")), TEXT),
        Some(Misfit::Source { line: 1 })
    );
}

#[test]
fn a_map_of_every_letter_fits() {
    // Each letter of `abcdefghij` where it was.
    let mappings = format!("AAAA{}", ",CAAC".repeat(9));
    let map =
        map(&format!(r#"{{"version":3,"sources":["/a"],"names":[],"mappings":"{mappings}"}}"#));
    assert_eq!(misfit(&map, "abcdefghij"), None);
}
