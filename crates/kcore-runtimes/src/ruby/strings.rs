//! Strings and regular expressions as values: `string.c` (`rb_str_inspect`), `include/ruby/internal/encoding/encoding.h`,
//! `include/ruby/internal/core/re.h`, `include/ruby/onigmo.h`.

use super::{
    encodings::{Encoding, japanese, plain, utf8, wide},
    heap::{Object, STRING},
    value::{Teller, note},
};
use crate::{
    ScriptNode, ScriptScalar, TextRest,
    script_text::{BINARY, TEXT, rest_of, text},
};

/// `ptr` and `src` of `struct RRegexp`; `options` of `struct re_pattern_buffer`.
const PATTERN: u64 = 16;
const SOURCE: u64 = 24;
const OPTIONS: u64 = 56;
/// The options that a program can give, in the order in which `inspect` has them.
const LETTERS: [(u64, char); 3] = [(4, 'm'), (1, 'i'), (2, 'x')];
/// No other options exist: `ONIG_MAX_REGEX_OPTION` of 2.7 to 3.4 is below this.
const MAX_OPTION: u64 = 1 << 20;

impl Teller<'_> {
    /// A string. What its encoding does not make text has its bytes by number.
    pub(super) fn string(&self, object: Object) -> ScriptNode {
        let Some(bytes) = self.heap.bytes_of(object) else { return note(TEXT, "unreadable") };
        // No character has more bytes.
        let wanted = bytes.length.min(self.limits.characters.saturating_mul(4));
        let held = self.heap.space.read_held(bytes.at, wanted);
        let rest = rest_of(held.len() as u64, wanted, bytes.length);
        let encoding = Encoding::of(object);
        let (kind, all) = match (encoding, wide(encoding, &held, rest)) {
            (_, Some(Ok(whole))) => (TEXT, whole),
            (_, Some(Err(spelled))) => (BINARY, spelled),
            (Encoding::Utf8, _) => text(&held, rest, utf8),
            (Encoding::Other(number @ 7..=8), _) => return in_other(number, &held, bytes.length),
            _ if held.is_ascii() => text(&held, rest, utf8),
            (Encoding::EucJp | Encoding::ShiftJis, _) => (BINARY, japanese(encoding, &held, rest)),
            (Encoding::Other(number), _) => return in_other(number, &held, bytes.length),
            _ => (BINARY, plain(&held)),
        };
        let most = usize::try_from(self.limits.characters).unwrap_or(usize::MAX);
        let (shown, rest) = match all.char_indices().nth(most) {
            Some((end, _)) if kind == TEXT => (all.get(..end).unwrap_or_default(), TextRest::Cut),
            _ => (&*all, rest),
        };
        let scalar = ScriptScalar::Text { text: shown.into(), rest };
        ScriptNode { length: Some(bytes.length), ..ScriptNode::scalar(kind, scalar) }
    }

    /// A regular expression.
    pub(super) fn pattern(&self, object: Object) -> ScriptNode {
        let read = || {
            let source = self.heap.field(object.at, SOURCE, STRING)?;
            let source = self.heap.text(source.at.get())?;
            let options = self.heap.pointer(object.at, PATTERN);
            let options = options.and_then(|pattern| self.heap.uint(pattern, OPTIONS, 4))?;
            (options < MAX_OPTION).then_some(())?;
            let given = LETTERS.iter().filter(|(bit, _)| options & bit != 0);
            let flags: String = given.map(|(_, letter)| letter).collect();
            Some(ScriptScalar::Pattern { source: source.into(), flags: flags.into() })
        };
        match read() {
            Some(scalar) => ScriptNode::scalar("regexp", scalar),
            None => note("regexp", "a regular expression that cannot be read"),
        }
    }
}

/// A string whose characters are not told apart: another one of the same bytes would be spelled alike.
fn in_other(number: u64, held: &[u8], length: u64) -> ScriptNode {
    let note = format!("bytes of {}: \"{}\"", Encoding::name(number), plain(held));
    let dots = if (held.len() as u64) < length { "..." } else { "" };
    let scalar = ScriptScalar::Note(format!("{note}{dots}").into());
    ScriptNode { length: Some(length), ..ScriptNode::scalar(TEXT, scalar) }
}
