//! The await chains of tasks, as the program told them.

use serde_json::Value;

use crate::{Opened, address, cases};

/// A frame: function, file without folders, line.
type FramePlace = (String, Option<String>, Option<u64>);

fn place(frame: &Value) -> FramePlace {
    let file = frame["file"].as_str().and_then(|file| file.rsplit('/').next());
    let function = frame["function"].as_str().unwrap_or("?").to_owned();
    (function, file.map(str::to_owned), frame["line"].as_u64())
}

#[test]
fn their_frames_are_those_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        for told in core.told().iter().filter(|told| told["state"] != "running") {
            let at = address(&told["at"]).expect("an address");
            let stack = core.records(&format!("{at:x}::stack")).remove(0);
            let frames = stack["frames"].as_array().expect("frames");
            let shown: Vec<FramePlace> = frames.iter().map(place).collect();
            let told: Vec<FramePlace> =
                told["frames"].as_array().expect("frames").iter().map(place).collect();
            assert_eq!(shown, told, "{}: {stack:#}", core.name);
            assert!(frames.iter().all(|frame| frame["doubt"].is_null()), "{}", core.name);
        }
    }
}

#[test]
fn alike_ones_are_grouped() {
    for core in cases().iter().map(Opened::of) {
        let groups = core.records("::stacks");
        let tasks = groups.iter().filter_map(|group| group["tasks"].as_array());
        let counts: Vec<usize> = tasks.map(Vec::len).collect();
        let waiting = core.told().iter().filter(|told| told["state"] != "running").count();
        assert_eq!(counts.iter().sum::<usize>(), waiting, "{}", core.name);
        // Those that sleep forever in the nurseries that are opened within each other.
        assert!(counts.iter().max() >= Some(&3), "{}: {counts:?}", core.name);
    }
}
