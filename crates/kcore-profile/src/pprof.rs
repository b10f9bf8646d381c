//! pprof's `profile.proto` (github.com/google/pprof, `proto/profile.proto`), packed with gzip.

use std::{
    io::{self, Write},
    time::{Duration, UNIX_EPOCH},
};

use flate2::{Compression, write::GzEncoder};
use prost::Message;
use rustc_hash::FxHashMap;

use crate::{HeapProfile, Profile, ProfileFrame};

/// `perftools.profiles.Profile`, as far as it is written.
#[derive(Clone, PartialEq, Message)]
struct Whole {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<SampleOf>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct SampleOf {
    /// Innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
    #[prost(int64, tag = "3")]
    num: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
    #[prost(int64, tag = "3")]
    column: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// Writes the profile.
///
/// # Errors
/// When it cannot be written.
pub fn write(profile: &Profile, to: &mut dyn Write) -> io::Result<()> {
    let mut packed = GzEncoder::new(to, Compression::fast());
    packed.write_all(&whole(profile).encode_to_vec())?;
    packed.finish().map(drop)
}

/// Writes a heap profile: what is in use, in blocks and in bytes.
///
/// # Errors
/// When it cannot be written.
pub fn write_heap(profile: &HeapProfile, to: &mut dyn Write) -> io::Result<()> {
    let mut packed = GzEncoder::new(to, Compression::fast());
    packed.write_all(&heap(profile).encode_to_vec())?;
    packed.finish().map(drop)
}

fn heap(profile: &HeapProfile) -> Whole {
    let mut making = Making::default();
    making.text("");
    let blocks = making.kind("inuse_objects", "count");
    let bytes = making.kind("inuse_space", "bytes");
    let space = making.kind("space", "bytes");
    for (stack, in_use) in profile.all() {
        let (blocks, bytes) = in_use.rounded();
        let frames = profile.stacks.frames_of(stack);
        let sample = SampleOf {
            location_id: frames.map(|it| making.location(it)).collect(),
            value: vec![blocks, bytes],
            label: Vec::new(),
        };
        making.whole.sample.push(sample);
    }
    Whole {
        sample_type: vec![blocks, bytes],
        period_type: Some(space),
        period: i64::try_from(profile.period).unwrap_or(i64::MAX),
        default_sample_type: bytes.kind,
        ..making.whole
    }
}

fn whole(profile: &Profile) -> Whole {
    let mut making = Making::default();
    making.text("");
    let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    let about = &profile.about;
    let period = nanos(about.interval);
    let count = making.kind("samples", "count");
    let time = making.kind(if about.on_cpu { "cpu" } else { "wall" }, "nanoseconds");
    let (thread_key, tid_key) = (making.text("thread"), making.text("thread_id"));
    let (process_key, pid_key) = (making.text("process"), making.text("process_id"));
    for (id, stack, count) in profile.counts() {
        let Some(thread) = profile.thread_at(id) else { continue };
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let name = making.text(&thread.name);
        let mut label = vec![
            Label { key: thread_key, str: name, num: 0 },
            Label { key: tid_key, str: 0, num: i64::from(thread.tid) },
        ];
        if let Some(process) = profile.process_of(id) {
            let name = making.text(&process.title());
            label.push(Label { key: process_key, str: name, num: 0 });
            label.push(Label { key: pid_key, str: 0, num: i64::from(process.pid) });
        }
        let sample = SampleOf {
            location_id: profile.frames_of(stack).map(|it| making.location(it)).collect(),
            value: vec![count, count.saturating_mul(period)],
            label,
        };
        making.whole.sample.push(sample);
    }
    let start = about.start.duration_since(UNIX_EPOCH).unwrap_or_default();
    Whole {
        sample_type: vec![count, time],
        time_nanos: nanos(start),
        duration_nanos: nanos(about.elapsed),
        period_type: Some(time),
        period,
        default_sample_type: time.kind,
        ..making.whole
    }
}

/// What is written once and then named by its number.
#[derive(Default)]
struct Making {
    whole: Whole,
    texts: FxHashMap<String, i64>,
    /// Functions by name and file.
    functions: FxHashMap<(i64, i64), u64>,
    /// Locations by the place of their frame among all frames.
    locations: FxHashMap<usize, u64>,
}

impl Making {
    fn text(&mut self, text: &str) -> i64 {
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let id = i64::try_from(self.texts.len()).unwrap_or(i64::MAX);
        self.whole.string_table.push(text.to_owned());
        self.texts.insert(text.to_owned(), id);
        id
    }

    fn kind(&mut self, kind: &str, unit: &str) -> ValueType {
        ValueType { kind: self.text(kind), unit: self.text(unit) }
    }

    fn function(&mut self, frame: &ProfileFrame) -> u64 {
        let name = self.text(&frame.function);
        let file = frame.file.as_ref().or(frame.module.as_ref());
        let filename = self.text(file.map(AsRef::as_ref).unwrap_or_default());
        let next = next_id(self.functions.len());
        let known = self.functions.entry((name, filename)).or_insert(next);
        if *known == next {
            self.whole.function.push(Function { id: next, name, system_name: name, filename });
        }
        *known
    }

    fn location(&mut self, (index, frame): (usize, &ProfileFrame)) -> u64 {
        if let Some(known) = self.locations.get(&index) {
            return *known;
        }
        let id = next_id(self.locations.len());
        let line = Line {
            function_id: self.function(frame),
            line: frame.line.map(i64::from).unwrap_or_default(),
            column: frame.column.map(i64::from).unwrap_or_default(),
        };
        self.whole.location.push(Location { id, line: vec![line] });
        self.locations.insert(index, id);
        id
    }
}

/// Numbers begin with 1: 0 is none.
fn next_id(count: usize) -> u64 {
    (count as u64).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::{process::tests::family, profile::tests::example};

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        write(&example(), &mut bytes).unwrap();
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).unwrap();
        let whole = Whole::decode(&unpacked[..]).unwrap();
        assert_eq!(whole, super::whole(&example()));
        assert_eq!(whole.string_table[0], "");
        assert_eq!(whole.sample[0].value, [3, 30_000_000]);
        let inner = &whole.location[whole.sample[0].location_id[0] as usize - 1].line[0];
        let function = &whole.function[inner.function_id as usize - 1];
        assert_eq!(whole.string_table[function.name as usize], "hot");
        assert_eq!((inner.line, whole.function.len()), (7, 3));
    }

    #[test]
    fn a_heap_has_blocks_and_bytes() {
        let whole = heap(&crate::heap::tests::example());
        let text = |index: i64| &whole.string_table[index as usize][..];
        let kinds: Vec<_> =
            whole.sample_type.iter().map(|it| (text(it.kind), text(it.unit))).collect();
        assert_eq!(kinds, [("inuse_objects", "count"), ("inuse_space", "bytes")]);
        assert_eq!((text(whole.default_sample_type), whole.period), ("inuse_space", 4096));
        let values: Vec<_> = whole.sample.iter().map(|it| &it.value[..]).collect();
        assert_eq!(values, [[4, 150], [1, 8], [1, 1]]);
    }

    #[test]
    fn a_sample_of_several_processes_says_whose_it_is() {
        let whole = super::whole(&family());
        let text = |index: i64| &whole.string_table[index as usize][..];
        let labels = whole.sample.iter().map(|sample| {
            let label = |key: &str| sample.label.iter().find(|it| text(it.key) == key).unwrap();
            (text(label("process").str), label("process_id").num)
        });
        let labels: Vec<_> = labels.collect();
        assert_eq!(
            labels,
            [("app [70]", 70), ("app [70]", 70), ("app [72]", 72), ("app [72]", 72)]
        );
        assert_eq!(super::whole(&example()).sample[0].label.len(), 2);
    }
}
