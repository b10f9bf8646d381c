//! What Tab offers: at each place of a line the names that can stand there.

mod files;
mod kind;
mod listing;
mod locals;
pub(crate) mod place;
mod types;

use std::sync::Arc;
use std::time::{Duration, Instant};

use kcore::Core;
use kcore_dcmd::{PrivateSymbols, Shell, Spec, spec_of};
use kcore_render::{Screen, sanitize};

use crate::lexer;
use crate::limits;
use crate::session::Session;
use kind::Kind;
use locals::Chosen;
use place::CursorWord;

/// Who waits longer than this has more of the names that there are than of an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Completes the word before the cursor.
pub(crate) struct Completer {
    core: Arc<Core>,
    /// Every dcmd by each of its spellings, `::` and `$` included.
    dcmds: Vec<(String, Spec)>,
    walkers: Vec<String>,
    /// How many of the first of these are kcore's own: the others are those of files.
    built_in: (usize, usize),
    /// Registers and variables.
    variables: Vec<String>,
    /// The frame whose variables have names.
    chosen: Option<Chosen>,
    /// Names that the user gave to addresses.
    private: Arc<PrivateSymbols>,
    /// Where alternatives are listed, and whose user may have typed on.
    screen: Option<Arc<dyn Screen>>,
}

/// One alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// What takes the place of the word.
    pub(crate) text: String,
    /// What the user chooses from.
    pub(crate) shown: String,
}

impl From<String> for Candidate {
    fn from(text: String) -> Self {
        Self { shown: text.clone(), text }
    }
}

impl Completer {
    /// At `screen` no more is listed than it has room for, and nothing for a user who has typed on.
    pub(crate) fn new(session: &Session, screen: Option<Arc<dyn Screen>>) -> Self {
        let walkers = session.options.walkers.iter().map(|walker| walker.spec().name.to_owned());
        let walkers: Vec<_> = walkers.collect();
        let dcmds = session.table.all().map(|(name, dcmd)| (name.to_owned(), dcmd.spec()));
        let dcmds: Vec<_> = dcmds.collect();
        let mut completer = Self {
            core: Arc::clone(session.core()),
            built_in: (dcmds.len(), walkers.len()),
            dcmds,
            walkers,
            variables: Vec::new(),
            chosen: None,
            private: Arc::default(),
            screen,
        };
        completer.learn(session);
        completer
    }

    /// Takes up what a line may have changed.
    pub(crate) fn learn(&mut self, session: &Session) {
        let thread = session.thread.into_iter();
        let registers = thread.flat_map(|tid| self.core.registers().user(tid));
        let registers = registers.map(|register| register.name.to_owned());
        self.variables = registers.chain(session.variables.names().map(str::to_owned)).collect();
        self.chosen = session.thread.map(|tid| Chosen {
            tid,
            physical: session.frame,
            named: session.named_frame,
        });
        self.private = Arc::clone(session.private_symbols());
        self.dcmds.truncate(self.built_in.0);
        self.walkers.truncate(self.built_in.1);
        let printers = Arc::clone(session.printers());
        let own = printers.dcmds().map(|(_, dcmd)| (format!("::{}", dcmd.name), spec_of(dcmd)));
        self.dcmds.extend(own);
        self.walkers.extend(printers.walkers().map(|(_, walker)| walker.name.to_string()));
    }

    /// The spec of the dcmd that is spelled so.
    pub(crate) fn spec(&self, spelling: &str) -> Option<&Spec> {
        self.dcmds.iter().find(|(name, _)| name == spelling).map(|(_, spec)| spec)
    }

    /// Whether a dcmd begins so.
    pub(crate) fn begins_dcmd(&self, spelling: &str) -> bool {
        self.dcmds.iter().any(|(name, _)| name.starts_with(spelling))
    }

    /// Where the word before the cursor begins, and what it can become: what all alternatives have in
    /// common where that is longer than the word, the alternatives otherwise. `before` is the line up
    /// to the cursor.
    pub(crate) fn complete(&self, before: &str) -> (usize, Vec<Candidate>) {
        let start = Instant::now();
        let has_key = || self.screen.as_ref().is_some_and(|screen| screen.has_key());
        let go_on = || start.elapsed() < PATIENCE && !has_key();
        let (word, mut found) = self.candidates(before, &go_on);
        found.retain(|candidate| !candidate.text.contains(sanitize::is_unsafe));
        found.sort_by(|a, b| a.text.cmp(&b.text));
        found.dedup_by(|a, b| a.text == b.text);
        let common = common(&found);
        if common.len() > word.len() {
            found = vec![common.to_owned().into()];
        }
        if let Some(size) = self.screen.as_ref().and_then(|screen| screen.size()) {
            found = listing::fit(found, word, size);
        }
        (before.len() - word.len(), found)
    }

    fn candidates<'l>(
        &self,
        before: &'l str,
        go_on: &dyn Fn() -> bool,
    ) -> (&'l str, Vec<Candidate>) {
        match CursorWord::at_end_of(before) {
            CursorWord::Name(word) => (word, self.unquoted_symbols(word, go_on)),
            CursorWord::Quoted(word) => (word, self.symbols(word, go_on)),
            CursorWord::Variable(word) => (word, starting(&self.variables, word)),
            CursorWord::Spelling(word) => self.spellings(before, word, go_on),
            // Behind a second `::` without a blank goes on what began as a dcmd.
            CursorWord::Operand { dcmd, word, .. } if is_glued(before, dcmd, word) => {
                self.spellings(before, word, go_on)
            }
            CursorWord::Operand { dcmd, words, word } => self.operands(dcmd, &words, word, go_on),
            CursorWord::Shell(word) => (word, self.files(word, go_on)),
            CursorWord::Nothing => ("", Vec::new()),
        }
    }

    /// Dcmds, and behind a name also the names of C++ and Rust that go on with `::`.
    fn spellings<'l>(
        &self,
        before: &'l str,
        word: &'l str,
        go_on: &dyn Fn() -> bool,
    ) -> (&'l str, Vec<Candidate>) {
        let qualified = qualified_at_end(before);
        let word = word.rfind("::").and_then(|at| word.get(at..)).unwrap_or(word);
        let dcmds = starting(self.dcmds.iter().map(|(name, _)| name), word);
        let scope = qualified.strip_suffix(word).unwrap_or_default();
        let names = match scope {
            "" => Vec::new(),
            _ => self.unquoted_symbols(qualified, go_on),
        };
        if names.is_empty() {
            return (word, dcmds);
        }
        let scoped = |dcmd: Candidate| Candidate { text: format!("{scope}{}", dcmd.text), ..dcmd };
        (qualified, names.into_iter().chain(dcmds.into_iter().map(scoped)).collect())
    }

    /// Symbols whose names need no quotes.
    fn unquoted_symbols(&self, word: &str, go_on: &dyn Fn() -> bool) -> Vec<Candidate> {
        let mut names = self.symbols(word, go_on);
        names.retain(|candidate| candidate.text.chars().all(is_qualified));
        names
    }

    fn operands<'l>(
        &self,
        dcmd: &str,
        words: &[&str],
        word: &'l str,
        go_on: &dyn Fn() -> bool,
    ) -> (&'l str, Vec<Candidate>) {
        let Some(spec) = self.spec(dcmd) else { return (word, Vec::new()) };
        if let Some(names) = types::names(&self.core, self.chosen, spec, words, word, go_on) {
            return (word, named(names));
        }
        match kind::of_word(spec, words, word) {
            Some(Kind::Option) => (word, options(spec, word)),
            Some(Kind::Object) => (word, named(self.objects(word))),
            Some(Kind::Dcmd) => (word, self.dcmd_names(word)),
            Some(Kind::Walker) => (word, starting(&self.walkers, word)),
            Some(Kind::Variable) => (word, starting(&self.variables, word)),
            Some(Kind::File) => (word, self.files(word, go_on)),
            // A word that nothing is known of may be a name of the program.
            Some(Kind::Symbol) | None => {
                let word = self.name_at_end(word);
                (word, if word.is_empty() { Vec::new() } else { self.symbols(word, go_on) })
            }
        }
    }

    /// Files of this machine, of which nothing is shown next to a core that nobody trusts.
    fn files(&self, word: &str, go_on: &dyn Fn() -> bool) -> Vec<Candidate> {
        if self.core.is_untrusted() { Vec::new() } else { named(files::starting(word, go_on)) }
    }

    /// The name at the end of an operand, which may be an expression; an object's name may hold
    /// characters that are operators elsewhere.
    fn name_at_end<'l>(&self, word: &'l str) -> &'l str {
        let is_scoped = word.rsplit_once('`').is_some_and(|(object, _)| self.has_object(object));
        let start = word.rfind(|c: char| "+-*/%#()&^|<>=,~'\"".contains(c)).map(|at| at + 1);
        let name = word.get(start.unwrap_or(0)..).unwrap_or_default();
        let begins = name.chars().next().is_some_and(lexer::begins_name);
        match (is_scoped, begins) {
            (true, _) => word,
            (false, true) => name,
            (false, false) => "",
        }
    }

    fn has_object(&self, name: &str) -> bool {
        self.core.modules().named(name).next().is_some()
    }

    /// Symbols, and objects that symbols can be asked of.
    fn symbols(&self, word: &str, go_on: &dyn Fn() -> bool) -> Vec<Candidate> {
        let max = limits::COMPLETIONS;
        if let Some((object, name)) = word.rsplit_once('`') {
            let names = self.core.symbols().complete(Some(object), name, max, go_on);
            let names = names.unwrap_or_default().into_iter();
            return named(names.map(|name| format!("{object}`{name}")).collect());
        }
        let Some(mut names) = self.core.symbols().complete(None, word, max, go_on) else {
            return Vec::new();
        };
        let private = self.private.iter().map(|symbol| symbol.name.clone());
        names.extend(private.filter(|name| name.starts_with(word)));
        names.extend(self.objects(word).into_iter().map(|object| object + "`"));
        named(names)
    }

    fn objects(&self, word: &str) -> Vec<String> {
        let modules = self.core.modules().all().iter();
        let names = modules.map(|module| module.name().to_owned());
        names.filter(|name| name.starts_with(word)).collect()
    }

    /// Dcmds by their bare names, or by their spellings once one is begun.
    fn dcmd_names(&self, word: &str) -> Vec<Candidate> {
        let names = self.dcmds.iter().map(|(name, _)| name.as_str());
        starting(names.map(|name| if word.starts_with(':') { name } else { bare(name) }), word)
    }
}

/// Whether a word that begins with `::` stands right behind a dcmd.
fn is_glued(before: &str, dcmd: &str, word: &str) -> bool {
    let rest = before.strip_suffix(word).unwrap_or_default();
    word.starts_with("::") && rest.ends_with(dcmd)
}

/// The name at the end of a text, its scopes included.
fn qualified_at_end(text: &str) -> &str {
    let name = text.trim_end_matches(is_qualified);
    let name = text.get(name.len()..).unwrap_or_default();
    name.trim_start_matches(|c| !lexer::begins_name(c))
}

/// A character of a name, or between a scope and a name.
fn is_qualified(c: char) -> bool {
    lexer::is_name(c) || c == ':'
}

fn bare(spelling: &str) -> &str {
    spelling.strip_prefix("::").unwrap_or(spelling)
}

fn starting<N: AsRef<str>>(names: impl IntoIterator<Item = N>, prefix: &str) -> Vec<Candidate> {
    let names = names.into_iter().filter(|name| name.as_ref().starts_with(prefix));
    names.map(|name| name.as_ref().to_owned().into()).collect()
}

fn named(names: Vec<String>) -> Vec<Candidate> {
    names.into_iter().map(Candidate::from).collect()
}

/// The options that can be added to `word`, each with what it does.
fn options(spec: &Spec, word: &str) -> Vec<Candidate> {
    let has_value = |letter| spec.options.iter().any(|o| o.flag == letter && o.value.is_some());
    if word.contains(has_value) {
        return Vec::new();
    }
    let new = spec.options.iter().filter(|opt| !word.contains(opt.flag));
    new.map(|opt| {
        let value = opt.value.map(|value| format!(" {value}")).unwrap_or_default();
        Candidate {
            text: format!("{word}{}", opt.flag),
            shown: format!("-{}{value}  {}", opt.flag, opt.help),
        }
    })
    .collect()
}

/// What all candidates, which are sorted, begin with.
fn common(sorted: &[Candidate]) -> &str {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return "" };
    let (first, last) = (first.text.as_str(), last.text.as_str());
    let same = first.char_indices().zip(last.chars()).take_while(|((_, a), b)| a == b);
    let len = same.map(|((at, c), _)| at + c.len_utf8()).last().unwrap_or(0);
    first.get(..len).unwrap_or_default()
}

#[cfg(test)]
mod tests;
