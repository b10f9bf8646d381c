//! JSON of the Firefox profiler (profiler.firefox.com), by `fxprof-processed-profile`.

use std::{
    io::{self, BufWriter, Write},
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use fxprof_processed_profile::{
    CategoryColor, CategoryPairHandle, CpuDelta, Frame, FrameFlags, FrameInfo, ProcessHandle,
    Profile as Out, ReferenceTimestamp, SamplingInterval, StackHandle, ThreadHandle, Timestamp,
};
use rustc_hash::FxHashMap;

use crate::{ProcessId, Profile, ProfileFrame, Sample, StackId, ThreadId};

/// Writes the profile.
///
/// # Errors
/// When it cannot be written.
pub fn write(profile: &Profile, pack: bool, to: &mut dyn Write) -> io::Result<()> {
    let out = converted(profile);
    if pack {
        let mut packed = GzEncoder::new(to, Compression::fast());
        serde_json::to_writer(&mut packed, &out)?;
        return packed.finish().map(drop);
    }
    let mut buffered = BufWriter::new(to);
    serde_json::to_writer(&mut buffered, &out)?;
    buffered.flush()
}

fn converted(profile: &Profile) -> Out {
    let about = &profile.about;
    let start = ReferenceTimestamp::from_system_time(about.start);
    let interval = SamplingInterval::from_nanos(nanos(about.interval));
    let mut out = Out::new(&about.program, start, interval);
    out.set_symbolicated(true);
    let processes = processes(profile, &mut out);
    let native = out.add_category("Native", CategoryColor::Blue).into();
    let script = out.add_category("JavaScript", CategoryColor::Yellow).into();
    let threads = profile.threads().iter().map(|thread| {
        let own = thread.process.map_or(0, ProcessId::index);
        let (pid, from, process) = *processes.get(own)?;
        let handle = out.add_thread(process, thread.tid, from, thread.tid == pid);
        out.set_thread_name(handle, &thread.name);
        Some(handle)
    });
    let threads = threads.collect();
    let kinds = [native, script];
    let mut converting = Converting { profile, out, threads, kinds, stacks: FxHashMap::default() };
    profile.samples().iter().for_each(|sample| converting.add(sample));
    converting.out
}

/// Each process with its id and when it was first seen: that of a profile of one alone, or all of several.
fn processes(profile: &Profile, out: &mut Out) -> Vec<(u32, Timestamp, ProcessHandle)> {
    let about = &profile.about;
    if profile.processes().is_empty() {
        let start = time(Duration::ZERO);
        return vec![(about.pid, start, out.add_process(&about.program, about.pid, start))];
    }
    let added = profile.processes().iter().map(|process| {
        let (from, until) = (time(process.from), time(process.until));
        let handle = out.add_process(&process.name, process.pid, from);
        out.set_process_end_time(handle, until);
        (process.pid, from, handle)
    });
    added.collect()
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn time(since_start: Duration) -> Timestamp {
    Timestamp::from_nanos_since_reference(nanos(since_start))
}

struct Converting<'a> {
    profile: &'a Profile,
    out: Out,
    /// In the order of the profile's.
    threads: Vec<Option<ThreadHandle>>,
    /// Of native frames, and of scripts.
    kinds: [CategoryPairHandle; 2],
    stacks: FxHashMap<(ThreadId, StackId), Option<StackHandle>>,
}

impl Converting<'_> {
    fn add(&mut self, sample: &Sample) {
        let Some(thread) = self.threads.get(sample.thread.index()).copied().flatten() else {
            return;
        };
        let key = (sample.thread, sample.stack);
        let stack = match self.stacks.get(&key) {
            Some(known) => *known,
            None => {
                let new = self.stack(thread, sample.stack);
                self.stacks.insert(key, new);
                new
            }
        };
        let on_cpu = self.profile.about.on_cpu;
        let stands_for = self.profile.about.interval.saturating_mul(sample.weight);
        let busy = if on_cpu { stands_for } else { Duration::ZERO };
        let weight = i32::try_from(sample.weight).unwrap_or(i32::MAX);
        let busy = CpuDelta::from_nanos(nanos(busy));
        self.out.add_sample(thread, time(sample.at), stack, busy, weight);
    }

    fn stack(&mut self, thread: ThreadHandle, stack: StackId) -> Option<StackHandle> {
        let frames: Vec<&ProfileFrame> = self.profile.frames_of(stack).map(|it| it.1).collect();
        let mut caller = None;
        for frame in frames.into_iter().rev() {
            let [native, script] = self.kinds;
            let label = Frame::Label(self.out.intern_string(&frame.function));
            let (category_pair, flags) = match frame.script {
                Some("js") => (script, FrameFlags::IS_JS),
                Some(_) => (script, FrameFlags::empty()),
                None => (native, FrameFlags::empty()),
            };
            let frame =
                self.out.intern_frame(thread, FrameInfo { frame: label, category_pair, flags });
            caller = Some(self.out.intern_stack(thread, caller, frame));
        }
        caller
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{process::tests::family, profile::tests::example};

    #[test]
    fn threads_have_samples_whose_stacks_have_names() {
        let mut bytes = Vec::new();
        write(&example(), false, &mut bytes).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let thread = &json["threads"][0];
        assert_eq!(thread["name"], "pool");
        assert_eq!(thread["samples"]["length"], 4);
        let strings = json["shared"]["stringArray"].as_array().or(thread["stringArray"].as_array());
        let strings = strings.unwrap();
        assert!(strings.iter().any(|text| text == "say \"hi\";"), "{strings:?}");
    }

    #[test]
    fn threads_of_several_processes_stand_below_their_own() {
        let mut bytes = Vec::new();
        write(&family(), false, &mut bytes).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let threads = json["threads"].as_array().unwrap().iter();
        let told: Vec<_> = threads
            .map(|thread| (thread["pid"].as_str(), thread["registerTime"].as_f64()))
            .collect();
        assert_eq!(told, [(Some("70"), Some(0.0)), (Some("72"), Some(2000.0))], "{json}");
    }
}
