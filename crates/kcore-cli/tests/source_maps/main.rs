//! Source maps of a bundle that esbuild 0.28.2 made of `src/app.ts`:
//! `esbuild src/app.ts --bundle --minify --sourcemap --platform=node --outfile=dist/bundle.js`.
//!
//! Node.js itself tells both truths: the places in the bundle in the stack that the program prints before it dies, and
//! those in the sources when it is run with `--enable-source-maps`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gen_cores::{Program, core_of};
use serde_json::Value;
use tempfile::TempDir;

const BUNDLE: &str = include_str!("dist/bundle.js");
const MAP: &str = include_str!("dist/bundle.js.map");
const SOURCES: [(&str, &str); 2] =
    [("src/app.ts", include_str!("src/app.ts")), ("src/ledger.ts", include_str!("src/ledger.ts"))];
const RELEASES: [&str; 3] = ["node16", "node20", "node26"];

/// What the functions of the bundle are called in the sources, innermost first. The map names no class.
const NAMES: [&str; 7] =
    ["finish", "t.settle", "t.settle", "t.settle", "prepare", "start", "Object.<anonymous>"];
/// The innermost frame stands elsewhere than where the program prints its stack.
const CALLERS: std::ops::Range<usize> = 1..NAMES.len();

/// A program with its sources, and its core.
struct Ground {
    folder: TempDir,
    node: PathBuf,
}

/// Name and place of a frame.
type Place = (String, String, u64, u64);

impl Ground {
    fn new(word: &str, bundle: &str) -> Option<Self> {
        let node = match gen_cores::node(word) {
            Ok(node) => node,
            Err(error) => {
                gen_cores::not_tested(format_args!("{word}: {error}"));
                return None;
            }
        };
        let ground = Self { folder: tempfile::tempdir().unwrap(), node };
        for folder in ["src", "dist", "cores", "maps"] {
            fs::create_dir(ground.path(folder)).unwrap();
        }
        SOURCES.iter().for_each(|(name, text)| ground.write(name, text));
        ground.write("dist/bundle.js", bundle);
        let script = ground.script();
        let program = Program { path: &ground.node, args: &[&script], stack_kib: 8192 };
        core_of(&program, &ground.path("cores")).unwrap();
        Some(ground)
    }

    fn path(&self, name: &str) -> PathBuf {
        // As Node.js has it: without links.
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn script(&self) -> String {
        self.path("dist/bundle.js").display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn kcore(&self, words: &[&str]) -> String {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.args(["--no-rc", "-e"]).arg(&self.node).args(words).arg(self.path("cores/core"));
        let output = kcore.stdin(Stdio::null()).env_remove("DEBUGINFOD_URLS").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The frames of the bundle in JSON.
    fn frames(&self, options: &[&str]) -> Vec<Value> {
        let text = self.kcore(&[options, &["--json", "-c", "::stack"]].concat());
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let stack = records.into_iter().find(|record| record["frames"].is_array()).unwrap();
        let is_ours = |frame: &&Value| frame["file"] == *self.script();
        stack["frames"].as_array().unwrap().iter().filter(is_ours).cloned().collect()
    }

    /// The frames of the program that a stack of Node.js has.
    fn told(&self, stack: &str) -> Vec<Place> {
        stack.lines().filter_map(|line| self.told_frame(line)).collect()
    }

    fn told_frame(&self, line: &str) -> Option<Place> {
        let (name, place) = line.trim().strip_prefix("at ")?.rsplit_once(" (")?;
        let mut parts = place.strip_suffix(')')?.rsplitn(3, ':');
        let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let file = parts.next().filter(|file| Path::new(file).starts_with(self.path("")))?;
        Some((name.to_owned(), file.to_owned(), line, column))
    }

    /// The places in the sources, by Node.js with the map beside the bundle.
    fn mapped_by_node(&self) -> Vec<Place> {
        let mut node = Command::new(&self.node);
        node.args(["--enable-source-maps", &self.script(), "trace"]);
        let output = node.output().unwrap();
        self.told(&String::from_utf8_lossy(&output.stdout))
    }
}

fn place_of(frame: &Value) -> Place {
    let text = |key: &str| frame[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| frame[key].as_u64().unwrap_or_default();
    (text("function"), text("file"), number("line"), number("column"))
}

fn originals(frames: &[Value]) -> Vec<Place> {
    frames.iter().map(|frame| place_of(&frame["original"])).collect()
}

fn without_names(places: &[Place]) -> Vec<(&str, u64, u64)> {
    places.iter().map(|(_, file, line, column)| (&**file, *line, *column)).collect()
}

fn names(places: &[Place]) -> Vec<&str> {
    places.iter().map(|place| &*place.0).collect()
}

#[test]
fn frames_have_both_places_as_node_tells_them() {
    for word in RELEASES {
        let Some(ground) = Ground::new(word, BUNDLE) else { continue };
        ground.write("dist/bundle.js.map", MAP);
        let frames = ground.frames(&[]);
        let in_bundle: Vec<Place> = frames.iter().map(place_of).collect();
        let told = ground.told(&fs::read_to_string(ground.path("cores/output.txt")).unwrap());
        assert_eq!(in_bundle[CALLERS], told[CALLERS], "{word}");
        let found = originals(&frames);
        assert_eq!(names(&found), NAMES, "{word}");
        let mapped = ground.mapped_by_node();
        assert_eq!(without_names(&found[CALLERS]), without_names(&mapped[CALLERS]), "{word}");
        let text = ground.kcore(&["-c", "::stack; ::jsstack -vn 1"]);
        let shown = format!("prepare() at {}:10:17 [js]", ground.path("src/app.ts").display());
        assert!(text.contains(&shown), "{word}: {text}");
        assert!(text.contains(">   10   return ledger.settle(options.depth);"), "{word}: {text}");
    }
}

#[test]
fn a_map_is_had_from_the_script_itself_or_where_an_option_says() {
    let inline = format!("data:application/json;base64,{}", base64(MAP.as_bytes()));
    let Some(ground) = Ground::new("node24", &BUNDLE.replace("bundle.js.map", &inline)) else {
        return;
    };
    assert_eq!(names(&originals(&ground.frames(&[]))), NAMES);

    let Some(ground) = Ground::new("node24", BUNDLE) else { return };
    let none: Vec<Value> = ground.frames(&[]);
    assert!(none.len() == NAMES.len() && none.iter().all(|frame| frame["original"].is_null()));
    ground.write("maps/bundle.js.map", MAP);
    let [file, folder] = ["maps/bundle.js.map", "maps"].map(|name| ground.path(name));
    for path in [file, folder] {
        let found = originals(&ground.frames(&["--source-map", path.to_str().unwrap()]));
        assert_eq!(names(&found), NAMES, "{path:?}");
    }
    let map = format!("--map={}={}", ground.path("dist").display(), ground.path("maps").display());
    assert_eq!(names(&originals(&ground.frames(&[&map]))), NAMES);
}

#[test]
fn a_map_of_another_build_is_refused_once_and_in_words() {
    let Some(ground) = Ground::new("node24", BUNDLE) else { return };
    let (_, mappings) = MAP.split_once("\"mappings\": \"").unwrap();
    let first = mappings.split(',').next().unwrap();
    for (map, why) in [
        (
            MAP.replacen(first, &format!("E{}", &first[1..]), 1),
            "it is of another build: it leads into the middle of words",
        ),
        (MAP.replacen("{", r#"{"file": "other.js","#, 1), "it is that of other.js"),
        (MAP.replacen(first, &format!(";;;;{first}"), 1), "it is of another build: it has line 5"),
        (MAP.replacen(first, "!", 1), "its mappings of line 1 are damaged"),
        (MAP[..MAP.len() / 2].to_owned(), "it is no source map: its JSON ends at line"),
    ] {
        ground.write("dist/bundle.js.map", &map);
        assert!(ground.frames(&[]).iter().all(|frame| frame["original"].is_null()), "{why}");
        let text = ground.kcore(&["-c", "::stack"]);
        assert_eq!(text.matches(why).count(), 1, "{why}: {text}");
        let bundle = format!("{}:1:", ground.script());
        assert_eq!(text.matches(&bundle).count(), NAMES.len(), "{text}");
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |three: &[u8]| -> Vec<u8> {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(*three.get(at).unwrap_or(&0)));
        let digit =
            |at: usize| if at <= three.len() { DIGITS[bits >> (18 - 6 * at) & 63] } else { b'=' };
        (0..4).map(digit).collect()
    };
    String::from_utf8(bytes.chunks(3).flat_map(digits).collect()).unwrap()
}
