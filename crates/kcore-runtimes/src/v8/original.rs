//! Frames as the source has them that a compiler or bundler made a script of.

use std::{ops::Range, sync::Arc};

use super::{Function, Heap, Script, function::Shared, source_map::ScriptMap};
use crate::{Generated, LanguageFrame};

/// Units of text round the name of a function.
const MAX_AROUND: u64 = 256;

impl Heap<'_> {
    /// A frame of a function as the source map of its script has it: what V8 says of it is kept beside. The frame as it
    /// is where no map tells of its place.
    pub fn original(
        &self,
        frame: LanguageFrame,
        shared: Shared,
        function: Option<Function>,
    ) -> LanguageFrame {
        let Some(script) = shared.script(self).filter(|_| frame.line.is_some()) else {
            return frame;
        };
        let Some(known) = self.script_map(script) else { return frame };
        match self.original_in(&known, &frame, script, shared, function) {
            Some(original) => original,
            None => LanguageFrame { map_refused: known.refused.clone(), ..frame },
        }
    }

    fn original_in(
        &self,
        known: &ScriptMap,
        frame: &LanguageFrame,
        script: Script,
        shared: Shared,
        function: Option<Function>,
    ) -> Option<LanguageFrame> {
        let map = known.map.as_ref()?;
        // Without an instruction a frame is at the function's first line.
        let column = match frame.column {
            Some(column) => column,
            None => shared.first_place(self)?.column,
        };
        let place = map.original(frame.line?.checked_sub(1)?, column.checked_sub(1)?)?;
        let name = || self.original_name(known, script, shared, function);
        let function = frame.function.as_ref().and_then(|shown| name()?.in_shown(shown));
        let generated = Generated {
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
            column: frame.column,
        };
        Some(LanguageFrame {
            function: function.map(Into::into).or_else(|| frame.function.clone()),
            file: Some(place.source(known.folder.as_deref()).into()),
            line: place.line.checked_add(1),
            column: frame.column.and_then(|_| place.column.checked_add(1)),
            generated: Some(Arc::new(generated)),
            ..frame.clone()
        })
    }

    /// What the source calls a function, where the map says so of the very word that names it in the script.
    fn original_name(
        &self,
        known: &ScriptMap,
        script: Script,
        shared: Shared,
        function: Option<Function>,
    ) -> Option<Renamed> {
        let generated = shared.name(self).filter(|name| !name.is_empty())?;
        let at = self.name_offset(script, shared, function, &generated)?;
        let place = script.place(self, at)?;
        let map = known.map.as_ref()?;
        let found = map.original(place.line.checked_sub(1)?, place.column.checked_sub(1)?)?;
        let original = found.name.filter(|_| found.is_exact)?.to_owned();
        Some(Renamed { generated, original })
    }

    /// Where the word stands in a script that gives a function its name.
    fn name_offset(
        &self,
        script: Script,
        shared: Shared,
        function: Option<Function>,
        name: &str,
    ) -> Option<u64> {
        let source = script.source(self)?;
        let declared = match function {
            Some(function) => function.source_range(self),
            None => shared.source_range(self),
        };
        let (declared, parameters) = (declared?.0, shared.positions(self)?.0);
        let text =
            |from: u64| Some(String::from_utf16_lossy(&self.units(source, from, MAX_AROUND)?));
        // A class: `class name`.
        if shared.is_class_constructor(self) {
            let text = text(declared)?;
            let at = class_name(&text, name).and_then(|at| declared.checked_add(at));
            return at.or_else(|| self.assigned(script, declared, name));
        }
        // A declaration or a method: `name(`.
        let before = |end| self.before(script, end);
        let (from, text) = before(parameters)?;
        let named = last_word(&text).filter(|word| text.get(word.clone()) == Some(name));
        match named {
            Some(word) => from.checked_add(units(text.get(..word.start)?)),
            None => self.assigned(script, declared, name),
        }
    }

    /// The same of what is assigned to a name, or is the value of a property: `name = `, `name: `.
    fn assigned(&self, script: Script, declared: u64, name: &str) -> Option<u64> {
        let (from, text) = self.before(script, declared)?;
        let text = text.trim_end().strip_suffix(['=', ':'])?;
        let word = last_word(text).filter(|word| text.get(word.clone()) == Some(name))?;
        from.checked_add(units(text.get(..word.start)?))
    }

    /// Text of a script that ends at an offset, and where it begins.
    fn before(&self, script: Script, end: u64) -> Option<(u64, String)> {
        let from = end.saturating_sub(MAX_AROUND);
        let units = self.units(script.source(self)?, from, end.checked_sub(from)?)?;
        // Half a letter at the front would count as one.
        let cut = units.first().is_some_and(|unit| (0xdc00..0xe000).contains(unit));
        let (from, kept) =
            if cut { (from.checked_add(1)?, units.get(1..)?) } else { (from, &*units) };
        Some((from, String::from_utf16_lossy(kept)))
    }
}

/// A function by the name that a script gives to it, and by that of the source.
struct Renamed {
    generated: String,
    original: String,
}

impl Renamed {
    /// What a stack trace calls the frame, with the name of the source: `new a`, `Object.a [as b]`. `None` where the
    /// name does not stand there as a word of its own.
    fn in_shown(&self, shown: &str) -> Option<String> {
        let (plain, alias) = match shown.split_once(" [as ") {
            Some((plain, _)) => (plain, shown.get(plain.len()..)?),
            None => (shown, ""),
        };
        let before = plain.strip_suffix(&*self.generated)?;
        let is_word = before.is_empty() || before.ends_with(['.', ' ']);
        is_word.then(|| format!("{before}{}{alias}", self.original))
    }
}

/// Where the name of a class stands in its text, in units.
fn class_name(text: &str, name: &str) -> Option<u64> {
    let rest = text.strip_prefix("class")?;
    let found = rest.trim_start();
    let skipped = text.len().checked_sub(found.len())?;
    let behind = found.strip_prefix(name)?;
    let ends = !behind.starts_with(is_word_letter) && found.len() < rest.len();
    ends.then(|| units(text.get(..skipped).unwrap_or_default()))
}

/// The word that a text ends with, but for blanks behind it.
fn last_word(text: &str) -> Option<Range<usize>> {
    let text = text.trim_end();
    let start = text.trim_end_matches(is_word_letter).len();
    (start < text.len()).then_some(start..text.len())
}

fn is_word_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$' | '#')
}

fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_where_stack_traces_have_them() {
        let renamed = Renamed { generated: "a".into(), original: "compute".into() };
        let of = |shown| renamed.in_shown(shown);
        assert_eq!(of("a").as_deref(), Some("compute"));
        assert_eq!(of("new a").as_deref(), Some("new compute"));
        assert_eq!(of("t.a [as b]").as_deref(), Some("t.compute [as b]"));
        assert_eq!([of("ba"), of("t.b"), of("eval")], [None, None, None]);
    }

    #[test]
    fn words_end_where_the_language_says() {
        assert_eq!(last_word("function é$1 "), Some(9..13));
        assert_eq!(last_word("x.#a"), Some(2..4));
        assert_eq!(last_word("a => "), None);
        assert_eq!(class_name("class  t{", "t"), Some(7));
        assert_eq!([class_name("class{t", "t"), class_name("class tt{", "t")], [None, None]);
        assert_eq!(class_name("classt{", "t"), None);
    }
}
