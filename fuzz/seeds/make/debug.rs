//! Modules with debug information of several compilers, in all the files that it may be spread over.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kcore_elf::Image;
use kcore_fuzz::{
    input::Output,
    memory::Memory,
    module::{PACKAGE, SPLIT_UNIT, SUPPLEMENTARY},
    sections::{MAIN, SPLIT, write},
};

/// Where they are built.
const FOLDER: &str = "/tmp/kcore-seeds";
/// Where the code begins: the address that variables are asked about first.
const CODE: u64 = 0x40_0000;
/// Bytes between two of these addresses.
const STEP: u8 = 13;
/// What is in every register: where the memory is.
const STACK: u64 = 0x7000_0000;

/// A module as targets read it, without what they read behind it.
pub struct Module {
    pub name: &'static str,
    bytes: Vec<u8>,
}

impl Module {
    /// What the target `types` reads.
    pub fn types(&self) -> Vec<u8> {
        memory().write(Output(self.bytes.clone())).0
    }

    /// What the target `variables` reads.
    pub fn variables(&self) -> Vec<u8> {
        let registers = [STACK; 20].iter().flat_map(|value| value.to_le_bytes());
        let module = memory().write(Output(self.bytes.clone()));
        module.word(CODE).byte(STEP).rest(&registers.collect::<Vec<_>>())
    }
}

/// Pointers to one another, and small numbers.
fn memory() -> Memory {
    let words = (0..32_u64).map(|at| if at % 3 == 2 { at } else { STACK + at * 8 });
    Memory(vec![(STACK, words.flat_map(u64::to_le_bytes).collect())])
}

/// All modules.
pub fn modules() -> Vec<Module> {
    let one =
        |name, flags: &str, sources: &str| Module { name, bytes: plain(&build(flags, sources)) };
    vec![
        one("c", "gcc -O2 -gdwarf-5", "types.c"),
        one("c_dwarf4", "gcc -O2 -gdwarf-4", "types.c"),
        one("c_dwarf2", "gcc -gdwarf-2 -gstrict-dwarf", "types.c"),
        one("c_clang", "clang -O2 -gdwarf-5", "types.c"),
        one("cpp", "g++ -gdwarf-5", "types.cpp"),
        one("cpp_types", "g++ -gdwarf-4 -fdebug-types-section", "types.cpp"),
        one("cpp_clang", "clang++ -gdwarf-5 -fdebug-types-section", "types.cpp"),
        one("debug_names", "clang -O2 -gdwarf-5 -gpubnames", "types.c"),
        Module { name: "gdb_index", bytes: plain(&indexed()) },
        Module { name: "rust", bytes: plain(&rust()) },
        split("split", "gcc -O2 -gdwarf-5"),
        split("split_dwarf4", "gcc -O2 -gdwarf-4"),
        split("package", "gcc -O2 -gdwarf-4"),
        Module { name: "dwz", bytes: supplemented() },
    ]
}

fn plain(file: &Path) -> Vec<u8> {
    sections(file, &MAIN, Output::default().byte(0))
}

fn sections(file: &Path, names: &[&str], output: Output) -> Vec<u8> {
    let image = Image::parse(read(file).into()).expect("ELF");
    let data = |name: &str| image.section_data(name).map(|data| data.to_vec()).unwrap_or_default();
    write(names, data, output).0
}

/// A module of one unit that was split off, into a file or a package.
fn split(name: &'static str, flags: &str) -> Module {
    let exe = build(&format!("{flags} -gsplit-dwarf"), "types.c");
    let own = exe.with_file_name("types.dwo");
    let (kind, other) = match name {
        "package" => {
            run(Command::new("dwp").arg("-e").arg(&exe).args(["-o", "types.dwp"]));
            (PACKAGE, exe.with_file_name("types.dwp"))
        }
        _ => (SPLIT_UNIT, own),
    };
    let main = sections(&exe, &MAIN, Output::default().byte(kind));
    Module { name, bytes: sections(&other, &SPLIT, Output(main)) }
}

/// Two programs from which `dwz` took what both have.
fn supplemented() -> Vec<u8> {
    let exe = build("gcc -O2 -gdwarf-4", "types.c");
    for name in ["one", "two"] {
        fs::copy(&exe, exe.with_file_name(name)).expect("a copy");
    }
    run(Command::new("dwz").args(["-m", "common", "one", "two"]));
    let main = sections(&exe.with_file_name("one"), &MAIN, Output::default().byte(SUPPLEMENTARY));
    sections(&exe.with_file_name("common"), &MAIN, Output(main))
}

fn indexed() -> PathBuf {
    let exe = build("gcc -O2 -gdwarf-4 -ggnu-pubnames", "types.c");
    run(Command::new("gdb-add-index").arg(&exe));
    exe
}

/// Compiles and links; what is missing stays missing, since nothing runs.
fn build(flags: &str, source: &str) -> PathBuf {
    copy(source);
    let mut words = flags.split(' ');
    let mut compiler = Command::new(words.next().expect("a compiler"));
    compiler.args(words);
    compiler.arg(format!("-ffile-prefix-map={FOLDER}=.")).args([
        "-fno-stack-protector",
        "-nostdlib",
        "-fno-ident",
    ]);
    compiler.args(["-static", "-Wl,--unresolved-symbols=ignore-all,-e0,--build-id=none"]);
    compiler.arg(format!("-Wl,-Ttext={CODE:#x}")).args(["-o", "types", source]);
    run(&mut compiler);
    Path::new(FOLDER).join("types")
}

fn rust() -> PathBuf {
    copy("types.rs");
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition=2024", "-g", "--emit=obj", "-Cpanic=abort", "-o", "types.o"]);
    compiler.args(["-Crelocation-model=static", "-Ccodegen-units=1", "-Adead_code", "types.rs"]);
    run(compiler.arg(format!("--remap-path-prefix={FOLDER}=.")));
    let mut linker = Command::new("ld");
    linker.args(["--unresolved-symbols=ignore-all", "-e0", "-o", "types", "types.o"]);
    run(linker.arg(format!("-Ttext={CODE:#x}")));
    Path::new(FOLDER).join("types")
}

fn copy(source: &str) {
    fs::create_dir_all(FOLDER).expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(source);
    fs::copy(from, Path::new(FOLDER).join(source)).expect("the source");
}

fn run(command: &mut Command) {
    let status = command.current_dir(FOLDER).status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?}");
}

fn read(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
