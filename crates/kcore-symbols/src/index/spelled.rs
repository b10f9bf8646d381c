//! A name as somebody typed it, or as a compiler wrote it, brought into one form.
//!
//! Compilers spell out what nobody types (`vector<int, std::allocator<int> >`), and differ in it: the
//! one writes `long unsigned int`, `char const*` and `5ul` where the other writes `unsigned long`,
//! `const char *` and `5UL`. In the form kept here these are one.

use super::{
    hash::Hash,
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

    /// What a name is looked up by.
    pub fn hash_of(text: &str) -> NameHash {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        // Most names are one word, which nothing is done to.
        if text.bytes().all(is_plain) && text.starts_with(|first: char| !first.is_ascii_digit()) {
            let hash = Hash::of(plain(text).as_bytes()).short();
            return NameHash { stem: hash, full: hash };
        }
        Self::parse(text).hash()
    }

    /// What it is looked up by.
    pub fn hash(&self) -> NameHash {
        let mut full = Hash::new();
        self.write(&mut full);
        let stem = self.last_path().and_then(|path| path.last());
        let stem = stem.map_or_else(|| full.short(), |last| Hash::of(last.word.as_bytes()).short());
        NameHash { stem, full: full.short() }
    }

    /// The last of its paths.
    pub fn last_path(&self) -> Option<&[Component]> {
        self.0.iter().rev().find_map(|part| match part {
            Part::Path(path) => Some(path.as_slice()),
            Part::Sign(_) => None,
        })
    }

    fn write(&self, hash: &mut Hash) {
        for part in &self.0 {
            match part {
                Part::Path(path) => path.last().into_iter().for_each(|last| last.write(hash)),
                Part::Sign(sign) => hash.write(sign.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
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
    fn write(&self, hash: &mut Hash) {
        hash.write(self.word.as_bytes());
        let Some(arguments) = &self.arguments else { return };
        hash.write(b"<");
        for argument in arguments {
            argument.write(hash);
            hash.write(b",");
        }
        hash.write(b">");
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

/// Whether a scope is one that nobody types: inline namespaces of the standard libraries, blocks of
/// Rust's `impl`, namespaces without a name.
fn is_transparent(component: &Component) -> bool {
    let word = component.word.as_str();
    component.arguments.is_none()
        && (matches!(word, "__cxx11" | "__1" | "__ndk1" | "_V2" | "" | "(anonymous namespace)")
            || word.starts_with("{impl#"))
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
    let Some(path) = argument.only_path() else { return false };
    let [first, .., last] = path else { return false };
    let container = matches!(of, "stack" | "queue" | "priority_queue");
    match (first.word.as_str(), last.word.as_str()) {
        (
            "std",
            "allocator" | "char_traits" | "less" | "hash" | "equal_to" | "default_delete"
            | "RandomState",
        )
        | ("alloc", "Global") => true,
        ("std", "deque" | "vector") => container,
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
        let short = match (last.word.as_str(), of.word.as_str()) {
            ("basic_string", "char") => "string",
            ("basic_string", "wchar_t") => "wstring",
            ("basic_string_view", "char") => "string_view",
            ("basic_string_view", "wchar_t") => "wstring_view",
            _ => continue,
        };
        *last = Component { word: short.to_owned(), arguments: None };
    }
}

/// The form that a name of one word has.
fn plain(word: &str) -> &str {
    match word {
        "unsigned" => "unsigned int",
        "signed" => "int",
        word => word,
    }
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
    let is_number = matches!(
        word,
        "unsigned" | "signed" | "long" | "short" | "int" | "char" | "double" | "__int128"
    );
    (is_number && only.arguments.is_none()).then_some(word)
}

fn joined_number(words: &[&str]) -> String {
    let has = |wanted| words.contains(&wanted);
    let longs = words.iter().filter(|word| **word == "long").count();
    let mut joined: Vec<&str> = Vec::new();
    if has("unsigned") {
        joined.push("unsigned");
    } else if has("signed") && has("char") {
        joined.push("signed");
    }
    joined.extend(std::iter::repeat_n("long", longs));
    joined.extend(["short", "char", "double", "__int128"].into_iter().filter(|word| has(word)));
    if !["long", "short", "char", "double", "__int128"].into_iter().any(has) {
        joined.push("int");
    }
    joined.join(" ")
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
