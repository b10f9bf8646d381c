//! Programs that show values, cut down: the debug information of some types of theirs, and objects of
//! these with the memory that they lead to.
//!
//! They are those of the test cores, which `cargo run -p gen-cores` makes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use kcore::{Addr, Content, Core, Object, OpenOptions, Type, Value};
use kcore_fuzz::{
    input::Output,
    memory::Memory,
    process::LIMITS,
    program::{NAMES, Program},
};

use super::cut;

/// The scenario and the variant that each program comes from, in the order of [`NAMES`].
const CORES: [&str; NAMES.len()] = [
    "values-c/O0-pie",
    "values-cpp/O0-pie",
    "values-cpp/O0-libcxx-pie",
    "values-rust/debug-dwarf5-pie",
    "values-go/O0-static",
];

/// Bytes that are kept where a pointer leads, and parts of memory for one object.
const CHUNK: usize = 96;
const PARTS: usize = 20;
/// Bytes of an object itself.
const OBJECT: usize = 512;

/// An object that is worth a seed.
struct Chosen {
    object: Object,
    /// The type that a table or a descriptor led to.
    dynamic: Option<Type>,
    memory: Memory,
}

/// Name and bytes of a seed.
type Seed = (String, Vec<u8>);

/// Expressions of an object, which is any name of one letter.
const EXPRESSIONS: &[&str] = &[
    "o.first[1] * 2 + sizeof(int) >> 1",
    "&o == (int *). && -o.first[0] != 1.5f",
    "*o.first@3",
    "o ? 'a' : \"b\" == o",
    "(o + 1)->x % 7 ^ ~0x1f",
    "$r < o[o - 1]",
];

/// Files of printers for any type.
const PRINTERS: &[&str] = &[
    "[[type]]\nname = '*'\nlist = { head = 'this', next = 'this', value = '*(long *)this' }\n",
    "[[type]]\nname = '*'\nelements = { size = '9', when = '$i % 2', key = '$i', value = '*this' }\n",
    "[[type]]\nname = ['*<*>', 'a']\nwhen = 'sizeof(*this) > 1'\ntext = { at = '(char *)this', length = '7' }\n\
     [[type]]\nname = '*'\nwords = 'at {this,x}: {*(int *)this,d}'\n",
    "<AutoVisualizer><Type Name='*'><Expand><TreeItems><Size>3</Size><HeadPointer>this</HeadPointer>\
     <LeftPointer>this</LeftPointer><RightPointer>0</RightPointer><ValueNode>*this</ValueNode></TreeItems>\
     </Expand></Type></AutoVisualizer>",
    "<AutoVisualizer><Intrinsic Name='f' Expression='f(a) + a'><Parameter Name='a'/></Intrinsic><Type Name='*'><Expand>\
     <CustomListItems><Variable Name='i' InitialValue='0'/><Variable Name='p' InitialValue='this'/>\
     <Loop Condition='i &lt; 9'><If Condition='i % 2'><Item Name='[{i}]'>*p</Item></If><Else><Exec>p = p + f(1)</Exec></Else>\
     <Exec>++i</Exec><Break Condition='i == 7'/></Loop></CustomListItems></Expand></Type></AutoVisualizer>",
    "<AutoVisualizer><Type Name='*'><Expand><ArrayItems><Rank>3</Rank><Size>$i + 2</Size><ValuePointer>(short *)this\
     </ValuePointer></ArrayItems></Expand></Type><Type Name='*' Priority='High'><Expand><Item Name='a' Optional='true'>b</Item>\
     <Synthetic Name='c'><Expand><Item Name='d'>static_cast&lt;long&gt;(1)</Item></Expand></Synthetic></Expand></Type>\
     </AutoVisualizer>",
    "[[walker]]\nname = 'a'\nsummary = 'b'\ntype = 'c'\nfirst = 'this'\nnext = 'this + 1'\nend = 'this == &$start[9]'\n\
     [[walker]]\nname = 't'\nsummary = 'b'\nstart = 'c'\nfirst = 'this'\nleft = 'this + 1'\nright = '0'\nmax = 9\n\
     [[dcmd]]\nname = 'd'\nsummary = 'e'\nwalk = 'a'\narguments = [{ name = 'n', default = '1' }]\nwhen = '$1'\n\
     columns = [{ name = 'x', value = '*this' }, { name = 'y', value = 'sizeof(*this) + $1', width = 4 }]\n",
    "[[walker]]\nname = 'a'\nsummary = 'b'\nstart = 'c'\nsize = '9'\nwhen = '$i % 2'\nelement = 'this + $i'\n\
     [[dcmd]]\nname = 'd'\nsummary = 'e'\naddress = 'required'\narguments = [{ name = 'n' }]\nrun = '.::walk a | ::print $1'\n",
];

/// Writes the programs, and gives the seeds of the targets `values`, `paths` and `printers`.
pub fn seeds() -> [Vec<Seed>; 3] {
    let (mut values, mut paths, mut expressions) = (Vec::new(), Vec::new(), Vec::new());
    let mut printers = Vec::new();
    for (number, name) in (0..).zip(NAMES) {
        let (exe, core) = files(CORES[usize::from(number)]);
        let chosen = choose(&core);
        let roots =
            chosen.iter().flat_map(|chosen| chosen.dynamic.iter().chain([&chosen.object.ty]));
        let kept = cut::types(&exe, &roots.filter_map(offset).collect());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(name), &kept).expect("a program");
        let program = Program::read(&kept);
        for chosen in &chosen {
            let Some(head) = head(number, &program, chosen) else { continue };
            let seed = format!("{name}_{}", values.len());
            let is_first = !values.iter().any(|(other, _): &Seed| other.starts_with(name));
            for (at, text) in EXPRESSIONS.iter().enumerate().filter(|_| is_first) {
                let bytes = chosen.memory.write(Output(head.clone()).part(text.as_bytes())).0;
                expressions.push((format!("{seed}_expression_{at}"), bytes));
            }
            for (at, text) in PRINTERS.iter().enumerate().filter(|_| is_first) {
                let file = Output::default().part(text.as_bytes());
                let bytes = chosen.memory.write(Output([file.0, head.clone()].concat())).0;
                printers.push((format!("{seed}_{at}"), bytes));
            }
            values.push((seed.clone(), value_seed(&program, chosen, head.clone())));
            paths.extend(
                path(&chosen.object)
                    .map(|path| (seed, chosen.memory.write(Output(head).part(path.as_bytes())).0)),
            );
        }
    }
    // Paths are the same in most.
    let paths = paths.into_iter().step_by(4).chain(expressions).collect();
    [values, paths, printers]
}

/// The executable of a variant, and the core opened.
fn files(variant: &str) -> (PathBuf, Core) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/cores").join(variant);
    let exe = folder.join(variant.split('/').next().expect("a scenario"));
    let core = Some(folder.join("core"));
    let options = OpenOptions { core, exe: Some(exe.clone()), ..OpenOptions::default() };
    (exe, Core::open(&options).expect("a core"))
}

/// One object of each family of types, that with the most to show.
fn choose(core: &Core) -> Vec<Chosen> {
    let mut best: BTreeMap<String, Chosen> = BTreeMap::new();
    for name in variables(core) {
        let Some(object) = object(core, &name) else { continue };
        let family = object.ty.stripped().ok().map(|ty| ty.spelled()).unwrap_or_default();
        let family = family.split(['<', '[']).next().unwrap_or_default().to_owned();
        let memory = around(core, &object);
        let dynamic = dynamic(&object.value(core, &LIMITS));
        let is_better = |other: &Chosen| {
            (other.dynamic.is_some(), other.memory.0.len()) < (dynamic.is_some(), memory.0.len())
        };
        if best.get(&family).is_none_or(is_better) {
            best.insert(family, Chosen { object, dynamic, memory });
        }
    }
    best.into_values().collect()
}

/// The variables of the program whose values it tells.
fn variables(core: &Core) -> BTreeSet<String> {
    let exe = core.modules().in_scope_order().next().expect("an executable");
    let info = exe.symbols().debug_info().expect("debug information");
    let mut names = BTreeSet::new();
    info.each_variable(|_, name| {
        let own = ["values_rust::", "main.", "demo::"].iter().any(|scope| name.starts_with(scope));
        if own || !name.contains("::") && !name.contains('.') && !name.starts_with('_') {
            names.insert(name.to_owned());
        }
        std::ops::ControlFlow::Continue(())
    });
    names
}

fn object(core: &Core, name: &str) -> Option<Object> {
    let found = core.variables().find(None, None, name).ok()?.object().ok()?;
    found.address()?;
    Some(found).filter(|found| found.ty.size().is_some_and(|size| size > 0))
}

/// The bytes of an object, and those that the words in them lead to, the nearest first.
fn around(core: &Core, object: &Object) -> Memory {
    let at = object.address().expect("it has an address");
    let size = object.ty.size().unwrap_or(8).min(OBJECT as u64);
    let mut parts = vec![part(core, at, size as usize)];
    let mut next = 0;
    while let Some((_, bytes)) = parts.get(next).cloned() {
        let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        for word in words {
            let is_held = |(start, bytes): &(u64, Vec<u8>)| {
                word.checked_sub(*start).is_some_and(|into| into < bytes.len() as u64)
            };
            if parts.len() < PARTS && !parts.iter().any(is_held) {
                let found = part(core, Addr::new(word), CHUNK);
                parts.extend(Some(found).filter(|(_, bytes)| !bytes.is_empty()));
            }
        }
        next += 1;
    }
    Memory(parts)
}

fn part(core: &Core, at: Addr, len: usize) -> (u64, Vec<u8>) {
    (at.get(), core.space().read_held(at, len as u64))
}

/// The first type that a value is in truth.
fn dynamic(value: &Value) -> Option<Type> {
    match &value.content {
        Content::Pointer(pointer) => pointer.dynamic.clone(),
        Content::Fields(fields) => fields.iter().find_map(|field| dynamic(&field.value)),
        Content::Elements(elements) => elements.values.iter().find_map(dynamic),
        Content::Variant(variant) => variant.fields.iter().find_map(|field| dynamic(&field.value)),
        _ => None,
    }
}

/// Where the entry of a type lies in the executable.
fn offset(ty: &Type) -> Option<usize> {
    let shown = ty.id()?.to_string();
    usize::from_str_radix(shown.strip_prefix("0x")?, 16).ok()
}

/// The number of the program and of the type, and the address of the object.
fn head(number: u8, program: &Program, chosen: &Chosen) -> Option<Vec<u8>> {
    let ty = number_of(program, &chosen.object.ty)?;
    let at = chosen.object.address()?.get();
    Some(Output::default().byte(number).word(ty).word(at).0)
}

fn value_seed(program: &Program, chosen: &Chosen, head: Vec<u8>) -> Vec<u8> {
    let dynamic = chosen.dynamic.as_ref().and_then(|ty| number_of(program, ty));
    chosen.memory.write(Output(head).word(dynamic.unwrap_or(0))).0
}

/// A type of the program by its name, or the nearest one that has a name.
fn number_of(program: &Program, ty: &Type) -> Option<u64> {
    let named = ty.qualified_name().or_else(|| ty.stripped().ok()?.qualified_name())?;
    let found = program.types.iter().position(|(name, _)| *name == named)?;
    Some(found as u64)
}

/// A path into an object, by what its type has.
fn path(object: &Object) -> Option<String> {
    let ty = object.ty.stripped().ok()?;
    let composite = ty.composite()?;
    let first = composite.members.iter().find_map(|member| member.name.as_deref());
    Some(match first {
        Some(name) => format!(".{name}[1]"),
        None => "[0..2]".to_owned(),
    })
}
