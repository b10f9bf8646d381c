//! Names of Go, whose linker escapes the dots of a package's last word: `gopkg.in/yaml%2ev3.Unmarshal`.
//!
//! By `PathToPrefix` in `cmd/internal/objabi/path.go` of Go 1.21.

use super::Plain;

/// The name with its escapes decoded; `None` where it has none.
pub fn demangle(text: &str) -> Option<Plain> {
    text.contains("%2e").then_some(())?;
    let mut parts = text.split('%');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let code = u8::from_str_radix(digits, 16).ok()?;
        out.push(Some(char::from(code)).filter(|letter| letter.is_ascii_graphic())?);
        out.push_str(rest);
    }
    Some(Plain { function: out.clone(), full: out })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_of_packages_are_decoded() {
        let shown = demangle("gopkg.in/yaml%2ev3.(*Decoder).Decode").unwrap().function;
        assert_eq!(shown, "gopkg.in/yaml.v3.(*Decoder).Decode");
        for raw in
            ["main.(*T).M", "main.Map[go.shape.int]", "a%2e%00.f", "a%2e%2.f", "a%2e%2\u{e9}"]
        {
            assert_eq!(demangle(raw), None, "{raw}");
        }
    }
}
