//! Code of which no table tells how it was called: see `assembly.c`.

use crate::{
    answers::groups,
    program::{Running, built, with_agent},
};

/// The functions of the stack of each thread that runs, innermost first, up to where the program's own end.
fn stacks(options: &[&str], name: &str) -> Vec<Vec<String>> {
    let program = built("assembly.c", name, &[options, &["-pthread"]].concat());
    let mut process = Running::start(&mut with_agent(&program));
    let text = process.stacks();
    let own = ["bare_leaf", "calls_leaf", "in_leaf", "in_coroutine", "switches", "__start_context"];
    let all = groups(&text).into_iter().map(|group| group.functions);
    let mut stacks: Vec<Vec<String>> = all
        .filter(|stack| stack.iter().any(|function| function == "bare_leaf"))
        .map(|stack| stack.into_iter().filter(|it| own.contains(&it.as_str())).collect())
        .collect();
    stacks.sort_unstable();
    stacks
}

#[test]
fn who_called_a_function_without_tables_is_found() {
    let coroutine = ["bare_leaf", "calls_leaf", "in_coroutine", "__start_context"];
    let leaf = ["bare_leaf", "calls_leaf", "in_leaf"];
    let framed = ["-O0", "-fno-omit-frame-pointer"];
    for (options, name) in [(&framed[..], "assembly-framed"), (&["-O2"], "assembly-bare")] {
        assert_eq!(stacks(options, name), [&coroutine[..], &leaf[..]], "{name}");
    }
}
