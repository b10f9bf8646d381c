//! Marked blocks in a document that people write: what stands between
//! `<!-- begin: NAME -->` and `<!-- end: NAME -->`.

use anyhow::{Context, Result};

/// The document with the content of each block `name` replaced by what `rewrite` makes of it.
pub fn rewrite(
    document: &str,
    name: &str,
    mut rewrite: impl FnMut(&str) -> Result<String>,
) -> Result<String> {
    let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->"));
    let (mut text, mut rest) = (String::new(), document);
    while let Some((before, behind)) = rest.split_once(&begin) {
        let unclosed = || format!("a block {name:?} has no end");
        let (content, after) = behind.split_once(&end).with_context(unclosed)?;
        text.extend([before, &begin, &rewrite(content)?, &end]);
        rest = after;
    }
    Ok(text + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shout(document: &str) -> Result<String> {
        rewrite(document, "b", |content| Ok(content.to_uppercase()))
    }

    #[test]
    fn every_block_is_rewritten_and_the_rest_stays() {
        let block = |content: &str| format!("<!-- begin: b -->\n{content}\n<!-- end: b -->");
        let document = format!("x\n{}\ny\n{}\nz\n", block("one"), block("two"));
        let wanted = format!("x\n{}\ny\n{}\nz\n", block("ONE"), block("TWO"));
        assert_eq!(shout(&document).unwrap(), wanted);
        assert_eq!(shout("none").unwrap(), "none");
    }

    #[test]
    fn a_block_without_an_end_is_an_error() {
        assert!(shout("<!-- begin: b -->\n").is_err());
    }
}
