//! Patterns of names of types: `QList<*>`, `my::Pair<int, *>`, `ngx_*_t`.

/// Template arguments within one another that are compared.
const MAX_NESTED: usize = 64;

/// A pattern. Blanks count only between words. `*` stands for any part of a name, and as an argument of a template for
/// any argument; as the last argument, for all that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypePattern(String);

impl TypePattern {
    /// The pattern that a text is.
    pub fn new(text: &str) -> Self {
        Self(compact(text))
    }

    /// What the wildcards stand for in a name, in order; `None` where the pattern does not fit.
    pub fn captures(&self, name: &str) -> Option<Vec<String>> {
        let mut captures = Vec::new();
        fits(&self.0, &compact(name), 0, &mut captures).then_some(captures)
    }

    /// The last part of the name without arguments; `None` where a wildcard is in it.
    pub fn last_name(&self) -> Option<&str> {
        let last = last_name(&self.0);
        (!last.contains('*')).then_some(last)
    }
}

/// What a name ends with, without the arguments of its template.
pub fn last_name(name: &str) -> &str {
    let end = match name.ends_with('>') {
        true => opening(name).unwrap_or(name.len()),
        false => name.len(),
    };
    let bare = name.get(..end).unwrap_or(name);
    bare.rsplit("::").next().unwrap_or(bare)
}

/// Where the angle bracket opens that closes at the end of a name.
fn opening(name: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in name.char_indices().rev() {
        match c {
            '>' if is_arrow(name, at) => {}
            '>' => depth = depth.saturating_add(1),
            '<' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Whether the angle bracket at a place closes nothing: that of `fn() -> u32`.
fn is_arrow(name: &str, at: usize) -> bool {
    name.get(..at).is_some_and(|before| before.ends_with('-'))
}

/// A name with blanks between words only, and without the word that C has before a tag.
fn compact(text: &str) -> String {
    const WORDS: [&str; 4] = ["struct ", "class ", "union ", "enum "];
    let text = text.trim();
    let text = WORDS.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut compact = String::with_capacity(text.len());
    let mut rest = text.trim().chars().peekable();
    while let Some(c) = rest.next() {
        if !c.is_whitespace() {
            compact.push(c);
            continue;
        }
        while rest.next_if(|c| c.is_whitespace()).is_some() {}
        let is_between = compact.ends_with(is_word) && rest.peek().copied().is_some_and(is_word);
        if is_between {
            compact.push(' ');
        }
    }
    compact
}

/// Whether a pattern fits a name; both are compact. Within arguments, at a `depth` above 0, an asterisk beside other
/// characters is that of a pointer.
fn fits(pattern: &str, name: &str, depth: usize, captures: &mut Vec<String>) -> bool {
    let mut alike = |pattern: &str, name: &str| match depth {
        0 => is_like(pattern, name, captures),
        _ => pattern == name,
    };
    match (parts(pattern), parts(name)) {
        (None, None) => alike(pattern, name),
        (Some(pattern), Some(name)) => {
            alike(pattern.head, name.head)
                && depth < MAX_NESTED
                && arguments_fit(&pattern.arguments, &name.arguments, depth, captures)
                && fits(pattern.tail, name.tail, depth, captures)
        }
        _ => false,
    }
}

fn arguments_fit(
    patterns: &[&str],
    arguments: &[&str],
    depth: usize,
    captures: &mut Vec<String>,
) -> bool {
    for (index, pattern) in patterns.iter().enumerate() {
        let Some(argument) = arguments.get(index) else { return false };
        if *pattern == "*" {
            captures.push((*argument).to_owned());
        } else if !fits(pattern, argument, depth.saturating_add(1), captures) {
            return false;
        }
    }
    patterns.len() == arguments.len() || patterns.last() == Some(&"*")
}

/// A name around the arguments of its first template.
struct NameParts<'n> {
    head: &'n str,
    arguments: Vec<&'n str>,
    tail: &'n str,
}

fn parts(name: &str) -> Option<NameParts<'_>> {
    let (head, rest) = name.split_once('<')?;
    let mut depth = 0_usize;
    let mut start = 0_usize;
    let mut arguments = Vec::new();
    for (at, c) in rest.char_indices() {
        match c {
            '>' if is_arrow(rest, at) => {}
            '<' | '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            '>' if depth == 0 => {
                arguments.push(rest.get(start..at)?);
                return Some(NameParts { head, arguments, tail: rest.get(at.checked_add(1)?..)? });
            }
            '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                arguments.push(rest.get(start..at)?);
                start = at.checked_add(1)?;
            }
            _ => {}
        }
    }
    None
}

/// Whether a name is like a pattern without arguments, whose wildcards stand for any characters.
fn is_like(pattern: &str, name: &str, captures: &mut Vec<String>) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        let at = if is_last { rest.len().checked_sub(piece.len()) } else { rest.find(piece) };
        let at = at.filter(|at| rest.get(*at..).is_some_and(|rest| rest.starts_with(piece)));
        let Some(at) = at else { return false };
        captures.push(rest.get(..at).unwrap_or_default().to_owned());
        rest = rest.get(at.saturating_add(piece.len())..).unwrap_or_default();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captures(pattern: &str, name: &str) -> Option<Vec<String>> {
        TypePattern::new(pattern).captures(name)
    }

    #[test]
    fn a_name_without_wildcards_stands_for_itself() {
        assert_eq!(captures("ngx_str_t", "ngx_str_t"), Some(vec![]));
        assert_eq!(captures("ngx_str_t", "ngx_str_ts"), None);
        assert_eq!(captures("Vec", "Vec<int>"), None);
        assert_eq!(captures("Pair<int, char>", "Pair<int,char>"), Some(vec![]));
        assert_eq!(captures("Pair<unsigned int>", "Pair<unsigned int >"), Some(vec![]));
        assert_eq!(captures("Pair<unsigned int>", "Pair<unsignedint>"), None);
    }

    #[test]
    fn an_arrow_closes_no_bracket() {
        let name = "once_cell::sync::Lazy<u32, fn() -> u32>";
        assert_eq!(
            captures("once_cell::sync::Lazy<*, *>", name),
            Some(vec!["u32".to_owned(), "fn()->u32".to_owned()])
        );
        assert_eq!(last_name(name), "Lazy");
    }

    #[test]
    fn an_argument_that_is_a_wildcard_stands_for_any() {
        let one = |text: &str| Some(vec![text.to_owned()]);
        assert_eq!(
            captures("QList<*>", "QList<std::vector<int, A<int> > >"),
            one("std::vector<int,A<int>>")
        );
        assert_eq!(
            captures("V<*, *>", "V<int, A<int>>"),
            Some(vec!["int".into(), "A<int>".into()])
        );
        assert_eq!(captures("V<*>", "V<int, A<int> >"), one("int"), "the last stands for the rest");
        assert_eq!(captures("V<*, int>", "V<char, int, int>"), None);
        assert_eq!(captures("V<char *>", "V<char*>"), Some(vec![]));
        assert_eq!(captures("V<char *>", "V<charge>"), None);
        assert_eq!(captures("M<P<*>>", "M<P<int> >"), one("int"));
        assert_eq!(captures("M<*>::Node", "M<int>::Node"), one("int"));
        assert_eq!(captures("M<*>::Node", "M<int>::Leaf"), None);
        assert_eq!(captures("F<*>", "F<void (int, char)>"), one("void(int,char)"));
    }

    #[test]
    fn a_wildcard_in_a_name_stands_for_any_part_of_it() {
        assert_eq!(captures("ngx_*_t", "ngx_str_t"), Some(vec!["str".into()]));
        assert_eq!(captures("ngx_*_t", "ngx_t"), None);
        assert_eq!(captures("*", "anything"), Some(vec!["anything".into()]));
        assert_eq!(captures("a*b*c", "aXbYbc"), Some(vec!["X".into(), "Yb".into()]));
    }

    #[test]
    fn a_last_name_has_neither_scopes_nor_arguments() {
        assert_eq!(last_name("a::B<c::D>"), "B");
        assert_eq!(last_name("a::B<c::D>::E"), "E");
        assert_eq!(last_name("operator>"), "operator>");
        assert_eq!(TypePattern::new("ngx_*_t").last_name(), None);
        assert_eq!(TypePattern::new("QList< * >").last_name(), Some("QList"));
    }

    #[test]
    fn names_nested_without_end_fit_nothing() {
        let deep = format!("{}{}", "A<".repeat(10_000), ">".repeat(10_000));
        assert_eq!(captures(&deep, &deep), None);
        assert_eq!(captures("A<*>", &deep).map(|found| found.len()), Some(1));
    }
}
