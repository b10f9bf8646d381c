//! Generated blocks in a document that people write: what stands between
//! `<!-- begin: NAME -->` and `<!-- end: NAME -->`.

use anyhow::{Context, Result};

/// The document with `content` as the content of its block `name`.
pub fn replace(document: &str, name: &str, content: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->"));
    let missing = || format!("no block {name:?}");
    let (before, rest) = document.split_once(&begin).with_context(missing)?;
    let (_, after) = rest.split_once(&end).with_context(missing)?;
    Ok(format!("{before}{begin}{content}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn a_block_is_replaced_and_the_rest_stays() {
        let document = "a\n<!-- begin: b -->\nold\n<!-- end: b -->\nc\n";
        let replaced = replace(document, "b", "new\n").unwrap();
        assert_eq!(replaced, "a\n<!-- begin: b -->\nnew\n<!-- end: b -->\nc\n");
        assert_eq!(replace(&replaced, "b", "new\n").unwrap(), replaced);
    }

    #[test]
    fn a_block_that_is_not_there_or_not_closed_is_an_error() {
        assert!(replace("a", "b", "c").is_err());
        assert!(replace("<!-- begin: b -->\n", "b", "c").is_err());
    }
}
