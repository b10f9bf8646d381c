//! Cores that were cut: what is left is shown, and what is missing is said.

use std::{fs, path::Path};

use kcore::OpenOptions;

use crate::{Opened, cases, harness};

#[test]
fn a_core_that_is_cut_anywhere_shows_what_is_left() {
    let Some(case) =
        cases("goroutines").into_iter().find(|case| case.name().ends_with("go1.27-stripped"))
    else {
        return;
    };
    let whole = Opened::of(&case).records("::goroutines").len();
    let bytes = fs::read(&case.core).expect("the core");
    let mut most = 0;
    for part in [1, 4, 8, 12, 15] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("go-cut-{part}"));
        fs::write(&path, &bytes[..bytes.len() / 16 * part]).expect("a copy");
        let exe = Some(case.exe.clone());
        let options = OpenOptions { core: Some(path.clone()), exe, ..OpenOptions::default() };
        let core = std::sync::Arc::new(kcore::Core::open(&options).expect("it opens"));
        let records = harness::json_on(&core, "::goroutines; ::walk goroutine | ::stack");
        let listed = records.iter().filter(|record| record["type"] == "goroutine").count();
        let says =
            records.iter().any(|record| record["type"] == "error" || record["type"] == "note");
        assert!(listed == whole || says || listed < whole, "{part}/16: {records:?}");
        most = most.max(listed);
        fs::remove_file(path).expect("the copy goes");
    }
    assert!(most > 0, "some are left");
}
