//! The output formats, by name.

use std::io::Write;

use kcore_dcmd::Sink;

use crate::{JsonForm, JsonSink, TextOptions, TextSink};

/// An output format; each has a sink.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Text for people.
    Text(TextOptions),
    /// JSON Lines.
    Json(JsonForm),
}

impl Format {
    /// A sink of this format into a file or a shell command: complete lines, no attributes, and
    /// nothing that must be seen at once. Failures go to `errors` where the format keeps them apart.
    pub fn plain_sink<'a>(
        self,
        out: impl Write + 'a,
        errors: impl Write + 'a,
    ) -> Box<dyn Sink + 'a> {
        match self {
            Self::Text(options) => {
                let options = TextOptions { styled: false, live: false, ..options };
                Box::new(TextSink::new(out, errors, options))
            }
            Self::Json(form) => Box::new(JsonSink::new(out, errors, false).in_form(form)),
        }
    }
}
