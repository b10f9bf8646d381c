//! What a name is looked up by, without its form being made: an index reads a million names, and
//! makes room for none of them.
//!
//! It follows [`Spelled::parse`] step by step, and leaves to it what is rare.

use super::{
    hash::{mix, of_sign, of_word},
    number,
    spelled::{NameHash, Spelled, is_default_word, is_transparent_word, short_word},
};

/// Names longer than this are left to [`Spelled`].
const MAX_LEN: usize = 1 << 14;
/// Arguments within arguments that are looked at here.
const MAX_DEPTH: usize = 24;
/// What opens and what ends the arguments of a word.
const OPEN: u64 = 0x3c;
const CLOSE: u64 = 0x3e;

/// What a name is looked up by.
pub fn name_hash(text: &[u8]) -> NameHash {
    quick(text).unwrap_or_else(|| Spelled::parse(&String::from_utf8_lossy(text)).hash())
}

/// The same; `None` of a name that is out of the ordinary.
fn quick(text: &[u8]) -> Option<NameHash> {
    if text.len() > MAX_LEN || !text.is_ascii() {
        return None;
    }
    let name = Lexer::new(text).parts(None)?;
    let full = name.hash.unwrap_or(EMPTY);
    let stem = name.last.and_then(|path| path.last).map_or(full, of_word);
    Some(NameHash::of(stem, full))
}

/// The hash of a name of no parts.
pub const EMPTY: u64 = 0;

/// The hash of a word with the hashes of its arguments.
pub fn with_arguments(word: u64, arguments: impl Iterator<Item = u64>) -> u64 {
    mix(arguments.fold(mix(word, OPEN), mix), CLOSE)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a [u8]),
    Separator,
    Open,
    Close,
    Comma,
    Sign(char),
}

/// A name and the place in it.
#[derive(Clone, Copy)]
struct Lexer<'a> {
    rest: &'a [u8],
    token: Option<Token<'a>>,
    depth: usize,
}

/// A path: how many words it has, and what counts of them.
#[derive(Clone, Copy, Default)]
struct Path<'a> {
    words: usize,
    first: Option<&'a [u8]>,
    last: Option<&'a [u8]>,
    /// Of the last word and its arguments.
    hash: Option<u64>,
    has_arguments: bool,
    /// The only argument of the last word, if it is a word.
    only: Option<&'a [u8]>,
}

/// The parts of a name that were met.
#[derive(Clone, Copy, Default)]
struct Parts<'a> {
    is_argument: bool,
    count: usize,
    hash: Option<u64>,
    last: Option<Path<'a>>,
    /// A path whose qualifiers may still follow.
    held: Option<Path<'a>>,
    /// Words like `unsigned` that make one together.
    numbers: [&'a [u8]; 4],
    number_count: usize,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut lexer = Self { rest: text, token: None, depth: 0 };
        lexer.advance();
        lexer
    }

    fn advance(&mut self) {
        let blanks = self.rest.iter().take_while(|byte| is_blank(**byte)).count();
        self.rest = self.rest.get(blanks..).unwrap_or_default();
        let (token, len) = self.next();
        self.rest = self.rest.get(len..).unwrap_or_default();
        self.token = token;
    }

    /// The token that begins here, and its length.
    fn next(&self) -> (Option<Token<'a>>, usize) {
        const ANONYMOUS: &[u8] = b"(anonymous namespace)";
        let rest = self.rest;
        let Some(first) = rest.first() else { return (None, 0) };
        if is_of_word(*first) {
            let word = self.word();
            return (Some(Token::Word(word)), word.len());
        }
        match *first {
            b':' if rest.starts_with(b"::") => (Some(Token::Separator), 2),
            b'-' if rest.starts_with(b"->") => (Some(Token::Sign('-')), 2),
            b'.' if rest.starts_with(b"...") => (Some(Token::Sign('…')), 3),
            b'(' if rest.starts_with(ANONYMOUS) => (Some(Token::Word(ANONYMOUS)), ANONYMOUS.len()),
            b'.' | b'/' => (Some(Token::Separator), 1),
            b'<' => (Some(Token::Open), 1),
            b'>' => (Some(Token::Close), 1),
            b',' => (Some(Token::Comma), 1),
            sign => (Some(Token::Sign(char::from(sign))), 1),
        }
    }

    fn word(&self) -> &'a [u8] {
        let len = self.rest.iter().position(|byte| !is_of_word(*byte)).unwrap_or(self.rest.len());
        let (word, after) = self.rest.split_at_checked(len).unwrap_or_default();
        // The name of an operator goes on to the end.
        match word == b"operator" && !after.is_empty() && !after.starts_with(b":") {
            true => self.rest,
            false => word,
        }
    }

    /// A name; `of` is the word whose argument it is.
    fn parts(&mut self, of: Option<&'a [u8]>) -> Option<Parts<'a>> {
        let mut parts = Parts { is_argument: of.is_some(), ..Parts::default() };
        let mut open: usize = 0;
        while let Some(token) = self.token {
            let at_end = matches!(token, Token::Comma | Token::Close) && open == 0;
            if parts.is_argument && at_end {
                break;
            }
            match token {
                Token::Word(_) | Token::Separator | Token::Open => {
                    parts.path(self.path()?)?;
                    continue;
                }
                Token::Sign(sign) => {
                    open = match sign {
                        '(' | '[' => open.saturating_add(1),
                        ')' | ']' => open.saturating_sub(1),
                        _ => open,
                    };
                    parts.sign(sign)?;
                }
                Token::Comma => parts.sign(',')?,
                Token::Close => parts.sign('>')?,
            }
            self.advance();
        }
        parts.finish()?;
        Some(parts)
    }

    fn path(&mut self) -> Option<Path<'a>> {
        let mut path = Path::default();
        while self.token == Some(Token::Separator) {
            self.advance();
        }
        loop {
            let mut word: &[u8] = b"";
            if let Some(Token::Word(found)) = self.token {
                word = settled(found);
                self.advance();
            }
            if self.token == Some(Token::Separator) {
                let mut after = *self;
                after.advance();
                if after.token == Some(Token::Open) {
                    *self = after;
                }
            }
            if self.token == Some(Token::Open) {
                let (hash, only) = self.arguments(word)?;
                path.push(word, hash, Some(only));
            } else if !is_transparent_word(word) {
                path.push(word, of_word(word), None);
            }
            if self.token != Some(Token::Separator) {
                return Some(path);
            }
            self.advance();
        }
    }

    /// The hash of a word with its arguments, and the only one of them if that is a word.
    fn arguments(&mut self, of: &'a [u8]) -> Option<(u64, Option<&'a [u8]>)> {
        self.depth = self.depth.checked_add(1).filter(|depth| *depth < MAX_DEPTH)?;
        // `hash` is of all but those at the end that are there by themselves.
        let (mut hash, mut behind, mut only) = (mix(of_word(of), OPEN), [0; 8], None);
        let (mut count, mut defaults) = (0_usize, 0_usize);
        self.advance();
        loop {
            let argument = self.parts(Some(of))?;
            if argument.count > 0 {
                let own = argument.hash.unwrap_or(EMPTY);
                if count > 0 && argument.is_default(of) {
                    *behind.get_mut(defaults)? = own;
                    defaults = defaults.checked_add(1)?;
                } else {
                    hash = behind.iter().take(defaults).fold(hash, |hash, own| mix(hash, *own));
                    hash = mix(hash, own);
                    count = count.checked_add(defaults)?.checked_add(1)?;
                    defaults = 0;
                    only = argument.only_word().filter(|_| count == 1);
                }
            }
            let next = self.token;
            self.advance();
            if next != Some(Token::Comma) {
                break;
            }
        }
        self.depth = self.depth.saturating_sub(1);
        Some((mix(hash, CLOSE), only))
    }
}

impl<'a> Path<'a> {
    /// Adds a word. `only` is there if it has arguments.
    fn push(&mut self, word: &'a [u8], hash: u64, only: Option<Option<&'a [u8]>>) {
        self.words = self.words.saturating_add(1);
        self.first = self.first.or(Some(word));
        self.last = Some(word);
        self.hash = Some(hash);
        self.has_arguments = only.is_some();
        self.only = only.flatten();
    }

    /// Its word, if it is no more than that.
    fn word(&self) -> Option<&'a [u8]> {
        self.last.filter(|_| self.words == 1 && !self.has_arguments)
    }

    /// The same with a string by the name of its alias.
    fn shortened(mut self) -> Self {
        if let (Some(last), Some(only)) = (self.last, self.only)
            && let Some(short) = short_word(last, only)
        {
            self.last = Some(short);
            self.hash = Some(of_word(short));
            (self.has_arguments, self.only) = (false, None);
        }
        self
    }
}

impl<'a> Parts<'a> {
    fn path(&mut self, path: Path<'a>) -> Option<()> {
        let is_number = path.word().filter(|word| number::is_word(word));
        if let Some(word) = is_number {
            *self.numbers.get_mut(self.number_count)? = word;
            self.number_count = self.number_count.checked_add(1)?;
            return Some(());
        }
        self.finish_number()?;
        self.settle(path);
        Some(())
    }

    fn sign(&mut self, sign: char) -> Option<()> {
        self.finish()?;
        self.add(of_sign(sign));
        Some(())
    }

    fn finish(&mut self) -> Option<()> {
        self.finish_number()?;
        if let Some(held) = self.held.take() {
            self.add_path(held);
        }
        Some(())
    }

    fn finish_number(&mut self) -> Option<()> {
        let words = self.numbers.get(..self.number_count)?;
        if !words.is_empty() {
            let word = number::joined(words)?;
            self.number_count = 0;
            let mut path = Path::default();
            path.push(word, of_word(word), None);
            self.settle(path);
        }
        Some(())
    }

    /// Qualifiers stand before what they stand behind.
    fn settle(&mut self, path: Path<'a>) {
        if path.words == 1 && matches!(path.last, Some(b"const" | b"volatile")) {
            self.add_path(path);
        } else if let Some(held) = self.held.replace(path) {
            self.add_path(held);
        }
    }

    fn add_path(&mut self, path: Path<'a>) {
        let path = if self.is_argument { path.shortened() } else { path };
        self.last = Some(path);
        match path.hash {
            Some(hash) => self.add(hash),
            None => self.count = self.count.saturating_add(1),
        }
    }

    fn add(&mut self, hash: u64) {
        self.hash = Some(self.hash.map_or(hash, |before| mix(before, hash)));
        self.count = self.count.saturating_add(1);
    }

    fn only_path(&self) -> Option<Path<'a>> {
        self.last.filter(|_| self.count == 1)
    }

    /// The word that it is, with arguments or without; `None` if it is more.
    fn only_word(&self) -> Option<&'a [u8]> {
        self.only_path().filter(|path| path.words == 1)?.last
    }

    fn is_default(&self, of: &[u8]) -> bool {
        let path = self.only_path().filter(|path| path.words > 1);
        let words = path.and_then(|path| Some((path.first?, path.last?)));
        words.is_some_and(|(first, last)| is_default_word(of, first, last))
    }
}

/// Numbers lose the letters behind them that state their type.
fn settled(word: &[u8]) -> &[u8] {
    let is_letter = |byte: &u8| matches!(byte, b'u' | b'U' | b'l' | b'L');
    let is_number = word.first().is_some_and(u8::is_ascii_digit)
        && word.iter().all(|byte| byte.is_ascii_digit() || is_letter(byte));
    let letters = word.iter().rev().take_while(|byte| is_letter(byte)).count();
    match is_number {
        true => word.get(..word.len().saturating_sub(letters)).unwrap_or_default(),
        false => word,
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// As in [`super::tokens`], of ASCII alone.
const fn is_of_word(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | b'{' | b'}' | b'#' | b'~' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as compilers write them and people type them, in good order and in none.
    const NAMES: &[&str] = &[
        "node",
        "unsigned",
        "char",
        "int",
        "long unsigned int",
        "char const*",
        "unsigned char const*",
        "std::vector<int, std::allocator<int> >",
        "vector<unsigned long, std::allocator<unsigned long>>",
        "std::map<std::basic_string<char>, long long, std::less<std::basic_string<char> > >",
        "map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int>",
        "std::basic_string<char>",
        "stack<int, std::deque<int, std::allocator<int> > >",
        "pair<std::less<int>, std::allocator<int>, 5ul>",
        "array<char const*, 5UL>",
        "f<std::allocator<int>, std::allocator<int>, int>",
        "g<std::allocator<int>, std::less<int>>",
        "function<void (int, char const&, std::vector<int>)>",
        "&mut [u64]",
        "Vec::<u8>",
        "Option<alloc::boxed::Box<dyn core::fmt::Debug, alloc::alloc::Global>>",
        "{closure_env#0}",
        "a::{impl#2}::B",
        "(anonymous namespace)::Hidden",
        "map[string]int",
        "operator<",
        "operator new",
        "Wrapper<(Level)2>",
        "tuple<>",
        "x<,>",
        "x<",
        ">",
        "::",
        "a::*",
        "int (*)(char, ...)",
        "T<-1>",
        "T<'a'>",
        "T<a->b>",
        "volatile const int",
        "int const volatile",
        "signed char",
        "unsigned __int128",
        "long double",
        "long long long",
        "unsigned double",
        "P<A, B<C>, D<E, F<G>>, const H*, I const&>",
        "variadic<int...>",
        "main.T",
        "a/b.Type",
        "größe<int>",
        "<T as Trait>::{vtable}",
        "x<y<z",
        "a b c",
        "const const",
        "const",
        "1ul",
        "0x1f",
        "a < b > c",
        "N<(char)97, true, nullptr>",
        "std::hash<int>",
        "q<std::hash<int>, alloc::Global>",
    ];

    #[test]
    fn both_ways_to_a_hash_say_the_same() {
        for name in NAMES {
            assert_eq!(name_hash(name.as_bytes()), Spelled::parse(name).hash(), "{name}");
        }
    }

    #[test]
    fn the_way_that_is_quick_is_taken_for_all_that_is_usual() {
        let slow: Vec<_> = NAMES.iter().filter(|name| quick(name.as_bytes()).is_none()).collect();
        assert_eq!(slow, [&"long long long", &"unsigned double", &"größe<int>"]);
    }

    #[test]
    fn damaged_names_have_one_hash_too() {
        for name in NAMES {
            for at in 0..name.len() {
                for sign in [b'<', b'>', b',', b':', b' ', b'(', b'.', b'u'] {
                    let mut bytes = name.as_bytes().to_vec();
                    bytes[at] = sign;
                    let text = String::from_utf8_lossy(&bytes);
                    assert_eq!(name_hash(&bytes), Spelled::parse(&text).hash(), "{text}");
                }
            }
        }
        let deep = "a<".repeat(200);
        assert_eq!(name_hash(deep.as_bytes()), Spelled::parse(&deep).hash());
    }
}
