//! Python in real cores: every frame that the program itself told must be there, and no other.

mod damage;
mod last_words;
mod live;
mod locks;
mod stacks;
mod steps;

use std::{fs, sync::LazyLock};

use gen_cores::{Case, Extent, Language, Truth, ensure_language};
use kcore::{Core, FrameKind, NamedFrame, OpenOptions, Stack};
use serde_json::Value;

static CASES: LazyLock<Vec<(Case, Truth)>> = LazyLock::new(|| {
    let report = ensure_language(Language::Python, Extent::Usual).expect("cores are made");
    for skipped in &report.skipped {
        gen_cores::not_tested(skipped);
    }
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    let with_truth = |case: Case| case.truth().map(|truth| (case, truth)).expect("a truth");
    report.cases.into_iter().map(with_truth).collect()
});

fn open(case: &Case) -> Core {
    let options = OpenOptions {
        core: Some(case.core.clone()),
        exe: Some(case.exe.clone()),
        ..OpenOptions::default()
    };
    Core::open(&options).expect("the core opens")
}

/// What a program told beside its stacks.
fn told_lines(case: &Case) -> Vec<Value> {
    let text = fs::read_to_string(case.dir.join("values.jsonl")).expect("lines");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The frames of Python of a stack, innermost first.
fn frames(core: &Core, stack: &Stack) -> Vec<NamedFrame> {
    let named = core.stacks().named_frames(stack);
    named.filter(|frame| frame.location.kind == FrameKind::Python).collect()
}
