//! A variant: how a scenario is compiled, linked and dumped, told by its name (`O2-musl-static`).

use crate::golang;
use crate::java;
use crate::node::{self, Release};
use crate::python::{self, Interpreter};
use crate::{DebugForm, Error, Language, Result};
use crate::{erlang, lua, perl, php, ruby};

/// Optimisation and frame pointers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opt {
    /// `O0` or `debug`: not optimised.
    None,
    /// `Og`: optimised as far as it does not hinder who debugs; C and C++ alone.
    Debug,
    /// `O2` or `release`: optimised, without frame pointers.
    Full,
    /// `O2fp` or `releasefp`: optimised, with frame pointers.
    FramePointers,
}

/// What kind of executable it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Dynamic, position independent.
    Pie,
    /// Dynamic, at a fixed address.
    NoPie,
    /// Static, at a fixed address.
    Static,
    /// Static, position independent.
    StaticPie,
}

impl Link {
    /// Whether the C library is a part of the executable.
    pub fn is_static(self) -> bool {
        matches!(self, Link::Static | Link::StaticPie)
    }
}

/// The C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Libc {
    /// The system's, by the plain compiler.
    Glibc,
    /// musl, by `musl-gcc`.
    Musl,
}

/// The compiler of C and C++, and its library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolchain {
    /// gcc, with libstdc++.
    Gnu,
    /// `clang`, with libstdc++.
    Clang,
    /// `libcxx`: clang, with libc++.
    LibCxx,
}

/// Who writes the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Maker {
    /// The kernel, when the process dies.
    Kernel,
    /// gdb's `gcore`.
    Gcore,
    /// qemu's user-mode emulator, when the process that it runs dies.
    Qemu,
}

/// The architecture of the program and so of its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Arch {
    /// The machine's own.
    #[serde(rename = "x86_64")]
    X86_64,
    /// By a cross compiler, run by qemu.
    #[serde(rename = "aarch64")]
    Aarch64,
    /// By a cross compiler, run by the machine itself.
    #[serde(rename = "i386")]
    I386,
    /// By a cross compiler, run by qemu, as all that follow: 32-bit Arm.
    #[serde(rename = "arm")]
    Arm,
    /// PowerPC of 64 bits, little-endian.
    #[serde(rename = "ppc64le")]
    PowerPc64Le,
    /// PowerPC of 64 bits, big-endian.
    #[serde(rename = "ppc64")]
    PowerPc64,
    /// z/Architecture.
    #[serde(rename = "s390x")]
    S390x,
    /// MIPS of 32 bits, big-endian.
    #[serde(rename = "mips")]
    Mips,
    /// MIPS of 64 bits, little-endian.
    #[serde(rename = "mips64el")]
    Mips64El,
    /// The same with words of 32 bits: the interface n32.
    #[serde(rename = "mipsn32el")]
    MipsN32El,
}

/// What it takes to make cores of another architecture.
pub(crate) struct Cross {
    /// The word of variants.
    pub word: &'static str,
    /// The architecture.
    pub arch: Arch,
    /// The folder of its libraries.
    pub sysroot: &'static str,
    /// The compiler of C.
    pub gcc: &'static str,
    /// What that is told, to compile for this architecture and not for another one of its own.
    pub flags: &'static [&'static str],
    /// The emulator; `None` where the machine runs its programs.
    pub qemu: Option<&'static str>,
    /// `e_machine` of its ELF files.
    pub machine: u16,
    /// Whether they are big-endian.
    pub is_big: bool,
}

/// The other architectures.
pub(crate) const CROSS: &[Cross] = &[
    Cross {
        word: "aarch64",
        arch: Arch::Aarch64,
        sysroot: "/usr/aarch64-linux-gnu",
        gcc: "aarch64-linux-gnu-gcc",
        flags: &[],
        qemu: Some("qemu-aarch64"),
        machine: 183,
        is_big: false,
    },
    Cross {
        word: "i386",
        arch: Arch::I386,
        sysroot: "/usr/i686-linux-gnu",
        gcc: "i686-linux-gnu-gcc",
        flags: &[],
        qemu: None,
        machine: 3,
        is_big: false,
    },
    Cross {
        word: "arm",
        arch: Arch::Arm,
        sysroot: "/usr/arm-linux-gnueabihf",
        gcc: "arm-linux-gnueabihf-gcc",
        flags: &[],
        qemu: Some("qemu-arm"),
        machine: 40,
        is_big: false,
    },
    Cross {
        word: "ppc64le",
        arch: Arch::PowerPc64Le,
        sysroot: "/usr/powerpc64le-linux-gnu",
        gcc: "powerpc64le-linux-gnu-gcc",
        flags: &[],
        qemu: Some("qemu-ppc64le"),
        machine: 21,
        is_big: false,
    },
    Cross {
        word: "ppc64",
        arch: Arch::PowerPc64,
        sysroot: "/usr/powerpc64-linux-gnu",
        gcc: "powerpc64-linux-gnu-gcc",
        flags: &[],
        qemu: Some("qemu-ppc64"),
        machine: 21,
        is_big: true,
    },
    Cross {
        word: "s390x",
        arch: Arch::S390x,
        sysroot: "/usr/s390x-linux-gnu",
        gcc: "s390x-linux-gnu-gcc",
        flags: &[],
        qemu: Some("qemu-s390x"),
        machine: 22,
        is_big: true,
    },
    Cross {
        word: "mips",
        arch: Arch::Mips,
        sysroot: "/usr/mips-linux-gnu",
        gcc: "mips-linux-gnu-gcc",
        flags: &[],
        qemu: Some("qemu-mips"),
        machine: 8,
        is_big: true,
    },
    Cross {
        word: "mips64el",
        arch: Arch::Mips64El,
        sysroot: "/usr/mips64el-linux-gnuabi64",
        gcc: "mips64el-linux-gnuabi64-gcc",
        flags: &[],
        qemu: Some("qemu-mips64el"),
        machine: 8,
        is_big: false,
    },
    Cross {
        word: "mipsn32el",
        arch: Arch::MipsN32El,
        sysroot: "/usr/mips64el-linux-gnuabi64",
        gcc: "mips64el-linux-gnuabi64-gcc",
        flags: &["-mabi=n32"],
        qemu: Some("qemu-mipsn32el"),
        machine: 8,
        is_big: false,
    },
];

impl Arch {
    /// The folder that holds the system's libraries for programs of this architecture, if it is not `/`.
    pub fn sysroot(self) -> Option<&'static str> {
        self.cross().map(|cross| cross.sysroot)
    }

    /// What it takes to make its cores, if it is not the machine's own.
    pub(crate) fn cross(self) -> Option<&'static Cross> {
        CROSS.iter().find(|cross| cross.arch == self)
    }
}

/// One way to make a scenario's core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The name that the other fields were read from.
    pub name: String,
    /// Optimisation.
    pub opt: Opt,
    /// Kind of executable.
    pub link: Link,
    /// C library.
    pub libc: Libc,
    /// Compiler of C and C++.
    pub toolchain: Toolchain,
    /// Form of the debug information.
    pub debug: DebugForm,
    /// Writer of the core.
    pub maker: Maker,
    /// Architecture.
    pub arch: Arch,
    /// The release of Node.js or Deno that runs a program in JavaScript.
    pub(crate) node: Option<Release>,
    /// The interpreter that runs a program in Python.
    pub(crate) python: Option<Interpreter>,
    /// The interpreter that runs a program in Ruby.
    pub(crate) ruby: Option<ruby::Interpreter>,
    /// The interpreter that runs a program in Lua.
    pub(crate) lua: Option<lua::Interpreter>,
    /// The interpreter that runs a program in Perl.
    pub(crate) perl: Option<perl::Interpreter>,
    /// The interpreter that runs a program in PHP.
    pub(crate) php: Option<php::Interpreter>,
    /// The virtual machine that runs a program in Erlang.
    pub(crate) erlang: Option<erlang::Machine>,
    /// The release of Go that builds a program in Go, with its own `go build`.
    pub(crate) go: Option<golang::Release>,
    /// The release of the virtual machine that runs a program in Java.
    pub(crate) java: Option<java::Release>,
    /// Whether that has no symbols but for those of its dynamic table.
    pub stripped: bool,
    /// Whether return addresses are signed and branch targets marked (`-mbranch-protection=standard`).
    pub signed: bool,
}

impl Variant {
    /// Reads a name: an optimisation or a runtime first, then words for architecture, compiler, debug information,
    /// link, libc and maker in any order.
    ///
    /// # Errors
    /// A word that is unknown, or two that exclude each other.
    pub fn parse(name: &str) -> Result<Variant> {
        let (first, rest) = name.split_once('-').unwrap_or((name, ""));
        let node = node::release(first);
        let python = python::interpreter(first);
        let ruby = ruby::interpreter(first);
        let lua = lua::interpreter(first);
        let perl = perl::interpreter(first);
        let php = php::interpreter(first);
        let erlang = erlang::machine(first);
        let go = golang::release(first);
        let java = java::release(first);
        let is_unpacked = ruby.is_some() || lua.is_some() || perl.is_some() || php.is_some();
        let is_unpacked = is_unpacked || erlang.is_some();
        let is_script = node.is_some() || python.is_some() || is_unpacked;
        // Runtimes as they are distributed.
        let (opt, link) = match is_script || go.is_some() || java.is_some() {
            true => (Opt::Full, Link::NoPie),
            false => (parse_opt(first).ok_or_else(|| unknown(name, first))?, Link::Pie),
        };
        let mut variant = Variant {
            name: name.to_owned(),
            opt,
            link,
            libc: Libc::Glibc,
            toolchain: Toolchain::Gnu,
            debug: DebugForm::default(),
            maker: Maker::Kernel,
            arch: Arch::X86_64,
            node,
            python,
            ruby,
            lua,
            perl,
            php,
            erlang,
            go,
            java,
            stripped: false,
            signed: false,
        };
        // `static-pie` is one word that holds the separator.
        let rest = rest.replace("static-pie", "staticpie");
        for word in rest.split('-').filter(|word| !word.is_empty()) {
            variant.apply(word).ok_or_else(|| unknown(name, word))?;
        }
        match variant.conflict() {
            None => Ok(variant),
            Some(reason) => {
                Err(Error::Variant { variant: name.to_owned(), reason: reason.to_owned() })
            }
        }
    }

    /// Which words of the name exclude each other, if any do.
    fn conflict(&self) -> Option<&'static str> {
        if self.toolchain != Toolchain::Gnu
            && (self.libc == Libc::Musl || self.arch != Arch::X86_64)
        {
            return Some("clang compiles for the machine's own architecture and library alone");
        }
        if self.stripped && self.node.is_none() && self.go.is_none() {
            return Some("`stripped` goes with a runtime alone");
        }
        if self.signed && self.arch != Arch::Aarch64 {
            return Some("`pac` goes with `aarch64` alone");
        }
        let cross = self.arch.cross()?;
        if self.libc == Libc::Musl {
            return Some("no musl for other architectures");
        }
        let is_dumped_by_qemu = self.maker == Maker::Qemu;
        (is_dumped_by_qemu != cross.qemu.is_some())
            .then_some("other architectures are dumped by qemu alone")
    }

    fn apply(&mut self, word: &str) -> Option<()> {
        match word {
            "pie" => self.link = Link::Pie,
            "nopie" => self.link = Link::NoPie,
            "static" => self.link = Link::Static,
            "staticpie" => self.link = Link::StaticPie,
            "musl" => self.libc = Libc::Musl,
            "clang" => self.toolchain = Toolchain::Clang,
            "libcxx" => self.toolchain = Toolchain::LibCxx,
            "gcore" => self.maker = Maker::Gcore,
            "pac" => self.signed = true,
            "stripped" => self.stripped = true,
            _ if self.java.is_some() && java::is_way(word) => {}
            _ if let Some(cross) = CROSS.iter().find(|cross| cross.word == word) => {
                self.arch = cross.arch;
                self.maker = if cross.qemu.is_some() { Maker::Qemu } else { Maker::Kernel };
            }
            _ => self.debug.apply(word)?,
        }
        Some(())
    }

    /// The word of the name that asks for a version of a runtime (`node20`, `debian3.14`), if one does.
    pub fn runtime(&self) -> Option<&str> {
        let is_script = self.node.is_some()
            || self.python.is_some()
            || self.ruby.is_some()
            || self.lua.is_some()
            || self.perl.is_some()
            || self.php.is_some()
            || self.erlang.is_some();
        let has_runtime = is_script || self.go.is_some() || self.java.is_some();
        self.name.split('-').next().filter(|_| has_runtime)
    }

    /// The folder in which a debugger finds the program's libraries, if they are not where it did.
    pub fn sysroot(&self) -> Option<&'static str> {
        (!self.link.is_static()).then(|| self.arch.sysroot())?
    }

    /// Whether `word` is one of the words of the name (`O0`, `static`, `musl`, `gcore` …).
    pub fn has(&self, word: &str) -> bool {
        let joined = self.name.replace("static-pie", "staticpie");
        joined.split('-').any(|own| own == word.replace("static-pie", "staticpie"))
    }
}

fn parse_opt(word: &str) -> Option<Opt> {
    match word {
        "O0" | "debug" => Some(Opt::None),
        "Og" => Some(Opt::Debug),
        "O2" | "release" => Some(Opt::Full),
        "O2fp" | "releasefp" => Some(Opt::FramePointers),
        _ => None,
    }
}

fn unknown(name: &str, word: &str) -> Error {
    Error::Variant { variant: name.to_owned(), reason: format!("unknown word `{word}`") }
}

/// The variants of a scenario that names none: together they hold every pair of values that exists on
/// the machine's own architecture, and every value on another one.
pub fn default_variants(language: Language) -> &'static [&'static str] {
    match language {
        Language::C => C_VARIANTS,
        Language::Cpp => CPP_VARIANTS,
        Language::Rust => RUST_VARIANTS,
        Language::Go => GO_VARIANTS,
        Language::JavaScript => NODE_VARIANTS,
        Language::Python => PYTHON_VARIANTS,
        Language::Java => JAVA_VARIANTS,
        Language::Ruby => RUBY_VARIANTS,
        Language::Lua => LUA_VARIANTS,
        Language::Perl => PERL_VARIANTS,
        Language::Php => PHP_VARIANTS,
        Language::Erlang => ERLANG_VARIANTS,
    }
}

/// The variants of which a scenario that does not say otherwise is made in all, on demand where it is not
/// usual.
pub fn default_on_demand(language: Language) -> &'static [&'static str] {
    match language {
        Language::JavaScript => NODE_ON_DEMAND,
        Language::C => C_ON_DEMAND,
        _ => &[],
    }
}

const CPP_VARIANTS: &[&str] = &[
    "O0-pie",
    "O0-static-pie",
    "O2-pie",
    "O2-nopie",
    "O2-static",
    "O2fp-nopie",
    "O2fp-static-pie",
    "O2-pie-gcore",
    "O0-aarch64-static",
    "O2-aarch64-pie",
    "O2-aarch64-pac",
    "O2fp-aarch64-nopie",
];

const C_VARIANTS: &[&str] = &[
    "O0-pie",
    "O0-static-pie",
    "O2-pie",
    "O2-nopie",
    "O2-static",
    "O2fp-nopie",
    "O2fp-static-pie",
    "O0-musl-static",
    "O2-musl-pie",
    "O2-musl-static",
    "O2fp-musl-nopie",
    "O2-pie-gcore",
    "O0-aarch64-static",
    "O2-aarch64-pie",
    "O2-aarch64-pac",
    "O2fp-aarch64-nopie",
];

const RUST_VARIANTS: &[&str] = &[
    "debug-pie",
    "debug-static-pie",
    "release-pie",
    "release-nopie",
    "releasefp-pie",
    "releasefp-static",
    "release-pie-gcore",
];

const GO_VARIANTS: &[&str] = &["O0-static", "O2-static", "O2-static-gcore"];

const NODE_VARIANTS: &[&str] =
    &["node16", "node18", "node20", "node22", "node24", "node25", "node26"];

const PYTHON_VARIANTS: &[&str] = &[
    "python3.8",
    "python3.9",
    "python3.10",
    "python3.11",
    "python3.12",
    "python3.13",
    "debian3.9",
    "debian3.11",
    "debian3.13",
    "debian3.14",
    "debian3.15",
];

const JAVA_VARIANTS: &[&str] = &["java11", "java17", "java21", "java25", "debianjava17"];
const RUBY_VARIANTS: &[&str] = &["ruby2.7", "ruby3.1", "ruby3.3", "yjit3.1"];
const LUA_VARIANTS: &[&str] = &["lua5.1", "lua5.2", "lua5.3", "lua5.4", "lua5.4.2", "lua5.4.7"];
const PERL_VARIANTS: &[&str] = &["perl5.32", "perl5.36", "perl5.40", "perl5.42"];
const PHP_VARIANTS: &[&str] = &["php7.4", "php8.2", "php8.4", "opcache8.2", "jit8.2", "jit8.4"];
const ERLANG_VARIANTS: &[&str] = &["erlang25", "erlang27"];

/// Static programs, so that no library of another architecture needs to be where the tests run.
const C_ON_DEMAND: &[&str] = &[
    "O0-i386-static",
    "O2-i386-static",
    "O0-arm-static",
    "O2-arm-static",
    "O2-arm-pie",
    "O0-ppc64le-static",
    "O2-ppc64le-static",
    "O2-ppc64le-pie",
    "O0-ppc64-static",
    "O2-ppc64-static",
    "O0-s390x-static",
    "O2-s390x-static",
    "O2-s390x-pie",
    "O0-mips-static",
    "O2-mips-static",
    "O2-mips-pie",
    "O0-mips64el-static",
    "O2-mips64el-static",
    "O0-mipsn32el-static",
    "O2-mipsn32el-static",
];

const NODE_ON_DEMAND: &[&str] = &[
    "node16",
    "node18",
    "node20",
    "node22",
    "node24",
    "node25",
    "node26",
    "node16-gcore",
    "node18-gcore",
    "node20-gcore",
    "node22-gcore",
    "node24-gcore",
    "node25-gcore",
    "node26-gcore",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_variant_parses() {
        for language in [
            Language::C,
            Language::Cpp,
            Language::Rust,
            Language::Go,
            Language::JavaScript,
            Language::Python,
            Language::Java,
            Language::Ruby,
            Language::Lua,
            Language::Perl,
            Language::Php,
            Language::Erlang,
        ] {
            for name in default_variants(language).iter().chain(default_on_demand(language)) {
                assert_eq!(Variant::parse(name).unwrap().name, *name);
            }
        }
    }

    #[test]
    fn words_are_read() {
        let variant = Variant::parse("O2fp-musl-static-pie-gcore").unwrap();
        assert_eq!(variant.opt, Opt::FramePointers);
        assert_eq!(variant.link, Link::StaticPie);
        assert_eq!(variant.libc, Libc::Musl);
        assert_eq!(variant.maker, Maker::Gcore);
        assert!(variant.has("musl") && variant.has("static-pie") && !variant.has("pie"));
        assert_eq!((variant.arch, variant.signed), (Arch::X86_64, false));
    }

    #[test]
    fn a_release_of_a_runtime_stands_for_the_optimisation() {
        let variant = Variant::parse("node24.0-stripped-gcore").unwrap();
        assert_eq!(variant.node.unwrap().name(), "node v24.0.0");
        assert_eq!((variant.stripped, variant.maker), (true, Maker::Gcore));
        assert!(Variant::parse("node7").is_err());
    }

    #[test]
    fn programs_of_another_architecture_are_dumped_by_qemu() {
        let variant = Variant::parse("O2-aarch64-pac-pie").unwrap();
        assert_eq!((variant.arch, variant.maker), (Arch::Aarch64, Maker::Qemu));
        assert!(variant.signed && variant.link == Link::Pie);
        assert_eq!(variant.arch.sysroot(), Some("/usr/aarch64-linux-gnu"));
        let big = Variant::parse("O2-s390x-static").unwrap();
        assert_eq!((big.arch, big.maker), (Arch::S390x, Maker::Qemu));
        let i386 = Variant::parse("O2-i386-static").unwrap();
        assert_eq!((i386.arch, i386.maker), (Arch::I386, Maker::Kernel));
    }

    #[test]
    fn words_for_debug_information_are_read() {
        let variant = Variant::parse("O0-libcxx-dwarf4-types-gz-pie").unwrap();
        assert_eq!((variant.toolchain, variant.link), (Toolchain::LibCxx, Link::Pie));
        assert_eq!(variant.debug.native_flags(), ["-gdwarf-4", "-fdebug-types-section", "-gz"]);
        let split = Variant::parse("O0-split").unwrap();
        assert_eq!(split.debug.native_flags(), ["-gsplit-dwarf"]);
        assert_eq!(split.debug.rust_flags(), ["-C", "split-debuginfo=unpacked"]);
    }

    #[test]
    fn words_that_exclude_each_other_are_refused() {
        for (name, reason) in [
            ("O2-pac", "`pac` goes with `aarch64` alone"),
            ("O2-aarch64-musl", "no musl for other architectures"),
            (
                "O2-aarch64-clang",
                "clang compiles for the machine's own architecture and library alone",
            ),
            ("O2-aarch64-gcore", "other architectures are dumped by qemu alone"),
            ("O2-stripped", "`stripped` goes with a runtime alone"),
        ] {
            let error = Variant::parse(name).unwrap_err().to_string();
            assert_eq!(error, format!("variant `{name}`: {reason}"));
        }
    }

    #[test]
    fn an_unknown_word_is_named() {
        let error = Variant::parse("O2-vax").unwrap_err().to_string();
        assert_eq!(error, "variant `O2-vax`: unknown word `vax`");
    }
}
