//! What greenlets of gevent and eventlet wait for.

use crate::{Opened, address, cases_of};

#[test]
fn what_they_wait_for_is_what_the_program_told() {
    for core in cases_of("gevent").iter().map(Opened::of) {
        let rows = core.records("::greenlets");
        let told = core.told("waits.jsonl");
        assert!(told.len() >= 16, "{}", core.name);
        for told in told {
            let at = address(&told["at"]);
            let row = rows.iter().find(|row| address(&row["address"]) == at).expect("a row");
            assert_eq!(row["waits_for"], told["waits_for"], "{}: {row:#}", core.name);
            let classes = ["Greenlet", "GreenThread"];
            assert!(classes.iter().any(|class| row["class"] == *class), "{}: {row:#}", core.name);
        }
    }
}
