//! A scenario's `recipe.toml`: what it shows, how it is built and run, what is known of it beforehand.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::AtPath;
use crate::{Error, Facts, Result, Variant, paths, variant};

/// The language of a scenario's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// C, by gcc, clang or musl-gcc.
    C,
    /// C++, by g++ or clang++.
    Cpp,
    /// Rust, by rustc.
    Rust,
    /// Go, by its own compiler.
    Go,
    /// JavaScript, by a release of Node.js or Deno.
    JavaScript,
    /// Python, by an interpreter of CPython.
    Python,
    /// Java, by a release of HotSpot.
    Java,
    /// Ruby, by an interpreter of MRI.
    Ruby,
    /// Lua, by an interpreter of PUC-Rio's.
    Lua,
    /// Perl, by its own interpreter.
    Perl,
    /// PHP, by an interpreter of Zend's.
    Php,
    /// Erlang, by the virtual machine of Erlang/OTP.
    Erlang,
}

impl Language {
    /// Whether the compiler makes all that runs, so that other debuggers know its stacks too; else frames
    /// of a runtime stand between those of the program.
    pub fn is_compiled(self) -> bool {
        matches!(self, Language::C | Language::Cpp | Language::Rust | Language::Go)
    }
}

/// A program that makes cores, in all its variants.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The name: of the folder, of the program, of the folder in `target/cores`.
    pub name: String,
    /// The folder of the recipe.
    pub dir: PathBuf,
    /// What the recipe says.
    pub recipe: Recipe,
    /// How it is made.
    pub variants: Vec<Variant>,
    /// How it is made beside that by who asks for it.
    pub on_demand: Vec<Variant>,
}

/// The contents of a `recipe.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// What the scenario shows, in one sentence.
    pub shows: String,
    /// The language.
    pub language: Language,
    /// The source, relative to the recipe; `main.c`, `main.cpp`, `main.rs`, `main.go`, `main.js`, `main.py`,
    /// `Main.java` or `main.rb` if not given.
    pub source: Option<String>,
    /// Sources of more units in C or C++, relative to the recipe; of a program in Go, more of it, which may be C; of a
    /// program in Java, its library of native code.
    #[serde(default)]
    pub units: Vec<String>,
    /// Folders of `include/` whose headers it uses, beside those that all use.
    #[serde(default)]
    pub shares: Vec<String>,
    /// Names of variants, in place of the language's default ones.
    pub variants: Option<Vec<String>>,
    /// Those of `variants` that a run with [`FEW`](crate::FEW) leaves out.
    #[serde(default)]
    pub long_runs: Vec<String>,
    /// Names of variants that are made only on demand, in place of the language's default ones.
    pub on_demand: Option<Vec<String>>,
    /// Words of default variants that the scenario cannot be made in.
    #[serde(default)]
    pub without: Vec<String>,
    /// More flags for the compiler, or for the runtime that runs the program.
    #[serde(default)]
    pub flags: Vec<String>,
    /// More flags for the linker, behind the objects.
    #[serde(default)]
    pub link: Vec<String>,
    /// Packages of Python that its scripts import from the folder `packages`.
    #[serde(default)]
    pub packages: Vec<String>,
    /// A package of Python, with its version, that holds a library which the program loads from its folder.
    pub wheel: Option<String>,
    /// Packages of Debian with libraries that it is linked with; `{debian}` in flags is the folder that has them.
    #[serde(default)]
    pub debian: Vec<String>,
    /// Rust: the manifest of a program that stands on packages, relative to the recipe.
    pub manifest: Option<String>,
    /// The program's arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Threads that the account must have room for.
    pub threads: Option<u32>,
    /// Stack limit of the main thread in KiB.
    pub stack_kib: Option<u32>,
    /// What the kernel is to dump (`/proc/PID/coredump_filter`, a number as core(5) explains it).
    pub coredump_filter: Option<String>,
    /// The signal that ends a process which only waits.
    pub kill: Option<String>,
    /// Signals that gdb passes to the program, since it handles them.
    #[serde(default)]
    pub gdb_pass: Vec<String>,
    /// More gdb commands before the program runs.
    #[serde(default)]
    pub gdb_before: Vec<String>,
    /// Why gdb's stacks of all variants are not the truth, if they are not.
    pub gdb_differs: Option<String>,
    /// Rust: what a panic does.
    #[serde(default)]
    pub panic: Panic,
    /// Libraries that are built into the case's folder.
    #[serde(default)]
    pub libs: Vec<Lib>,
    /// What is known before the program runs; its own account stands over it.
    #[serde(default)]
    pub facts: Facts,
    /// What differs in some variants.
    #[serde(default)]
    pub when: Vec<When>,
}

/// What a Rust panic does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Panic {
    /// `-C panic=abort`.
    #[default]
    Abort,
    /// `-C panic=unwind`.
    Unwind,
}

/// A shared library of a scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lib {
    /// File name, or a pattern with `{}` for the number if there are several.
    pub file: String,
    /// Source, relative to the recipe.
    pub source: String,
    /// More flags; `{}` is the number.
    #[serde(default)]
    pub flags: Vec<String>,
    /// How many are built from the source.
    #[serde(default = "one")]
    pub count: u32,
    /// Whether the program is linked against it.
    #[serde(default)]
    pub linked: bool,
}

/// Facts and flags that hold in variants whose name has all the words.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The words, each one of the name's.
    pub words: Vec<String>,
    /// More flags for the compiler.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Why gdb's stacks are not the truth there.
    pub gdb_differs: Option<String>,
    /// Facts that do not hold there.
    #[serde(default)]
    pub unset: Vec<String>,
    /// Facts in place of the recipe's.
    #[serde(default)]
    pub facts: Facts,
}

fn one() -> u32 {
    1
}

impl Scenario {
    /// Reads the recipe in a folder.
    ///
    /// # Errors
    /// The recipe cannot be read, is not TOML, or has an unknown key or variant.
    pub fn load(dir: &Path) -> Result<Scenario> {
        let path = dir.join("recipe.toml");
        let text = std::fs::read_to_string(&path).at(&path)?;
        let recipe: Recipe = toml::from_str(&text)
            .map_err(|error| Error::Recipe { path: path.clone(), reason: error.to_string() })?;
        let usual = variant::default_variants(recipe.language);
        let variants = recipe.parse_variants(recipe.variants.as_deref(), usual)?;
        let more = variant::default_on_demand(recipe.language);
        let mut on_demand = recipe.parse_variants(recipe.on_demand.as_deref(), more)?;
        on_demand.retain(|variant| !variants.contains(variant));
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Scenario { name, dir: dir.to_owned(), recipe, variants, on_demand })
    }

    /// The variant of this name.
    ///
    /// # Errors
    /// The scenario has none of this name.
    pub fn variant(&self, name: &str) -> Result<&Variant> {
        let found = self.all_variants().find(|variant| variant.name == name);
        found.ok_or_else(|| Error::NoVariant {
            scenario: self.name.clone(),
            variant: name.to_owned(),
        })
    }

    /// The variants, and those on demand.
    pub fn all_variants(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().chain(&self.on_demand)
    }

    /// The program's source.
    pub fn source(&self) -> PathBuf {
        let default = match self.recipe.language {
            Language::C => "main.c",
            Language::Cpp => "main.cpp",
            Language::Rust => "main.rs",
            Language::Go => "main.go",
            Language::JavaScript => "main.js",
            Language::Python => "main.py",
            Language::Java => "Main.java",
            Language::Ruby => "main.rb",
            Language::Lua => "main.lua",
            Language::Perl => "main.pl",
            Language::Php => "main.php",
            Language::Erlang => "main.erl",
        };
        let path = self.dir.join(self.recipe.source.as_deref().unwrap_or(default));
        // Without `..`, which debug information would carry.
        path.canonicalize().unwrap_or(path)
    }
}

impl Recipe {
    /// The variants of these names, or of the usual ones if none are given, but for those that the
    /// scenario cannot be made in.
    fn parse_variants(&self, names: Option<&[String]>, usual: &[&str]) -> Result<Vec<Variant>> {
        let names: Vec<&str> = match names {
            Some(names) => names.iter().map(String::as_str).collect(),
            None => usual.to_vec(),
        };
        let mut variants = names.into_iter().map(Variant::parse).collect::<Result<Vec<_>>>()?;
        variants.retain(|variant| !self.without.iter().any(|word| variant.has(word)));
        Ok(variants)
    }

    /// The parts of `when` that hold for a variant, in order.
    pub fn when_for<'a>(&'a self, variant: &'a Variant) -> impl Iterator<Item = &'a When> {
        self.when.iter().filter(|when| when.words.iter().all(|word| variant.has(word)))
    }
}

/// All scenarios, by name.
///
/// # Errors
/// The folder or one of the recipes cannot be read.
pub fn scenarios() -> Result<Vec<Scenario>> {
    let root = paths::scenarios_dir();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&root).at(&root)? {
        let dir = entry.at(&root)?.path();
        if dir.join("recipe.toml").is_file() {
            found.push(Scenario::load(&dir)?);
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The scenario of this name.
///
/// # Errors
/// There is none, or its recipe is wrong.
pub fn scenario(name: &str) -> Result<Scenario> {
    let dir = paths::scenarios_dir().join(name);
    match dir.join("recipe.toml").is_file() {
        true => Scenario::load(&dir),
        false => Err(Error::NoScenario(name.to_owned())),
    }
}
