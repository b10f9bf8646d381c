//! What is wrong with a line of the language.

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SyntaxError {
    /// A token stands where it cannot; `None` is the end of the line.
    #[error("syntax error{}", near(.0.as_deref()))]
    Near(Option<String>),
    /// A quote or bracket has no end.
    #[error("syntax error: {0} unmatched")]
    Unmatched(&'static str),
    /// A literal, a cast or a name is wrong by itself.
    #[error("{0}")]
    Wrong(String),
}

impl SyntaxError {
    /// The message for an error in a script, which has lines to name.
    pub(crate) fn in_file(&self, name: &str, line: usize) -> String {
        match self {
            Self::Near(token) => {
                format!("syntax error on line {line} of {name}{}", near(token.as_deref()))
            }
            Self::Unmatched(what) => {
                format!("syntax error on line {line} of {name}: {what} unmatched")
            }
            Self::Wrong(message) => format!("{message} on line {line} of {name}"),
        }
    }
}

fn near(token: Option<&str>) -> String {
    token.map_or_else(|| " near end of line".to_owned(), |token| format!(" near \"{token}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_token_and_in_scripts_the_line() {
        let error = SyntaxError::Near(Some("tok".into()));
        assert_eq!(error.to_string(), "syntax error near \"tok\"");
        assert_eq!(error.in_file("a.mdb", 3), "syntax error on line 3 of a.mdb near \"tok\"");
        assert_eq!(SyntaxError::Near(None).to_string(), "syntax error near end of line");
        assert_eq!(SyntaxError::Unmatched("'").to_string(), "syntax error: ' unmatched");
        assert_eq!(SyntaxError::Wrong("no".into()).in_file("f", 1), "no on line 1 of f");
    }
}
