//! One program with its debug information in every container, found by every finder: the stack is the same each time. A
//! wrong build in the same place gives a warning, and no name.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod form;
mod ground;
mod places;

use form::FORMS;
use ground::{Ground, Shown};
use places::PLACES;

/// The functions of the program, and the lines on which the text of each has a word of its own.
fn truth() -> Vec<(String, Option<u64>)> {
    let line = |word: &str| {
        let at = ground::SOURCE.lines().position(|line| line.contains(word)).unwrap();
        Some(at as u64 + 1)
    };
    [("die", "DIES"), ("inner", "CALLS_DIE"), ("middle", "CALLS_INNER"), ("main", "CALLS_MIDDLE")]
        .map(|(function, word)| (function.to_owned(), line(word)))
        .into()
}

#[test]
fn each_container_gives_the_same_stack_from_each_place() {
    for form in FORMS {
        let Some(ground) = Ground::new(form) else { continue };
        for place in PLACES {
            let options = place.lay_out(&ground);
            let shown = ground.shown(&options);
            let expected = if form.has_lines { truth() } else { without_lines() };
            assert_eq!(shown.frames, expected, "{} by {}: {shown:?}", form.name, place.name);
            if form.has_variables {
                assert_eq!(
                    shown.argument.as_deref(),
                    Some("42"),
                    "{} by {}",
                    form.name,
                    place.name
                );
            }
            assert!(shown.doubts().is_empty(), "{} by {}: {shown:?}", form.name, place.name);
        }
    }
}

/// Names alone, as symbol tables have them.
fn without_lines() -> Vec<(String, Option<u64>)> {
    truth().into_iter().map(|(function, _)| (function, None)).collect()
}

#[test]
fn another_build_in_any_place_is_refused_aloud_and_names_nothing() {
    for form in FORMS.iter().filter(|form| ["plain", "mini", "dwo"].contains(&form.name)) {
        let Some(ground) = Ground::new(form) else { continue };
        ground.build_again();
        for place in PLACES {
            let options = place.lay_out(&ground);
            let Shown { frames, status, .. } = ground.shown(&options);
            // Names that the program exports are in the core itself, and are right.
            let exported: &[&str] = if form.name == "mini" { &["middle", "main"] } else { &[] };
            let names = frames.iter().map(|(function, _)| function.as_str());
            let wrong = names.filter(|name| !name.is_empty() && !exported.contains(name)).count();
            assert_eq!(wrong, 0, "{} by {}: {frames:?}", form.name, place.name);
            let warning = status.contains("is another build: its build-id is ");
            assert!(warning, "{} by {}: {status}", form.name, place.name);
        }
    }
}

fn is_of_program(function: &str) -> bool {
    truth().iter().any(|(own, _)| own == function)
}

#[test]
fn a_place_that_is_switched_off_is_not_looked_at() {
    let ground = Ground::new(&FORMS[0]).unwrap();
    for place in PLACES.iter().filter(|place| place.word != "exe") {
        let mut options = place.lay_out(&ground);
        options.extend(["--finders".to_owned(), "exe".to_owned()]);
        let shown = ground.shown(&options);
        assert!(shown.frames.iter().all(|(name, _)| !is_of_program(name)), "{}", place.name);
        options.pop();
        options.push(place.word.to_owned());
        let shown = ground.shown(&options);
        assert_eq!(shown.frames, truth(), "{} by {}", place.name, place.word);
    }
}

#[test]
fn what_was_tried_is_told_with_the_reason() {
    let ground = Ground::new(&FORMS[0]).unwrap();
    ground.build_again();
    let options = PLACES.iter().find(|place| place.word == "core-dir").unwrap().lay_out(&ground);
    let text = ground.text(&options, "::objects -v app");
    assert!(text.contains("missing\n  tried     "), "{text}");
    assert!(text.contains("not that of the process (folder of the core)"), "{text}");
    assert!(text.contains("not found (path as recorded)"), "{text}");
    let text = ground.text(&options, "::missing");
    let line = text.lines().find(|line| line.starts_with("executable ")).unwrap_or_default();
    assert!(line.contains(&ground.build_id()), "{text}");
}
