//! The items of Rust source, as far as a list of names and signatures needs them: no syntax below them is read.

use crate::arch::code_only;

/// An item: of a file, or of the body of an `impl` or a trait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Its attributes, without `#[` and `]`.
    pub attributes: Vec<String>,
    /// What stands before its body, with single blanks.
    pub head: String,
    /// What stands between its braces.
    pub body: Option<String>,
}

/// Words of which one begins what an item is.
const KINDS: &[&str] =
    &["struct", "enum", "union", "trait", "fn", "const", "static", "type", "mod", "use", "impl"];

impl Item {
    /// The word that says what it is: `struct`, `fn`.
    pub fn kind(&self) -> &str {
        let mut words = self.words().filter(|word| KINDS.contains(word));
        match words.next() {
            Some("const") if self.words().any(|word| word == "fn") => "fn",
            Some(kind) => kind,
            None => "",
        }
    }

    /// The name that it defines.
    pub fn name(&self) -> Option<&str> {
        let kind = self.kind();
        let mut words = self.words().skip_while(|word| *word != kind).skip(1);
        words.next().filter(|_| !matches!(kind, "" | "use" | "impl"))
    }

    /// Whether other crates see it.
    pub fn is_public(&self) -> bool {
        self.head.starts_with("pub ")
    }

    /// Whether it is for tests alone.
    pub fn is_test(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute.starts_with("cfg(test"))
    }

    /// Whether it has this attribute.
    pub fn has(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|own| own == attribute)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.head.split(|letter: char| !is_word(letter)).filter(|word| !word.is_empty())
    }
}

const fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// The items of a source file.
pub fn items_of(source: &str) -> Vec<Item> {
    items(&code_only(source))
}

/// The items of code without comments and literals.
pub fn items(code: &str) -> Vec<Item> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while !rest.is_empty() {
        let (item, left) = first(rest);
        found.push(item);
        rest = left.trim_start();
    }
    found
}

/// The first item, and what follows it.
fn first(code: &str) -> (Item, &str) {
    let mut item = Item::default();
    let mut rest = code;
    while let Some(attribute) = rest.strip_prefix("#[").or_else(|| rest.strip_prefix("#![")) {
        let end = closing(attribute, ']');
        item.attributes.push(plain(&attribute[..end]));
        rest = attribute.get(end + 1..).unwrap_or_default().trim_start();
    }
    let (head, body, rest) = head_and_body(rest);
    (Item { head: plain(head), body: body.map(str::to_owned), ..item }, rest)
}

/// What stands before the body of an item, the body, and what follows. Braces of `use` and of values are no body.
fn head_and_body(code: &str) -> (&str, Option<&str>, &str) {
    let mut depth = 0_usize;
    let mut has_value = false;
    for (at, letter) in code.char_indices() {
        let after = &code[at + letter.len_utf8()..];
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '=' if depth == 0 => has_value |= !after.starts_with('>'),
            ';' if depth == 0 => return (&code[..at], None, after),
            '{' if depth > 0 || has_value || is_use(&code[..at]) => depth += 1,
            '{' => {
                let end = closing(after, '}');
                let rest = after.get(end + 1..).unwrap_or_default();
                return (&code[..at], Some(&after[..end]), rest);
            }
            _ => (),
        }
    }
    (code, None, "")
}

fn is_use(head: &str) -> bool {
    head.split_whitespace().any(|word| word == "use")
}

/// Where the bracket is closed that was open before `code`; its end, if nowhere.
fn closing(code: &str, bracket: char) -> usize {
    let mut depth = 0_usize;
    for (at, letter) in code.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            _ if depth == 0 && letter == bracket => return at,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => (),
        }
    }
    code.len()
}

/// The parts between commas that stand in no brackets.
pub fn parts(code: &str) -> Vec<String> {
    let (mut found, mut start) = (Vec::new(), 0);
    let (mut depth, mut last) = (0_usize, ' ');
    for (at, letter) in code.char_indices() {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if last == '-' => (),
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(plain(&code[start..at]));
                start = at + 1;
            }
            _ => (),
        }
        last = letter;
    }
    found.push(plain(&code[start..]));
    found.retain(|part| !part.is_empty());
    found
}

/// Code on one line, as rustfmt writes it there.
pub fn plain(code: &str) -> String {
    let line = code.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("( ", "(").replace(", )", ")").replace(" )", ")").replace(",)", ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_told_apart() {
        let source = "//! Text.\nuse a::{b, c};\n#[derive(Clone, Debug)]\npub struct S<T> { pub a: T }\n\
                      pub const N: [u8; 2] = [1, 2];\npub const fn f(\n    a: u8,\n) -> X { X { a } }\n\
                      static S: X = X { a: 1 };\nimpl A for B {}\npub struct P(pub u8);";
        let found = items_of(source);
        let told: Vec<_> = found.iter().map(|item| (item.kind(), item.name())).collect();
        assert_eq!(
            told,
            [
                ("use", None),
                ("struct", Some("S")),
                ("const", Some("N")),
                ("fn", Some("f")),
                ("static", Some("S")),
                ("impl", None),
                ("struct", Some("P")),
            ]
        );
        assert_eq!(found[1].attributes, ["derive(Clone, Debug)"]);
        assert_eq!(found[3].head, "pub const fn f(a: u8) -> X");
        assert_eq!(found[6].head, "pub struct P(pub u8)");
    }

    #[test]
    fn commas_in_brackets_part_nothing() {
        assert_eq!(parts("a: Map<K, V>, b: fn(A, B) -> C, c: [u8; 2],").len(), 3);
    }
}
