//! Where results go, and how they look there.

use std::env;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use kcore_dcmd::{DcmdError, Sink};
use kcore_render::{Format, JsonForm, JsonSink, Numbers, Pager, Screen, TextOptions, TextSink};

use crate::args::{Color, Json};

/// The format that the command line asks for.
pub(crate) fn format(json: Option<Json>, color: Color, word_size: usize) -> Format {
    match json {
        Some(Json::Full) => return Format::Json(JsonForm::Full),
        Some(Json::Compact) => return Format::Json(JsonForm::Compact),
        None => {}
    }
    let terminal = io::stdout().is_terminal();
    Format::Text(TextOptions {
        styled: is_terminal_styled(color),
        live: terminal,
        numbers: Numbers { radix: 16, word_size },
    })
}

/// A sink on standard output and standard error; text for a user at `screen` comes in pages. JSON
/// begins with its header line.
///
/// # Errors
/// [`DcmdError::Closed`] when nobody reads already.
pub(crate) fn sink(
    format: Format,
    color: Color,
    screen: Option<Arc<dyn Screen>>,
    target: Option<&str>,
) -> Result<Box<dyn Sink>, DcmdError> {
    match format {
        Format::Text(options) => {
            let errors_on_terminal = io::stderr().is_terminal();
            let sink = TextSink::new(io::stdout(), io::stderr(), options)
                .with_progress(errors_on_terminal)
                .with_styled_errors(is_styled(color, errors_on_terminal));
            Ok(match screen {
                Some(screen) => Box::new(sink.with_pager(Pager::new(screen))),
                None => Box::new(sink),
            })
        }
        Format::Json(form) => {
            let live = io::stdout().is_terminal();
            let mut sink = JsonSink::new(io::stdout(), io::stderr(), live).in_form(form);
            sink.header(target)?;
            Ok(Box::new(sink))
        }
    }
}

/// Whether what is typed and shown on the terminal is coloured.
pub(crate) fn is_terminal_styled(color: Color) -> bool {
    is_styled(color, io::stdout().is_terminal())
}

fn is_styled(color: Color, terminal: bool) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            terminal && !is_set("NO_COLOR") && env::var_os("TERM") != Some("dumb".into())
        }
    }
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_stands_over_the_terminal() {
        assert!(is_styled(Color::Always, false));
        assert!(!is_styled(Color::Never, true));
        assert!(!is_styled(Color::Auto, false));
    }
}
