//! How stack traces write a frame.

use super::call_site::ANONYMOUS;
use crate::LanguageFrame;

/// A frame as V8 writes it behind `at`: `f (/a.js:1:2)`, or its place where it has no name.
/// `SerializeJSStackFrame` in `src/objects/call-site-info.cc`.
pub fn trace_line(frame: &LanguageFrame) -> String {
    let place = place(frame);
    match frame.function.as_deref() {
        None | Some(ANONYMOUS) => place,
        Some(name) => format!("{name} ({place})"),
    }
}

fn place(frame: &LanguageFrame) -> String {
    let mut place = frame.file.as_deref().unwrap_or(ANONYMOUS).to_owned();
    for part in [frame.line, frame.column].into_iter().map_while(|part| part) {
        place.push_str(&format!(":{part}"));
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_is_its_place() {
        let mut frame = LanguageFrame {
            file: Some("/a.js".into()),
            line: Some(1),
            column: Some(2),
            ..LanguageFrame::default()
        };
        assert_eq!(trace_line(&frame), "/a.js:1:2");
        frame.function = Some("Object.f".into());
        assert_eq!(trace_line(&frame), "Object.f (/a.js:1:2)");
        let builtin = LanguageFrame { function: Some("Array.map".into()), ..Default::default() };
        assert_eq!(trace_line(&builtin), "Array.map (<anonymous>)");
    }
}
