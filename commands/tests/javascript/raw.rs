//! Objects as V8 lays them out.

use std::fs;

use serde_json::Value;

use crate::cores;

#[test]
fn strings_are_held_as_the_program_made_them() {
    let mut compared = 0;
    let cores: Vec<_> = cores("node-values").collect();
    for core in &cores {
        let values = core.argument("keep");
        let text = fs::read_to_string(core.case.dir.join("values.jsonl")).expect("values");
        for told in text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
            let (Some(form), Some(path)) = (told["form"].as_str(), told["print"].as_str()) else {
                continue;
            };
            let path = path.trim_start_matches("values.");
            let record = core.one(&format!("{values}::jsprint {path} | ::v8str -v"));
            let first = &record["parts"][0];
            let is_so = match form {
                "internalized" => first["internalized"] == true,
                // The collector puts what a thin string became in its place.
                "thin" => first["representation"] == form || first["internalized"] == true,
                form => first["representation"] == form,
            };
            assert!(is_so, "{} {path}: {first} is not {form}", core.name);
            compared += 1;
        }
    }
    assert_eq!(compared, 15 * cores.len(), "strings of {} cores", cores.len());
}

#[test]
fn objects_show_their_fields() {
    for core in cores("node-values") {
        let values = core.argument("keep");
        let at = |path: &str, line: &str| core.text(&format!("{values}::jsprint {path} | {line}"));
        assert!(at("classes.point", "::v8type").contains(": JSObject: Point"), "{}", core.name);
        assert!(at("oddballs.null", "::v8type").ends_with(": Oddball: \"null\"\n"));
        assert!(at("numbers.one", "::v8type").ends_with("SMI: value = 1\n"));
        let shown = at("classes.point", "::v8print");
        assert!(
            shown.contains("+0x0   map = ") && shown.contains("- = 300000000 (SMI: value = 3)"),
            "{shown}"
        );
        let array = core.one(&format!("{values}::jsprint arrays.smi | ::v8print"));
        let fields = array["fields"].as_array().unwrap();
        let elements = fields.iter().find(|field| field["name"] == "elements").expect("elements");
        let elements = elements["bits"].as_str().unwrap();
        let words = core.text(&format!("{elements}::v8array"));
        assert!(words.starts_with("100000000\n200000000\n300000000\n"), "{words}");
        let function = at("functions.closure", "::v8function");
        assert!(function.contains("JSFunction: counter\n") && function.contains("    script: "));
        let context = at("functions.closure", "::v8context");
        assert!(context.contains("\"count\": a00000000 (SMI: value = 10)"), "{context}");
        let stack = core.one("::jsstack");
        let frames = stack["frames"].as_array().unwrap();
        let keep = frames.iter().find(|frame| frame["function"] == "keep").expect("keep");
        let keep = keep["function_address"].as_str().unwrap();
        let scope = core.text(&format!("{keep}::v8scopeinfo"));
        assert!(scope.contains("function: keep\n"), "{scope}");
    }
}

#[test]
fn what_v8_exports_is_listed() {
    for core in cores("node-waiting") {
        assert!(core.text("::v8classes").lines().any(|line| line == "JSFunction"), "{}", core.name);
        let fields = core.text("::v8field HeapObject map");
        assert!(fields.lines().nth(1).is_some_and(|line| line.trim_start().starts_with("0 map")));
        assert!(core.text("::v8types").lines().any(|line| line.ends_with(" JSObject")));
        let frames = core.text("::v8frametypes");
        assert!(frames.lines().any(|line| line == "    1 EntryFrame"), "{frames}");
        assert!(core.error("::v8field Nothing").contains("no class Nothing"));
    }
}
