//! Names with `::` before a dcmd, on symbols of this test's own executable.

use super::*;

/// A function whose name is the beginning of another one's, which ends like a dcmd.
#[inline(never)]
fn place() -> usize {
    place::seen as fn() -> usize as usize
}

mod place {
    /// Called as a dcmd is.
    #[inline(never)]
    pub(super) fn seen() -> usize {
        super::place as fn() -> usize as usize
    }
}

const NAME: &str = "kcore_shell::tests::qualified::place";

#[test]
fn a_name_that_is_a_name_and_a_dcmd_is_said_to_be_both() {
    assert_ne!(place::seen(), place(), "both are there");
    let at = |name: &str| session().core().symbols().lookup(None, name).unwrap().get();
    let (outer, inner) = (at(NAME), at(&format!("{NAME}::seen")));
    assert_eq!(
        lines(&format!("{NAME}::seen")),
        [
            format!("note: ::seen means the dcmd: \"{NAME}::seen\" in quotes is also a symbol"),
            format!("::seen dot=Number({outer}) addr first"),
        ]
    );
    let seen = [format!("::seen dot=Number({outer}) addr first")];
    assert_eq!(lines(&format!("{NAME} ::seen")), seen);
    assert_eq!(
        lines(&format!("\"{NAME}::seen\"::seen")),
        [format!("::seen dot=Number({inner}) addr first")]
    );
    assert_eq!(
        lines(&format!("{NAME}::seen::seen")),
        [format!("::seen dot=Number({inner}) addr first")]
    );
}
