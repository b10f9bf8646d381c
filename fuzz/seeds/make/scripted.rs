//! Values and stacks of JavaScript, with the memory that reading them takes.
//!
//! They are those of the test cores, which `cargo run -p gen-cores` makes.

use std::{collections::BTreeMap, path::Path};

use kcore::{Addr, Core, MAX_FRAMES, OpenOptions};
use kcore_fuzz::{
    input::Output,
    memory::Memory,
    v8,
    v8_host::{METADATA, VERSIONS, sum_of},
};
use kcore_runtimes::{
    NativeStack, Runtime,
    v8::{
        V8,
        value::{Key, Limits, Member, Object, Slot, Value, ValueKind},
    },
};
use kcore_unwind::{End, Frame};

use super::recorder::Recorder;

/// The variants in the order of [`VERSIONS`].
const VARIANTS: [&str; VERSIONS.len()] =
    ["node16", "node18", "node20", "node22", "node24", "node25", "node26"];
/// Of these all kinds of values are seeds: the oldest and the newest.
const OF_VALUES: [u8; 2] = [0, 6];
/// Parts of memory that a seed may have, its bytes, and frames.
const PARTS: usize = 64;
const BYTES: usize = 8 << 10;
const FRAMES: usize = 4;
/// The value that is a seed with V8's metadata as well.
const WITH_METADATA: &str = "classes_derived";
/// Enough to see all that a program told.
const SHALLOW: Limits = Limits { depth: 2, entries: 1000, units: 64 };

/// Name and bytes of a seed.
type Seed = (String, Vec<u8>);

/// All seeds of the target `v8`.
pub fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (number, variant) in (0..).zip(VARIANTS) {
        seeds.extend(stacks(number, variant, &open("node-stack", variant)));
        if OF_VALUES.contains(&number) {
            seeds.extend(values(number, variant, &open("node-values", variant)));
        }
    }
    seeds
}

fn open(scenario: &str, variant: &str) -> Core {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/cores");
    let folder = folder.join(scenario).join(variant);
    let (core, exe) = (Some(folder.join("core")), Some(folder.join(scenario)));
    Core::open(&OpenOptions { core, exe, ..OpenOptions::default() }).expect("a core")
}

fn v8(core: &Core) -> &V8 {
    core.runtimes().of::<V8>().next().expect("V8")
}

fn seed(number: u8, head: Output, memory: &Memory) -> Option<Vec<u8>> {
    let bytes = memory.write(Output([&[number], &head.0[..]].concat())).0;
    (memory.0.len() <= PARTS && bytes.len() <= BYTES).then_some(bytes)
}

/// Runs of frames that hold JavaScript.
fn stacks(number: u8, variant: &str, core: &Core) -> Vec<Seed> {
    let tid = *core.tids().first().expect("a thread");
    let stack = core.stacks().of_thread(tid, MAX_FRAMES);
    let seed = |(run, frames): (usize, &[Frame])| {
        let recorder = Recorder::new(core);
        let native = NativeStack { thread: None, task: None, frames, end: End::Outermost };
        let spans = v8(core).decode(&recorder, &native);
        let scripted = spans.iter().any(|span| !span.frames.is_empty());
        for frame in frames {
            let _ = v8(core).frame_details(&recorder, frame, v8::LIMITS);
        }
        let bytes = seed(number, head(frames), &recorder.memory()).filter(|_| scripted)?;
        Some((format!("stack_{variant}_{run}"), bytes))
    };
    stack.frames.chunks(FRAMES).enumerate().filter_map(seed).collect()
}

fn head(frames: &[Frame]) -> Output {
    let start = Output::default().word(0).byte(frames.len() as u8);
    frames.iter().fold(start, |output, frame| {
        let pointer = frame.frame_pointer.map_or(0, Addr::get);
        output.word(frame.pc.addr().get()).word(pointer)
    })
}

/// One value of each shape that the program told.
fn values(number: u8, variant: &str, core: &Core) -> Vec<Seed> {
    let seeds = |(name, at): (String, Addr)| {
        let recorder = Recorder::new(core);
        let v8 = v8(core);
        let _ = v8.value(&recorder, at.get(), v8::LIMITS);
        let _ = (v8.scopes(&recorder, at, v8::LIMITS), v8.source(&recorder, at, v8::LIMITS));
        let head = || Output::default().word(at.get()).byte(0);
        let plain = seed(number, head(), &recorder.memory());
        let with_metadata = (name == WITH_METADATA)
            .then(|| seed(number, head(), &with_metadata(core, recorder.memory())));
        let name = format!("{variant}_{name}");
        let told = with_metadata.flatten().map(|bytes| (format!("{name}_metadata"), bytes));
        plain.map(|bytes| (name, bytes)).into_iter().chain(told)
    };
    told(core).into_iter().flat_map(seeds).collect()
}

/// Memory, and V8's metadata where the fuzzed process has it.
fn with_metadata(core: &Core, mut memory: Memory) -> Memory {
    let constants = v8(core).metadata(core).constants.iter();
    let bytes = constants.flat_map(|(name, value)| [sum_of(name), *value].map(u32::to_le_bytes));
    let bytes = bytes.flatten().collect();
    memory.0.push((METADATA, bytes));
    memory
}

/// What the argument of the function `keep` holds, by kind and name: where each lies.
fn told(core: &Core) -> BTreeMap<String, Addr> {
    let tid = *core.tids().first().expect("a thread");
    let stack = core.stacks().of_thread(tid, MAX_FRAMES);
    let named = core.stacks().named_frames(&stack);
    let keep = named.into_iter().find(|frame| frame.location.function.as_deref() == Some("keep"));
    let frame = keep.and_then(|keep| keep.frame).expect("the function keep");
    let details = v8(core).frame_details(core, &frame, SHALLOW).expect("JavaScript");
    let kinds = members(core, details.arguments.first().and_then(place).expect("an argument"));
    let of_kind = |(kind, at): (String, Addr)| {
        let named = members(core, at).into_iter();
        named.map(move |(name, at)| (format!("{kind}_{name}"), at)).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

fn members(core: &Core, at: Addr) -> Vec<(String, Addr)> {
    let value = v8(core).value(core, at.get(), SHALLOW);
    let Some(ValueKind::Object(object)) = value.map(|value| value.kind) else { return Vec::new() };
    let Object { properties, .. } = *object;
    properties.into_iter().filter_map(named).collect()
}

fn named(member: Member) -> Option<(String, Addr)> {
    match (member.key, member.slot) {
        (Key::Name(name), Slot::Value(value)) => Some((name.to_string(), place(&value)?)),
        _ => None,
    }
}

fn place(value: &Value) -> Option<Addr> {
    match &value.kind {
        ValueKind::Object(object) => Some(object.at),
        ValueKind::Elided(reference) | ValueKind::Circular(reference) => Some(reference.at),
        ValueKind::String(text) => Some(text.at),
        _ => None,
    }
}
