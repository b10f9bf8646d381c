//! `::locals` and `::print NAME` in a frame of PHP.

use crate::{Opened, cases, harness};

/// Runs lines in the frame of the function that told its variables.
fn in_frame(core: &Opened, lines: &str) -> harness::Outcomes {
    let tid = core.truth.crashed_tid.expect("a thread");
    let stack = core.records(&format!("0t{tid}::stack")).remove(0);
    let all = stack["frames"].as_array().expect("frames");
    let own = all.iter().find(|frame| frame["function"] == "Account->finish");
    let number = own.expect("its frame")["index"].as_u64().expect("a number");
    harness::run_on(&core.core, &format!("0t{tid}::frame {number}; {lines}"))
}

#[test]
fn variables_and_what_paths_lead_to_are_as_the_program_has_them() {
    for core in cases().iter().map(Opened::of) {
        for (path, value) in [
            ("whole", "7"),
            ("$negative", "-9"),
            ("list[1]", "\"two\""),
            ("'$map[\"a\"]'", "1"),
            ("map[5]", "\"five\""),
            ("map[nested][b]", "null"),
            ("sparse[2]", "\"y\""),
        ] {
            let text = in_frame(&core, &format!("::print {path}"));
            let shown = format!(" = {value}\n");
            assert!(
                text.out.contains(&shown),
                "{}: {path}\n{}{}",
                core.name,
                text.out,
                text.errors
            );
        }
        let missing = in_frame(&core, "::print list[9]").errors;
        assert!(missing.contains("list[9]: there is no element or key 9"), "{missing}");
        let text = in_frame(&core, "::locals").out;
        for line in ["$whole = 7", "$flag = true"] {
            assert!(text.contains(line), "{}: {line}\n{text}", core.name);
        }
    }
}
