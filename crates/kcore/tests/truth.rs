//! Every stack of every generated core, held against what its program knows to be true.

use gen_cores::{Case, Seen, compare};
use kcore::{Core, MAX_FRAMES, OpenOptions, Tid};

fn open(case: &Case) -> Core {
    let options = OpenOptions { core: Some(case.core.clone()), ..OpenOptions::default() };
    Core::open(&options).unwrap_or_else(|error| panic!("{}: {error}", case.name()))
}

/// The named frames of a thread, as a test sees them.
fn seen(core: &Core, tid: Tid) -> Vec<Seen> {
    let stack = core.stack(tid, MAX_FRAMES);
    let frames = core.named_frames(&stack.frames).map(|frame| Seen {
        function: frame.location.function.as_deref().map(str::to_owned),
        file: frame.location.file.as_deref().map(str::to_owned),
        line: frame.location.line,
        inline: frame.location.inline,
        pc: Some(frame.frame.pc.addr().get()),
    });
    frames.collect()
}

/// What differs from the truth in one case.
fn differences(case: &Case) -> Vec<String> {
    let truth = match case.truth() {
        Ok(truth) => truth,
        Err(error) => return vec![format!("{}: {error}", case.name())],
    };
    let core = open(case);
    let mut found = Vec::new();
    for thread in &truth.threads {
        let tid = Tid::new(thread.tid);
        if core.thread(tid).is_none() {
            found.push(format!("{}: thread {tid} is missing", case.name()));
            continue;
        }
        if let Err(difference) = compare(thread, &seen(&core, tid)) {
            let stack = core.stack(tid, 40);
            let end = stack.end;
            let names: Vec<String> = core
                .named_frames(&stack.frames)
                .map(|frame| {
                    let name = frame.location.function.unwrap_or_else(|| "?".into());
                    format!("{name}[{}]", frame.frame.trust.as_str())
                })
                .collect();
            found.push(format!(
                "{}: {difference}\n    {} -- {end}",
                case.name(),
                names.join(" < ")
            ));
        }
    }
    found
}

#[test]
fn every_thread_of_every_core_has_the_stack_that_its_program_knows() {
    let cases = gen_cores::cases().expect("recipes");
    let found: Vec<String> = cases.iter().flat_map(differences).collect();
    println!("{} cores", cases.len());
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
