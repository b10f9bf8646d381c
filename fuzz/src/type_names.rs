//! Names and declarations of types, as users type them.

use kcore::SessionTypes;

use crate::command::core;

/// `data` is text.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let core = core();
    if let Ok(ty) = core.types().named(None, text) {
        let _ =
            (ty.size(), ty.stripped(), ty.declared("x"), core.types().named(None, &ty.spelled()));
    }
    let mut session = SessionTypes::default();
    let _ = core.types().declare(&mut session, text);
    let _ = core.types().name(&mut session, text, "fuzzed_t");
    // What a session keeps can be read again.
    let mut again = SessionTypes::default();
    for declaration in session.declarations() {
        let read = core.types().declare(&mut again, declaration);
        assert!(read.is_ok(), "{declaration:?}: {read:?}");
    }
    let names = |types: &SessionTypes| types.iter().map(|(name, _)| name.to_owned()).collect();
    let (first, second): (Vec<String>, Vec<String>) = (names(&session), names(&again));
    assert_eq!(first, second);
}
