//! Ractors: threads of each are shown with their frames, whether or not a native thread runs them.

use crate::{Opened, frames, made};

/// The functions of the thread that calls one, innermost first.
fn calling(core: &Opened, function: &str) -> Vec<String> {
    let stacks = core.records("::walk thread | ::stack");
    let all = stacks.iter().filter(|record| record["type"] == "stack").map(frames);
    let names =
        all.map(|frames| frames.into_iter().map(|((name, ..), _)| name).collect::<Vec<_>>());
    let own = { names }.find(|names| names.iter().any(|name| name == function));
    own.unwrap_or_else(|| panic!("{}: no {function} in {stacks:#?}", core.name))
}

/// The functions of a task that calls one: of a thread that no native thread runs.
fn parked(core: &Opened, function: &str) -> Option<Vec<String>> {
    let tasks = core.core.tasks();
    let own = tasks.all().iter().filter(|task| task.runtime == "ruby");
    let stacks = own.map(|task| core.records(&format!("{:x}::stack", task.id)).remove(0));
    let names = stacks.map(|stack| {
        frames(&stack).into_iter().map(|((name, ..), _)| name).collect::<Vec<String>>()
    });
    { names }.find(|names| names.iter().any(|name| name == function))
}

#[test]
fn threads_of_ractors_have_their_frames() {
    for variant in ["ruby3.1", "ruby3.3"] {
        let Some(case) = made("ruby-ractors", variant) else { continue };
        let core = Opened::of(&case);
        // Since 3.3 those that wait have no native thread.
        let of = |function| parked(&core, function).unwrap_or_else(|| calling(&core, function));
        let receiving = of("Object#receiving");
        let expected = ["Ractor.receive"].into_iter().chain(["Object#receiving"; 4]);
        let expected: Vec<&str> = expected.chain(["block in <main>"]).collect();
        assert_eq!(receiving, expected, "{}", core.name);
        let spinning = of("Object#spinning");
        let expected: Vec<&str> =
            ["Object#spinning"; 3].into_iter().chain(["block in <main>"]).collect();
        assert_eq!(spinning, expected, "{}", core.name);
        let joining = of("Object#joining");
        assert_eq!(joining, ["Thread#join", "Object#joining", "block in <main>"], "{}", core.name);
        let inner = of("block in Object#joining");
        assert_eq!(inner, ["Kernel#sleep", "block in Object#joining"], "{}", core.name);
    }
}
