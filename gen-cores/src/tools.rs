//! The tools that cores are made and compared with, and the Debian packages that hold them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::command::Line;
use crate::variant::{Arch, Libc, Maker, Toolchain};
use crate::{Language, Result, Variant, node, wheel};

/// A tool and the Debian package that it comes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// Name of the command, or path of a file that shows whether the package is there.
    pub command: &'static str,
    /// Name of the package.
    pub package: &'static str,
}

/// The C library of n32.
const MIPS_N32: &str = "/usr/mips64el-linux-gnuabi64/lib32/libc.a";

/// All tools that are used here or by tests that compare stacks.
pub const TOOLS: &[Tool] = &[
    Tool { command: "gcc", package: "gcc" },
    Tool { command: "g++", package: "g++" },
    Tool { command: "musl-gcc", package: "musl-tools" },
    Tool { command: "aarch64-linux-gnu-gcc", package: "gcc-aarch64-linux-gnu" },
    // Brings the C library with it, which gcc's package does not.
    Tool { command: "aarch64-linux-gnu-g++", package: "g++-aarch64-linux-gnu" },
    Tool { command: "qemu-aarch64", package: "qemu-user" },
    Tool { command: "i686-linux-gnu-gcc", package: "gcc-i686-linux-gnu" },
    Tool { command: "arm-linux-gnueabihf-gcc", package: "gcc-arm-linux-gnueabihf" },
    Tool { command: "powerpc64le-linux-gnu-gcc", package: "gcc-powerpc64le-linux-gnu" },
    Tool { command: "powerpc64-linux-gnu-gcc", package: "gcc-powerpc64-linux-gnu" },
    Tool { command: "s390x-linux-gnu-gcc", package: "gcc-s390x-linux-gnu" },
    Tool { command: "mips-linux-gnu-gcc", package: "gcc-mips-linux-gnu" },
    Tool { command: "mips64el-linux-gnuabi64-gcc", package: "gcc-mips64el-linux-gnuabi64" },
    // The C libraries of other machines, which their compilers only recommend.
    Tool { command: "/usr/i686-linux-gnu/include/stdio.h", package: "libc6-dev-i386-cross" },
    Tool { command: "/usr/arm-linux-gnueabihf/include/stdio.h", package: "libc6-dev-armhf-cross" },
    Tool {
        command: "/usr/powerpc64le-linux-gnu/include/stdio.h",
        package: "libc6-dev-ppc64el-cross",
    },
    Tool { command: "/usr/powerpc64-linux-gnu/include/stdio.h", package: "libc6-dev-ppc64-cross" },
    Tool { command: "/usr/s390x-linux-gnu/include/stdio.h", package: "libc6-dev-s390x-cross" },
    Tool { command: "/usr/mips-linux-gnu/include/stdio.h", package: "libc6-dev-mips-cross" },
    Tool {
        command: "/usr/mips64el-linux-gnuabi64/include/stdio.h",
        package: "libc6-dev-mips64el-cross",
    },
    Tool { command: MIPS_N32, package: "gcc-multilib-mips64el-linux-gnuabi64" },
    Tool { command: "qemu-s390x", package: "qemu-user" },
    Tool { command: "clang", package: "clang" },
    Tool { command: LIBCXX, package: "libc++-dev" },
    Tool { command: LIBCXXABI, package: "libc++abi-dev" },
    Tool { command: "dwz", package: "dwz" },
    Tool { command: BOOST_CONTEXT, package: "libboost-context-dev" },
    Tool { command: BOOST_FIBER, package: "libboost-fiber-dev" },
    Tool { command: ASIO, package: "libasio-dev" },
    Tool { command: GO, package: "golang-1.19-go" },
    Tool { command: JAVAC, package: "openjdk-17-jdk-headless" },
    Tool { command: node::NPM, package: "npm" },
    Tool { command: wheel::PIP, package: "python3-pip" },
    Tool { command: wheel::UNZIP, package: "unzip" },
    Tool { command: "gdb", package: "gdb" },
    Tool { command: "eu-stack", package: "elfutils" },
    // Its library is what scenarios of assembly load.
    Tool { command: "openssl", package: "openssl" },
    // What scenarios of code that a library makes load.
    Tool { command: PCRE2, package: "libpcre2-8-0" },
    Tool { command: LUAJIT, package: "libluajit-5.1-2" },
    // Allocators that scenarios of heaps use.
    Tool { command: JEMALLOC, package: "libjemalloc-dev" },
    Tool { command: MIMALLOC, package: "libmimalloc-dev" },
    Tool { command: TCMALLOC, package: "libgoogle-perftools-dev" },
    Tool { command: "zstd", package: "zstd" },
];

/// What fetches interpreters of Python.
const APT: &str = "apt-get";

/// The compiler and linker of Go, of one version for all machines: layouts change with each.
pub(crate) const GO: &str = "/usr/lib/go-1.19/bin/go";

/// What compiles Java, and brings the headers of native code.
pub(crate) const JAVAC: &str = "/usr/lib/jvm/java-17-openjdk-amd64/bin/javac";

const LIBCXX: &str = "/usr/lib/x86_64-linux-gnu/libc++.so";
const LIBCXXABI: &str = "/usr/lib/x86_64-linux-gnu/libc++abi.so";
/// What switches stacks in scenarios of coroutines.
const BOOST_CONTEXT: &str = "/usr/include/boost/context/fiber.hpp";
const BOOST_FIBER: &str = "/usr/include/boost/fiber/all.hpp";
const ASIO: &str = "/usr/include/asio.hpp";

const PCRE2: &str = "/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0";
const JEMALLOC: &str = "/usr/lib/x86_64-linux-gnu/libjemalloc.a";
const MIMALLOC: &str = "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2";
const TCMALLOC: &str = "/usr/lib/x86_64-linux-gnu/libtcmalloc.a";
const LUAJIT: &str = "/usr/lib/x86_64-linux-gnu/libluajit-5.1.so.2";

/// The tools that are not in `$PATH`.
pub fn missing_tools() -> Vec<Tool> {
    TOOLS.iter().copied().filter(|tool| !is_there(tool.command)).collect()
}

/// Whether a command is in `$PATH`.
pub(crate) fn is_there(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(command).is_file())
}

/// The compiler for a language and a variant's architecture and C library.
pub(crate) fn compiler(language: Language, variant: &Variant) -> &'static str {
    match (language, variant.arch, variant.libc) {
        (Language::Rust, ..) => "rustc",
        (Language::Go, ..) => GO,
        (Language::JavaScript, ..) => node::NPM,
        (
            Language::Python
            | Language::Ruby
            | Language::Lua
            | Language::Perl
            | Language::Php
            | Language::Erlang,
            ..,
        ) => APT,
        (Language::Java, ..) => JAVAC,
        (Language::Cpp, ..) if variant.toolchain != Toolchain::Gnu => "clang++",
        (Language::C, ..) if variant.toolchain != Toolchain::Gnu => "clang",
        (Language::Cpp, Arch::X86_64, _) => "g++",
        (Language::C, arch, _) if arch != Arch::X86_64 => arch.cross().map_or("gcc", |it| it.gcc),
        // Programs in C++ are made for one other architecture alone.
        (Language::Cpp, ..) => "aarch64-linux-gnu-g++",
        (Language::C, _, Libc::Glibc) => "gcc",
        (Language::C, _, Libc::Musl) => "musl-gcc",
    }
}

/// The program that makes a variant's core, if it is not the kernel.
pub(crate) fn dumper(variant: &Variant) -> Option<&'static str> {
    match variant.maker {
        Maker::Kernel => None,
        Maker::Gcore => Some("gdb"),
        Maker::Qemu => variant.arch.cross().and_then(|cross| cross.qemu),
    }
}

/// Why this machine cannot make a variant, if so.
pub(crate) fn why_not(language: Language, variant: &Variant) -> Option<String> {
    let library: &[_] = match variant.toolchain {
        Toolchain::LibCxx => &[LIBCXX, LIBCXXABI],
        Toolchain::Gnu | Toolchain::Clang => &[],
    };
    let others = dumper(variant).into_iter().chain(variant.debug.tool());
    let compilers = compilers(language, variant).into_iter();
    let of_n32 = (variant.arch == Arch::MipsN32El).then_some(MIPS_N32);
    let libraries = library.iter().copied().chain(of_n32);
    let mut needed = compilers.chain(others).chain(libraries);
    let missing = needed.find(|command| !is_there(command))?;
    let package = TOOLS.iter().find(|tool| tool.command == missing).map_or("", |tool| tool.package);
    Some(format!("{missing} is not installed (package {package})"))
}

/// The compilers of a variant's program and its account; of a program that a runtime runs, what fetches
/// that, if it is not here.
fn compilers(language: Language, variant: &Variant) -> Vec<&'static str> {
    let is_unpacked = variant.ruby.is_some() || variant.lua.is_some();
    let is_unpacked = is_unpacked || variant.perl.is_some() || variant.php.is_some();
    let is_unpacked = is_unpacked || variant.erlang.is_some();
    if variant.python.is_some() || is_unpacked {
        return Vec::new();
    }
    if let Some(go) = variant.go {
        let own: &[_] = match (go.is_of_system(), go.is_here()) {
            (true, _) => &[GO],
            (false, true) => &[],
            (false, false) => &[wheel::PIP, wheel::UNZIP],
        };
        // It compiles for other machines itself, but not what is C in a program.
        let of_c = variant.arch.cross().map(|cross| cross.gcc);
        return own.iter().copied().chain(of_c).collect();
    }
    if let Some(java) = variant.java {
        let fetching: &[_] = if java.is_here() { &[] } else { &[wheel::PIP, wheel::UNZIP] };
        return [JAVAC, "gcc"].into_iter().chain(fetching.iter().copied()).collect();
    }
    match variant.node {
        Some(release) if release.is_here() => Vec::new(),
        Some(_) => vec![node::NPM],
        None => vec![compiler(Language::C, variant), compiler(language, variant)],
    }
}

/// The versions of the tools that a variant is made with.
pub(crate) fn versions(language: Language, variant: &Variant) -> Result<Vec<String>> {
    let others = dumper(variant).into_iter().chain(variant.debug.tool());
    let runtime = variant.node.map(|release| release.name());
    let runtime = runtime.or_else(|| variant.python.map(|python| python.name()));
    let runtime = runtime.or_else(|| variant.ruby.map(|ruby| ruby.name()));
    let runtime = runtime.or_else(|| variant.lua.map(|lua| lua.name()));
    let runtime = runtime.or_else(|| variant.perl.map(|perl| perl.name()));
    let runtime = runtime.or_else(|| variant.php.map(|php| php.name()));
    let runtime = runtime.or_else(|| variant.erlang.map(|erlang| erlang.name()));
    let runtime = runtime.or_else(|| variant.go.map(|release| release.name()));
    let runtime = runtime.or_else(|| variant.java.map(|release| release.name()));
    let maker = runtime.map_or_else(|| version(compiler(language, variant)), Ok);
    std::iter::once(maker).chain(others.map(version)).collect()
}

/// The first line of what `command --version` prints, asked once in a process.
pub(crate) fn version(command: &'static str) -> Result<String> {
    static KNOWN: Mutex<Option<HashMap<&str, String>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    if let Some(version) = known.get(command) {
        return Ok(version.clone());
    }
    let question = if command == GO { "version" } else { "--version" };
    let text = Line::new(command).arg(question).run(Path::new("/"))?;
    let first = text.lines().next().unwrap_or_default().to_owned();
    known.insert(command, first.clone());
    Ok(first)
}
