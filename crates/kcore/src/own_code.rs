//! Which code is a program's own: not the C library's, nor that of a language's runtime or standard library.

use kcore_runtimes::FrameKind;

use crate::{AccessKind, Core, Location, NamedFrame};

/// The names of system libraries and of runtimes, without what follows them: `.so.6`, `3.11`, `-2.31.so`.
const SYSTEM_MODULES: &[&str] = &[
    "[vdso]",
    "ld",
    "ld-linux-x86-64",
    "ld-linux-aarch64",
    "ld-musl-x86_64",
    "ld-musl-aarch64",
    "libc",
    "libc.musl-x86_64",
    "libc.musl-aarch64",
    "libpthread",
    "libm",
    "libdl",
    "librt",
    "libstdc++",
    "libc++",
    "libc++abi",
    "libgcc_s",
    "libffi",
    "libasan",
    "libtsan",
    "libubsan",
    "liblsan",
    "node",
    "libnode",
    "python",
    "libpython",
    "java",
    "libjvm",
    "beam",
    "mono",
    "libcoreclr",
    "ruby",
    "libruby",
    "lua",
    "luajit",
    "libluajit",
    "liblua",
    "perl",
    "libperl",
    "php",
    "libphp",
];

/// Where compilers and runtimes keep the source of their libraries: a part of the path.
const SYSTEM_SOURCES: &[&str] = &[
    "/rustc/",
    "/library/std/src/",
    "/library/core/src/",
    "/library/alloc/src/",
    "/usr/include/",
    "-linux-gnu/include/",
    "-linux-musl/include/",
    "/include/c++/",
    "/usr/lib/gcc/",
];

/// What names of functions begin with in standard libraries, which may be part of any module. Only where no source is
/// known: programs have namespaces of such names too.
const SYSTEM_NAMES: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "__gnu_cxx::",
    "__cxxabiv1::",
    "runtime.",
    "node::",
    "v8::",
    "V8_",
    "napi_",
    "uv_",
];

/// Functions by which a program ends, and those by which it begins, where they are linked into the executable. Other
/// names that its C library reserves begin with two underscores, or with one and a capital letter.
const LINKED_NAMES: &[&str] = &[
    "abort",
    "raise",
    "gsignal",
    "malloc",
    "free",
    "calloc",
    "realloc",
    "_int_malloc",
    "_int_free",
    "_start",
    "start_thread",
    "malloc_printerr",
    "rust_begin_unwind",
    "rust_panic",
];

impl Core {
    /// Whether what runs in a frame is the program's own code. Code of unknown name and source counts by its module.
    pub(crate) fn is_own(&self, frame: &NamedFrame) -> bool {
        is_own(frame) && !self.is_linked_in(&frame.location) && !self.is_in_data(frame)
    }

    /// Whether a frame's pc is in memory that is not executable. Data has symbols too.
    fn is_in_data(&self, frame: &NamedFrame) -> bool {
        let mapping = frame.pc().and_then(|pc| self.mapping_at(pc.lookup()));
        mapping.is_some_and(|mapping| mapping.permits(AccessKind::Execute) == Some(false))
    }

    /// Whether a function was linked into the executable from a library: the executable is static, and its debug
    /// information does not have the function.
    fn is_linked_in(&self, location: &Location) -> bool {
        let mut modules = self.modules().all().iter().filter(|module| !module.is_vdso());
        location.kind == FrameKind::Native
            && location.in_exe
            && location.file.is_none()
            && modules.nth(1).is_none()
            && self.modules().exe().is_some_and(|exe| exe.symbols().debug_info().is_some())
    }
}

fn is_own(frame: &NamedFrame) -> bool {
    let location = &*frame.location;
    let is_trampoline = frame.frame.is_some_and(|frame| frame.signal_trampoline);
    match location.kind {
        FrameKind::Native => !is_trampoline && is_own_native(location),
        FrameKind::Trampoline | FrameKind::Async => false,
        FrameKind::Go => !is_gos_own(location.function.as_deref().unwrap_or_default()),
        FrameKind::Js => !file_of(location).starts_with("node:"),
        FrameKind::Python => !is_pythons_own(file_of(location)),
        _ => true,
    }
}

/// Whether a function is one of Go's runtime, or of what stands between that and programs.
fn is_gos_own(function: &str) -> bool {
    function == "panic"
        || ["runtime.", "runtime/", "internal/", "sync.", "syscall."]
            .iter()
            .any(|package| function.starts_with(package))
}

fn is_own_native(location: &Location) -> bool {
    let Some(module) = location.module.as_deref() else { return false };
    if SYSTEM_MODULES.iter().any(|name| is_version_of(module, name)) {
        return false;
    }
    let function = location.function.as_deref().unwrap_or_default();
    match location.file.as_deref() {
        Some(file) => !is_system_source(file) && !is_of_gos_runtime(function, file),
        None => !is_system_name(function),
    }
}

/// Whether a file's name is that of a library or program, and what tells its version.
fn is_version_of(file: &str, name: &str) -> bool {
    let Some(rest) = file.strip_prefix(name) else { return false };
    let version = rest.strip_prefix('-').unwrap_or(rest);
    rest.is_empty()
        || rest.starts_with('.')
        || version.starts_with(|digit: char| digit.is_ascii_digit())
}

fn is_system_source(file: &str) -> bool {
    SYSTEM_SOURCES.iter().any(|part| file.contains(part))
}

fn is_system_name(function: &str) -> bool {
    function.ends_with("@plt")
        || is_reserved(function)
        || LINKED_NAMES.contains(&function)
        || SYSTEM_NAMES.iter().any(|begin| function.starts_with(begin))
}

/// Whether a function is of Go's package `runtime`, which every program of Go has in itself.
fn is_of_gos_runtime(function: &str, file: &str) -> bool {
    function.starts_with("runtime.") && file.contains("/src/runtime/")
}

/// Whether the C standard reserves a name for the implementation.
fn is_reserved(function: &str) -> bool {
    let Some(rest) = function.strip_prefix('_') else { return false };
    rest.starts_with(|second: char| second == '_' || second.is_ascii_uppercase())
}

/// Whether a file is of Python's standard library; installed packages beside it are not.
fn is_pythons_own(file: &str) -> bool {
    let is_installed = file.contains("/site-packages/") || file.contains("/dist-packages/");
    file.starts_with("<frozen ") || (file.contains("/lib/python3") && !is_installed)
}

fn file_of(location: &Location) -> &str {
    location.file.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn native(module: &str, function: Option<&str>, file: Option<&str>) -> Location {
        Location {
            module: Some(module.into()),
            function: function.map(Into::into),
            file: file.map(Into::into),
            ..Location::default()
        }
    }

    fn is_own_function(module: &str, function: &str, file: Option<&str>) -> bool {
        is_own_native(&native(module, Some(function), file))
    }

    #[test]
    fn modules_of_the_system_are_known_by_name_and_version() {
        for system in [
            "libc.so.6",
            "libc-2.31.so",
            "ld-linux-x86-64.so.2",
            "libstdc++.so.6.0.30",
            "node",
            "python3.11",
        ] {
            assert!(!is_own_function(system, "work", None), "{system}");
        }
        for own in ["libcrypto.so.3", "lldb", "nodes", "libc++filter.so", "app", "python-ldap.so"] {
            assert!(is_own_function(own, "work", None), "{own}");
        }
    }

    #[test]
    fn standard_libraries_in_the_executable_are_not_its_own() {
        let rust = "/rustc/0123/library/std/src/panicking.rs";
        assert!(!is_own_function("app", "begin_panic_handler", Some(rust)));
        assert!(!is_own_function("app", "std::vector<int>::at", None));
        assert!(!is_own_function("app", "core::panicking::panic", None));
        assert!(!is_own_function("app", "__libc_start_main", None));
        assert!(!is_own_function("app", "abort", None));
        for of_node in ["node::Abort", "v8::internal::Execution::Call", "V8_Fatal", "uv_run"] {
            assert!(!is_own_function("app", of_node, None), "{of_node}");
        }
        assert!(is_own_function("app", "node::Ring::add", Some("/home/me/ring.cc")));
        assert!(is_own_function("app", "abort", Some("/home/me/app.c")));
        assert!(is_own_function("app", "core_dump", None));
        assert!(is_own_function("app", "core::Engine::run", Some("/home/me/engine.cc")));
        assert!(is_own_function("app", "loop", Some("/home/me/src/runtime/loop.c")));
        assert!(!is_own_function("app", "runtime.throw", Some("/usr/lib/go/src/runtime/panic.go")));
        assert!(is_own_native(&native("app", None, None)));
        assert!(!is_own_native(&Location { function: Some("f".into()), ..Location::default() }));
    }

    #[test]
    fn packages_of_python_are_not_its_standard_library() {
        assert!(is_pythons_own("/usr/lib/python3.11/asyncio/events.py"));
        assert!(is_pythons_own("<frozen importlib._bootstrap>"));
        assert!(!is_pythons_own("/usr/lib/python3/dist-packages/yaml/loader.py"));
        assert!(!is_pythons_own("/srv/app/main.py"));
    }
}
