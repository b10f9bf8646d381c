//! Shipped printers on small programs that are built against the libraries of this machine. A program asks its library
//! what its values are, and tells it before it stops.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

/// A program, and what it is built with.
struct Program {
    source: &'static str,
    /// Its name where one source gives several programs.
    name: &'static str,
    /// A package of pkg-config, or a header that shows whether the library is there.
    needs: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
}

const QT: &[&str] = &["-fPIC", "-std=c++17"];

const PROGRAMS: [Program; 7] = [
    Program {
        source: "boost.cpp",
        name: "boost",
        needs: "/usr/include/boost/variant2/variant.hpp",
        compiler: "g++",
        flags: &["-std=c++17", "-lboost_filesystem"],
    },
    Program { source: "glib.c", name: "glib", needs: "glib-2.0", compiler: "gcc", flags: &[] },
    Program { source: "libuv.c", name: "libuv", needs: "libuv", compiler: "gcc", flags: &[] },
    Program { source: "natvis.cpp", name: "natvis", needs: "/", compiler: "g++", flags: &[] },
    Program {
        source: "openssl.c",
        name: "openssl",
        needs: "libcrypto",
        compiler: "gcc",
        flags: &[],
    },
    Program { source: "qt.cpp", name: "qt5", needs: "Qt5Core", compiler: "g++", flags: QT },
    Program { source: "qt.cpp", name: "qt6", needs: "Qt6Core", compiler: "g++", flags: QT },
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sets")
}

impl Program {
    /// The flags of its library; `None` where that is not installed.
    fn library(&self) -> Option<Vec<String>> {
        if self.needs.starts_with('/') {
            return Path::new(self.needs).exists().then(Vec::new);
        }
        let output = Command::new("pkg-config").args(["--cflags", "--libs", self.needs]).output();
        let output = output.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).unwrap();
        Some(text.split_whitespace().map(str::to_owned).collect())
    }

    /// Builds it and lets it stop; the folder with its core.
    fn stop(&self, library: &[String]) -> PathBuf {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sets").join(self.name);
        drop(fs::remove_dir_all(&place));
        fs::create_dir_all(&place).unwrap();
        let mut compiler = Command::new(self.compiler);
        compiler.current_dir(&place).args(["-g", "-O0", "-w", "-o", self.name]);
        compiler.arg(folder().join(self.source)).args(self.flags).args(library);
        run(&mut compiler);
        let mut gdb = Command::new("gdb");
        gdb.args(["-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "run"]);
        gdb.args(["-ex", "generate-core-file core"]).arg(format!("./{}", self.name));
        run(gdb.current_dir(&place));
        place
    }

    /// What kcore shows otherwise than the program told, of how many.
    fn differences(&self, place: &Path) -> (Vec<String>, usize) {
        let truth = fs::read_to_string(place.join("truth.txt")).unwrap();
        let told: Vec<_> = truth.lines().map(|line| line.split_once('\t').unwrap()).collect();
        let differs = told.iter().filter_map(|(path, wanted)| {
            let shown = self.shown(place, path);
            (shown != *wanted)
                .then(|| format!("{}: {path} is {shown}, should be {wanted}", self.name))
        });
        (differs.collect(), told.len())
    }

    fn shown(&self, place: &Path, path: &str) -> String {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.args(["--no-rc", "--json", "-c", "::set -o array_mem_limit=200", "-c"]);
        if self.name == "natvis" {
            kcore.arg(format!("::load {}", folder().join("types.natvis").display())).arg("-c");
        }
        kcore.arg(format!("::print {path}")).args([self.name, "core"]).current_dir(place);
        let output = kcore.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        let mut values = records.filter(|record| record["type"] == "print");
        values.next().map_or_else(|| text.clone(), |record| summary(&record["value"]))
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A value in the words in which programs tell theirs. What has no order of its own is sorted.
fn summary(value: &Json) -> String {
    // What the members of a structure mean together.
    if let (Some("struct"), Some(words)) = (value["kind"].as_str(), value["symbol"].as_str()) {
        return words.to_owned();
    }
    let children = || value["children"].as_array().into_iter().flatten();
    match value["kind"].as_str().unwrap_or_default() {
        "text" => format!("\"{}\"", value["value"].as_str().unwrap_or_default()),
        "array" => {
            let mut parts: Vec<_> = children().map(summary).collect();
            if value["type"]
                .as_str()
                .is_some_and(|ty| ty.contains("unordered") || ty.contains("Set<"))
            {
                parts.sort_by_key(|part| part.parse::<i64>().ok());
            }
            format!("[{}]", parts.join(", "))
        }
        "map" => {
            let entry = |child: &Json| {
                let key = summary(&child["key"]);
                (key.parse::<i64>().ok(), format!("{key}: {}", summary(child)))
            };
            let mut entries: Vec<_> = children().map(entry).collect();
            entries.sort();
            let entries: Vec<_> = entries.into_iter().map(|(_, entry)| entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        "struct" => {
            let part = |child: &Json| {
                format!("{}: {}", child["name"].as_str().unwrap_or_default(), summary(child))
            };
            format!("{{{}}}", children().map(part).collect::<Vec<_>>().join(", "))
        }
        "bool" => u8::from(value["value"] == true).to_string(),
        _ => match &value["value"] {
            Json::String(text) => text.clone(),
            Json::Null => value.to_string(),
            other => other.to_string(),
        },
    }
}

#[test]
fn values_of_libraries_are_what_the_libraries_say() {
    let (mut differences, mut count) = (Vec::new(), 0);
    for program in &PROGRAMS {
        let Some(library) = program.library() else {
            gen_cores::not_tested(format!(
                "printers of {}: {} is not installed",
                program.name, program.needs
            ));
            continue;
        };
        let (differs, told) = program.differences(&program.stop(&library));
        println!("{}: {told} values", program.name);
        differences.extend(differs);
        count += told;
    }
    assert!(
        differences.is_empty(),
        "{} of {count} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
