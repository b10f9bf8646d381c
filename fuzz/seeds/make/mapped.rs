//! Source maps with their scripts: a plain one, one of sections, and one within a URL.

const PLAIN: &str = r#"{"version":3,"file":"out.js","sourceRoot":"src","sources":["a.ts",null],"names":["total"],
"sourcesContent":["let total =\n  1;\n",null],"mappings":"AAAA,IAAIA,KACF;ACDF,E"}"#;
const SECTIONS: &str = r#"{"version":3,"sections":[
{"offset":{"line":0,"column":0},"map":{"version":3,"sources":["/a.ts"],"names":[],"mappings":"AAAA,IAAI"}},
{"offset":{"line":1,"column":2},"map":{"version":3,"sources":["/b.ts"],"names":[],"mappings":"AACA;AACA"}}]}"#;
const SCRIPT: &str = "let ab = 1;\nef()\n//# sourceMappingURL=data:application/json;base64,e30=\n";

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let with_script = |map: &str| [map.as_bytes(), &[0], SCRIPT.as_bytes()].concat();
    vec![
        ("plain", with_script(PLAIN)),
        ("sections", with_script(SECTIONS)),
        ("guarded", with_script(&format!(")]}}'\n{PLAIN}"))),
        ("cut", PLAIN.as_bytes()[..120].to_vec()),
    ]
}
