//! Writes the seeds: `cargo run --example seeds` in `fuzz/`, with gcc, clang, rustc, dwz, dwp and gdb at
//! hand, and the test cores that show values.
//!
//! They come from a tiny program (`tiny.c`) and the core of its death, from small sources of several
//! languages (`types.*`), and from the test cores; all is cut down to what is read, or written here. They
//! lie in `seeds/TARGET/` and `programs/`, and are committed: a run of the fuzzer needs neither compiler
//! nor debugger.

#[path = "make/asanish.rs"]
mod asanish;
#[path = "make/coroutinish.rs"]
mod coroutinish;
#[path = "make/cut.rs"]
mod cut;
#[path = "make/debug.rs"]
mod debug;
#[path = "make/dumps.rs"]
mod dumps;
#[path = "make/erlangish.rs"]
mod erlangish;
#[path = "make/goish.rs"]
mod goish;
#[path = "make/googleish.rs"]
mod googleish;
#[path = "make/greenlets.rs"]
mod greenlets;
#[path = "make/heapish.rs"]
mod heapish;
#[path = "make/javaish.rs"]
mod javaish;
#[path = "make/jitish.rs"]
mod jitish;
#[path = "make/language.rs"]
mod language;
#[path = "make/link_map.rs"]
mod link_map;
#[path = "make/luaish.rs"]
mod luaish;
#[path = "make/mapped.rs"]
mod mapped;
#[path = "make/packed.rs"]
mod packed;
#[path = "make/perlish.rs"]
mod perlish;
#[path = "make/phpish.rs"]
mod phpish;
#[path = "make/programs.rs"]
mod programs;
#[path = "make/pythonic.rs"]
mod pythonic;
#[path = "make/reactorish.rs"]
mod reactorish;
#[path = "make/recorder.rs"]
mod recorder;
#[path = "make/registered.rs"]
mod registered;
#[path = "make/rubyish.rs"]
mod rubyish;
#[path = "make/scripted.rs"]
mod scripted;
#[path = "make/shared.rs"]
mod shared;
#[path = "make/symbol_files.rs"]
mod symbol_files;
#[path = "make/tiny.rs"]
mod tiny;
#[path = "make/tokioish.rs"]
mod tokioish;
#[path = "make/trios.rs"]
mod trios;
#[path = "make/words.rs"]
mod words;

use std::{
    fs,
    path::{Path, PathBuf},
};

use kcore_fuzz::{input::Output, memory::Memory, synthetic};
use tiny::Tiny;

fn main() {
    let tiny = Tiny::make(&["-Wl,--eh-frame-hdr"]);
    let core = tiny.core();
    put("core_file", "tiny", &core);
    put("core_file", "many", &many_segments());
    put("open", "tiny", &Output::default().part(&tiny.exe).rest(&core));
    put("session", "tiny", &Output::default().part(&tiny.exe).rest(&core));
    put("open", "alone", &Output::default().part(&[]).rest(&core));
    put("notes", "x86_64", &[&[0], &tiny.notes[..]].concat());
    put("notes", "aarch64", &[&[1], &tiny.notes[..]].concat());
    images(&tiny);
    put("modules", "tiny", &tiny.memory().write(Output::default().part(&tiny.notes)).0);
    put("modules", "link_map", &link_map::seed());
    walks(&tiny);
    machines();
    let code = tiny.section(".text").1;
    for (machine, name) in [(0, "x86_64"), (1, "aarch64")] {
        put("disasm", name, &Output::default().byte(machine).word(0x40_0000).rest(&code));
    }
    registered::seeds(&tiny).iter().for_each(|(name, bytes)| put("registered", name, bytes));
    shared::seeds().iter().for_each(|(name, bytes)| put("repeated", name, bytes));
    language::seeds().iter().for_each(|(target, name, text)| put(target, name, text.as_bytes()));
    symbol_files::symbol_files().iter().for_each(|(name, bytes)| put("breakpad", name, bytes));
    dumps::minidumps().iter().for_each(|(name, bytes)| put("minidump", name, bytes));
    dumps::archives().iter().for_each(|(name, bytes)| put("layer", name, bytes));
    packed::seeds(&core).iter().for_each(|(name, bytes)| put("unpack", name, bytes));
    typed();
}

/// What has types.
fn typed() {
    for module in debug::modules() {
        put("types", module.name, &module.types());
        put("variables", module.name, &module.variables());
    }
    words::expressions().iter().for_each(|(name, bytes)| put("expression", name, bytes));
    words::edits().iter().for_each(|(name, bytes)| put("name_index", name, bytes));
    for (number, text) in words::TYPE_NAMES.iter().enumerate() {
        put("type_names", &number.to_string(), text.as_bytes());
    }
    let [values, paths, printers] = programs::seeds();
    for (target, seeds) in [("values", values), ("paths", paths), ("printers", printers)] {
        seeds.iter().for_each(|(name, bytes)| put(target, name, bytes));
    }
    scripted::seeds().iter().for_each(|(name, bytes)| put("v8", name, bytes));
    rubyish::seeds().iter().for_each(|(name, bytes)| put("ruby", name, bytes));
    greenlets::seeds().iter().for_each(|(name, bytes)| put("greenlet", name, bytes));
    trios::seeds().iter().for_each(|(name, bytes)| put("trio", name, bytes));
    heapish::seeds().iter().for_each(|(name, bytes)| put("heap", name, bytes));
    asanish::seeds().iter().for_each(|(name, bytes)| put("heap", name, bytes));
    googleish::seeds().iter().for_each(|(name, bytes)| put("heap", name, bytes));
    tokioish::seeds().iter().for_each(|(name, bytes)| put("tokio", name, bytes));
    luaish::seeds().iter().for_each(|(name, bytes)| put("lua", name, bytes));
    jitish::seeds().iter().for_each(|(name, bytes)| put("luajit", name, bytes));
    reactorish::seeds().iter().for_each(|(name, bytes)| put("reactor", name, bytes));
    coroutinish::seeds().iter().for_each(|(name, bytes)| put("coroutine", name, bytes));
    erlangish::seeds().iter().for_each(|(name, bytes)| put("erlang", name, bytes));
    mapped::seeds().iter().for_each(|(name, bytes)| put("source_map", name, bytes));
    perlish::seeds().iter().for_each(|(name, bytes)| put("perl", name, bytes));
    phpish::seeds().iter().for_each(|(name, bytes)| put("php", name, bytes));
    goish::seeds().iter().for_each(|(name, bytes)| put("go", name, bytes));
    javaish::seeds().iter().for_each(|(name, bytes)| put("java", name, bytes));
    pythonic::seeds().iter().for_each(|(name, bytes)| put("python", name, bytes));
}

fn put(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), without_place(bytes)).expect("a seed");
}

/// The same with names as long in place of the folder that this tree lies in, and of the home of who made the cores:
/// they are nobody's concern.
fn without_place(bytes: &[u8]) -> Vec<u8> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf);
    let home =
        std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.components().count() > 1);
    let mut bytes = bytes.to_vec();
    for place in [tree, home].into_iter().flatten() {
        let other = format!("/{}", "k".repeat(place.as_os_str().len() - 1));
        replace(&mut bytes, place.as_os_str().as_encoded_bytes(), other.as_bytes());
    }
    bytes
}

fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    for at in 0..bytes.len() {
        if let Some(found) = bytes.get_mut(at..at + old.len()).filter(|it| *it == old) {
            found.copy_from_slice(new);
        }
    }
}

/// A core whose number of segments stands in a section header.
fn many_segments() -> Vec<u8> {
    let mut core = synthetic::core(&[], &[(0x1000, vec![1; 16]), (0x2000, vec![2; 16])]);
    let sections = core.len() as u64;
    core[40..48].copy_from_slice(&sections.to_le_bytes());
    core[56..58].copy_from_slice(&0xffff_u16.to_le_bytes());
    let mut section = vec![0; 64];
    section[44] = 3;
    core.extend(section);
    core
}

fn images(tiny: &Tiny) {
    put("image", "tiny", &tiny.exe);
    put("dwarf", "tiny", &tiny.exe);
    let others: [(&str, &[&str]); 3] = [
        ("compressed", &["-gz=zlib"]),
        ("dwarf4", &["-gdwarf-4", "-O1"]),
        ("sections", &["-gdwarf-4", "-fdebug-types-section", "-gstrict-dwarf"]),
    ];
    for (name, options) in others {
        put("dwarf", name, &Tiny::build(options));
    }
    put("image", "compressed", &Tiny::build(&["-gz=zlib"]));
}

fn walks(tiny: &Tiny) {
    let with_debug_frame = Tiny::make(&["-fno-asynchronous-unwind-tables"]);
    for (name, tiny) in [("eh_frame", tiny), ("debug_frame", &with_debug_frame)] {
        let tables = tiny.unwind_tables();
        let memory = |output| tiny.memory().write(output).rest(&tiny.registers());
        put("cfi", name, &memory(Output(tables.clone())));
        let walked = memory(Output(tables).byte(1));
        put("unwind", name, &walked);
        put("in_place", name, &walked);
    }
    let no_tables = Output::default().word(0).part(&[]).word(0).part(&[]).part(&[]).byte(0);
    put("unwind", "no_tables", &tiny.memory().write(no_tables).rest(&tiny.registers()));
}

/// Each machine in Thumb code of 32-bit Arm: a function that an exception table describes, called by another.
fn machines() {
    let push = 0xb580_u16.to_le_bytes();
    let call = [0x00, 0xf0, 0x00, 0xf8];
    let code = [&push[..], &[0; 14], &call, &[0; 44]].concat().repeat(8);
    let text = kcore_fuzz::unwind::TEXT;
    let table = kcore_fuzz::machines::TABLE;
    let distance = (text.wrapping_sub(table) as u32) & 0x7fff_ffff;
    let index = [distance.to_le_bytes(), 0x8084_08b0_u32.to_le_bytes()].concat();
    let stack: Vec<u8> = (0..64_u32).flat_map(|_| (text as u32 + 20).to_le_bytes()).collect();
    let memory = memory_of(&[(text, code), (table, index), (0x7000_0000, stack)]);
    let registers: Vec<u8> = std::iter::once(text + 20)
        .chain((0..32).map(|_| 0x7000_0010))
        .flat_map(u64::to_le_bytes)
        .collect();
    for number in 0..kcore_fuzz::machines::MACHINES.len() {
        let output = Output::default().byte(number as u8);
        put("machines", &number.to_string(), &memory.write(output).rest(&registers));
    }
}

/// The same bytes as memory.
fn memory_of(parts: &[(u64, Vec<u8>)]) -> Memory {
    Memory(parts.to_vec())
}
