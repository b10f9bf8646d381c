//! Attributes of terminals.

/// How a piece of text stands out on a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// What matters in a line.
    Bold,
    /// A header.
    Underline,
    /// An address: something that can be typed back.
    Address,
    /// A failure, or what will be one.
    Error,
    /// A command that exists.
    Command,
    /// A number that a user types.
    Number,
    /// Quoted text that a user types.
    Quoted,
    /// What is there to be overlooked: a hint, a comment.
    Faint,
}

impl Style {
    /// What switches it on; [`Style::OFF`] ends it.
    pub(crate) const fn on(self) -> &'static str {
        match self {
            Self::Bold => "\x1b[1m",
            Self::Underline => "\x1b[4m",
            Self::Address | Self::Number => "\x1b[36m",
            Self::Error => "\x1b[31m",
            Self::Command => "\x1b[34m",
            Self::Quoted => "\x1b[32m",
            Self::Faint => "\x1b[90m",
        }
    }

    /// Ends every style.
    pub(crate) const OFF: &'static str = "\x1b[0m";

    /// `text` in this style.
    pub fn paint(self, text: &str) -> String {
        [self.on(), text, Self::OFF].concat()
    }
}
