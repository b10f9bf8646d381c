//! Where code that `eval` or `new Function` made comes from, as stack traces show it.
//!
//! `AppendFileLocation` and `FormatEvalOrigin` in `src/objects/call-site-info.cc`.

use super::{Heap, Script, call_site::ANONYMOUS, function::Shared};

/// Evals in evals that are told, at most.
const MAX_DEPTH: usize = 16;

impl Script {
    /// What stands before line and column in traces: its name or that in its text; of what `eval` made
    /// where that was, `eval at f (/a.js:1:2), <anonymous>`.
    pub fn shown_name(self, heap: &Heap<'_>) -> Option<String> {
        self.name(heap).or_else(|| self.source_url(heap)).or_else(|| {
            let (from, position) = self.eval_from(heap)?;
            Some(format!("{}, {ANONYMOUS}", origin(heap, from, position, MAX_DEPTH)))
        })
    }
}

/// `eval at f (/a.js:1:2)`
fn origin(heap: &Heap<'_>, from: Shared, position: i32, depth: usize) -> String {
    let name = from.debug_name(heap);
    let name = name.as_deref().unwrap_or(ANONYMOUS);
    match from.script(heap) {
        Some(script) => {
            format!("eval at {name} ({})", place(heap, script, from, position, depth))
        }
        None => format!("eval at {name}"),
    }
}

fn place(heap: &Heap<'_>, script: Script, from: Shared, position: i32, depth: usize) -> String {
    if let Some((outer, outer_position)) = script.eval_from(heap) {
        return match script.source_url(heap) {
            Some(url) => url,
            None if depth == 0 => "...".to_owned(),
            None => origin(heap, outer, outer_position, depth.saturating_sub(1)),
        };
    }
    let Some(name) = script.name(heap) else { return "unknown source".to_owned() };
    match offset(heap, from, position).and_then(|offset| script.place(heap, offset)) {
        Some(place) => format!("{name}:{}:{}", place.line, place.column),
        None => name,
    }
}

/// The offset in the script; V8 keeps that in the bytecode, negated, until somebody asks.
fn offset(heap: &Heap<'_>, from: Shared, position: i32) -> Option<u64> {
    match u64::try_from(position) {
        Ok(offset) => Some(offset),
        Err(_) => {
            let offset = u64::from(position.unsigned_abs());
            heap.bytecode_position(from.bytecode(heap)?, offset)?.script_offset()
        }
    }
}
