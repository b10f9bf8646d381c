//! What a value is, in a few words: `JSObject: Account`, `Oddball: "null"`, `SMI: value = 7`.

use kcore::Core;
use kcore::v8::V8;

/// The kind of a value; `<unknown>` where nothing is known about it.
pub fn of(core: &Core, v8: &V8, word: u64) -> String {
    let Ok(found) = v8.type_of(core, word) else { return "<unknown>".to_owned() };
    match found.detail {
        Some(detail) => format!("{}: {detail}", found.name),
        None => found.name,
    }
}
