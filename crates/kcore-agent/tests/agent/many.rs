//! Many threads.

use crate::{
    answers::{groups, with},
    program::{Running, built, with_agent},
};

#[test]
fn a_thousand_threads_answer() {
    let program = built("many.c", "many", &["-O2", "-fomit-frame-pointer", "-pthread"]);
    let mut process = Running::start(with_agent(&program).arg("1000"));
    for _ in 0..3 {
        let text = process.stacks();
        let group = groups(&text);
        let waiting = with(&group, "deep");
        assert_eq!(waiting.count, 1000, "{text}");
        assert_eq!(waiting.functions.iter().filter(|name| *name == "deep").count(), 26);
        println!("{}", text.lines().take(2).collect::<Vec<_>>().join("\n"));
    }
}
