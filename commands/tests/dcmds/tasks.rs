//! Tasks whose runtime keeps their frames in objects of its own: there is no native stack to show.

use std::{path::Path, sync::Arc};

use kcore::{
    Core, Finding, FrameKind, Host, Identity, LanguageFrame, OpenOptions, Probe, Probes, Runtime,
    Task, TaskStart,
};
use serde_json::Value;

use crate::harness::{json_on, run_on};

struct Coroutines(Identity);

impl Runtime for Coroutines {
    fn identity(&self) -> &Identity {
        &self.0
    }

    fn tasks(&self, _host: &dyn Host) -> Vec<Task> {
        let frame = |function: Option<&str>, line| LanguageFrame {
            kind: FrameKind::Lua,
            function: function.map(Into::into),
            file: Some("job.lua".into()),
            line: Some(line),
            ..LanguageFrame::default()
        };
        let frames = vec![frame(Some("wait"), 3), frame(None, 8)];
        vec![Task {
            runtime: "lua",
            id: 0x77,
            name: None,
            state: "suspended".into(),
            waits_on: None,
            entry: None,
            thread: None,
            stack: None,
            until: None,
            start: TaskStart::Language(frames),
        }]
    }
}

fn find(_host: &dyn Host) -> Vec<Finding> {
    let identity = Identity {
        name: "lua",
        version: None,
        instance: "state".into(),
        metadata: "made up".into(),
        undecoded: Vec::new(),
    };
    vec![Finding::Found(Box::new(Coroutines(identity)))]
}

#[test]
fn frames_without_native_code_are_shown_without_addresses() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/nodes/x86_64");
    let options = OpenOptions {
        core: Some(folder.join("core.zst")),
        exe: Some(folder.join("nodes")),
        probes: Probes { runtimes: &[Probe { name: "lua", find }], ..Probes::NONE },
        ..OpenOptions::default()
    };
    let core = Arc::new(Core::open(&options).expect("the core opens"));
    let shown = run_on(&core, "::stacks").out;
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    for line in ["wait at job.lua:3 [lua]", "<unknown> at job.lua:8 [lua]"] {
        assert!(lines.contains(&line), "{line}: {shown}");
    }
    let groups = json_on(&core, "::stacks");
    let group = groups.iter().find(|group| group["frames"][0]["function"] == "wait");
    let frames = group.expect("it is listed")["frames"].as_array().expect("frames");
    for frame in frames {
        let fields = [&frame["pc"], &frame["sp"], &frame["cfa"]];
        assert_eq!(fields, [&Value::Null; 3], "nothing is invented: {frame}");
        assert_eq!(frame["trust"], "runtime");
    }
    assert_eq!(frames[1]["function"], Value::Null);
    assert_eq!(group.expect("it is listed")["end"]["reason"], "outermost");
}
