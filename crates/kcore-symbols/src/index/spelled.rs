//! A name as somebody typed it, or as a compiler wrote it, brought into one form.
//!
//! Compilers spell out what nobody types (`vector<int, std::allocator<int> >`), and differ in it: the
//! one writes `long unsigned int`, `char const*` and `5ul` where the other writes `unsigned long`,
//! `const char *` and `5UL`. In the form kept here these are one.

use super::{
    canonical::{EMPTY, with_arguments},
    hash::{mix, of_sign, of_word, short},
    number,
    tokens::{Token, tokens},
};

/// Names longer than this are one word: nobody types them.
const MAX_LEN: usize = 1 << 14;
/// Arguments within arguments that are looked at.
const MAX_DEPTH: usize = 48;

/// A name, or an argument of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelled(pub Vec<Part>);

/// What a name consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words, each in the scope of those before it.
    Path(Vec<Component>),
    /// A sign.
    Sign(char),
}

/// A word of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Component {
    /// The word itself.
    pub word: String,
    /// Its arguments without those that follow from the others; `None` if it has no brackets.
    pub arguments: Option<Vec<Spelled>>,
}

/// What names are looked up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameHash {
    /// Of the last word alone.
    pub stem: u32,
    /// Of all but the scopes, those of arguments included; the same for a single word.
    pub full: u32,
}

impl Spelled {
    /// Reads a name.
    pub fn parse(text: &str) -> Self {
        if text.len() > MAX_LEN {
            let word = Component { word: text.to_owned(), arguments: None };
            return Self(vec![Part::Path(vec![word])]);
        }
        let tokens = tokens(text);
        let mut parser = Parser { rest: &tokens, depth: 0 };
        let mut spelled = parser.spelled(false);
        spelled.settle();
        spelled
    }

    /// What it is looked up by. [`super::canonical`] says the same of a name that is not read yet.
    pub fn hash(&self) -> NameHash {
        let full = self.own_hash();
        let stem = self.last_path().and_then(|path| path.last());
        NameHash::of(stem.map_or(full, |last| of_word(last.word.as_bytes())), full)
    }

    fn own_hash(&self) -> u64 {
        let parts = self.0.iter().filter_map(|part| match part {
            Part::Path(path) => path.last().map(Component::hash),
            Part::Sign(sign) => Some(of_sign(*sign)),
        });
        parts.reduce(mix).unwrap_or(EMPTY)
    }

    /// The last of its paths.
    pub fn last_path(&self) -> Option<&[Component]> {
        self.0.iter().rev().find_map(|part| match part {
            Part::Path(path) => Some(path.as_slice()),
            Part::Sign(_) => None,
        })
    }

    /// Brings words into the order and the form that all compilers' names have here.
    fn settle(&mut self) {
        join_numbers(&mut self.0);
        qualifiers_first(&mut self.0);
    }

    /// The path, if it is nothing else.
    pub fn only_path(&self) -> Option<&[Component]> {
        match self.0.as_slice() {
            [Part::Path(path)] => Some(path),
            _ => None,
        }
    }
}

impl Component {
    fn hash(&self) -> u64 {
        let word = of_word(self.word.as_bytes());
        match &self.arguments {
            Some(arguments) => with_arguments(word, arguments.iter().map(Spelled::own_hash)),
            None => word,
        }
    }
}

impl NameHash {
    /// Of the hash of the last word, and that of all.
    pub const fn of(stem: u64, full: u64) -> Self {
        Self { stem: short(stem), full: short(full) }
    }

    /// Both in one number.
    pub const fn long(self) -> u64 {
        (self.full as u64) << 32 | self.stem as u64
    }
}

struct Parser<'t, 'a> {
    rest: &'t [Token<'a>],
    depth: usize,
}

impl<'a> Parser<'_, 'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.rest.first().copied()
    }

    fn advance(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// One name; as an argument it ends before a comma or the closing bracket.
    fn spelled(&mut self, is_argument: bool) -> Spelled {
        let mut parts = Vec::new();
        let mut open: usize = 0;
        while let Some(token) = self.peek() {
            let at_end = matches!(token, Token::Comma | Token::Close) && open == 0;
            if is_argument && at_end {
                break;
            }
            match token {
                Token::Word(_) | Token::Separator | Token::Open if self.depth < MAX_DEPTH => {
                    parts.push(Part::Path(self.path()));
                    continue;
                }
                Token::Sign(sign) => {
                    open = match sign {
                        '(' | '[' => open.saturating_add(1),
                        ')' | ']' => open.saturating_sub(1),
                        _ => open,
                    };
                    parts.push(Part::Sign(sign));
                }
                Token::Word(_) | Token::Separator => {}
                Token::Comma => parts.push(Part::Sign(',')),
                Token::Open => parts.push(Part::Sign('<')),
                Token::Close => parts.push(Part::Sign('>')),
            }
            self.advance();
        }
        Spelled(parts)
    }

    fn path(&mut self) -> Vec<Component> {
        let mut path = Vec::new();
        while self.peek() == Some(Token::Separator) {
            self.advance();
        }
        loop {
            let mut component = Component::default();
            if let Some(Token::Word(word)) = self.peek() {
                component.word = settled_word(word);
                self.advance();
            }
            // `Vec::<u8>` is a way to write `Vec<u8>`.
            if let [Token::Separator, Token::Open, ..] = self.rest {
                self.advance();
            }
            if self.peek() == Some(Token::Open) {
                component.arguments = Some(self.arguments(&component.word));
            }
            if !is_transparent(&component) {
                path.push(component);
            }
            if self.peek() != Some(Token::Separator) {
                return path;
            }
            self.advance();
        }
    }

    fn arguments(&mut self, of: &str) -> Vec<Spelled> {
        self.depth = self.depth.saturating_add(1);
        let mut arguments = Vec::new();
        self.advance();
        loop {
            let mut argument = self.spelled(true);
            argument.settle();
            shorten(&mut argument);
            if !argument.0.is_empty() {
                arguments.push(argument);
            }
            let next = self.peek();
            self.advance();
            if next != Some(Token::Comma) {
                break;
            }
        }
        self.depth = self.depth.saturating_sub(1);
        while arguments.len() > 1 && arguments.last().is_some_and(|last| is_default(of, last)) {
            arguments.pop();
        }
        arguments
    }
}

/// Whether a scope is one that nobody types.
fn is_transparent(component: &Component) -> bool {
    component.arguments.is_none() && is_transparent_word(component.word.as_bytes())
}

/// Inline namespaces of the standard libraries, blocks of Rust's `impl`, namespaces without a name.
pub fn is_transparent_word(word: &[u8]) -> bool {
    matches!(word, b"__cxx11" | b"__1" | b"__ndk1" | b"_V2" | b"" | b"(anonymous namespace)")
        || word.starts_with(b"{impl#")
}

/// Numbers lose the letters behind them that state their type.
fn settled_word(word: &str) -> String {
    let is_number = word.starts_with(|letter: char| letter.is_ascii_digit());
    match is_number && word.bytes().all(|byte| byte.is_ascii_digit() || b"uUlL".contains(&byte)) {
        true => word.trim_end_matches(['u', 'U', 'l', 'L']).to_owned(),
        false => word.to_owned(),
    }
}

/// Whether an argument is what a class of a standard library has for it by itself.
fn is_default(of: &str, argument: &Spelled) -> bool {
    let Some([first, .., last]) = argument.only_path() else { return false };
    is_default_word(of.as_bytes(), first.word.as_bytes(), last.word.as_bytes())
}

/// The same of an argument whose path begins and ends so.
pub fn is_default_word(of: &[u8], first: &[u8], last: &[u8]) -> bool {
    let container = matches!(of, b"stack" | b"queue" | b"priority_queue");
    match (first, last) {
        (
            b"std",
            b"allocator" | b"char_traits" | b"less" | b"hash" | b"equal_to" | b"default_delete"
            | b"RandomState",
        )
        | (b"alloc", b"Global") => true,
        (b"std", b"deque" | b"vector") => container,
        _ => false,
    }
}

/// Strings are typed by the names of their aliases.
fn shorten(argument: &mut Spelled) {
    for part in &mut argument.0 {
        let Part::Path(path) = part else { continue };
        let Some(last) = path.last_mut() else { continue };
        let of = match last.arguments.as_deref() {
            Some([only]) => only.only_path().unwrap_or_default(),
            _ => continue,
        };
        let [of] = of else { continue };
        let short = short_word(last.word.as_bytes(), of.word.as_bytes());
        let Some(short) = short.and_then(|short| str::from_utf8(short).ok()) else { continue };
        *last = Component { word: short.to_owned(), arguments: None };
    }
}

/// The alias of a template of strings with this argument.
pub const fn short_word(word: &[u8], argument: &[u8]) -> Option<&'static [u8]> {
    Some(match (word, argument) {
        (b"basic_string", b"char") => b"string",
        (b"basic_string", b"wchar_t") => b"wstring",
        (b"basic_string_view", b"char") => b"string_view",
        (b"basic_string_view", b"wchar_t") => b"wstring_view",
        _ => return None,
    })
}

/// `long unsigned int` and `unsigned long` are one word.
fn join_numbers(parts: &mut Vec<Part>) {
    let mut at = 0;
    while at < parts.len() {
        let rest = parts.get(at..).unwrap_or_default();
        let words: Vec<&str> = rest.iter().map_while(number_word).collect();
        if words.len() > 1 || words.first().is_some_and(|word| *word != "char") {
            let word = Component { word: joined_number(&words), arguments: None };
            let end = at.saturating_add(words.len());
            parts.splice(at..end, [Part::Path(vec![word])]);
        }
        at = at.saturating_add(1);
    }
}

fn number_word(part: &Part) -> Option<&str> {
    let Part::Path(path) = part else { return None };
    let [only] = path.as_slice() else { return None };
    let word = only.word.as_str();
    (number::is_word(word.as_bytes()) && only.arguments.is_none()).then_some(word)
}

fn joined_number(words: &[&str]) -> String {
    let bytes: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let joined = number::joined(&bytes).and_then(|joined| str::from_utf8(joined).ok());
    joined.map_or_else(|| words.join(" "), str::to_owned)
}

/// `char const*` is `const char*`.
fn qualifiers_first(parts: &mut [Part]) {
    for at in 1..parts.len() {
        let (before, after) = parts.split_at_mut(at);
        if let (Some(type_before @ Part::Path(_)), Some(qualifier)) =
            (before.last_mut(), after.first_mut())
            && is_qualifier(qualifier)
            && !is_qualifier(type_before)
        {
            std::mem::swap(type_before, qualifier);
        }
    }
}

fn is_qualifier(part: &Part) -> bool {
    match part {
        Part::Path(path) => {
            matches!(path.as_slice(), [only] if matches!(only.word.as_str(), "const" | "volatile"))
        }
        Part::Sign(_) => false,
    }
}
