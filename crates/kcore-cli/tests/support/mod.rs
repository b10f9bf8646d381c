//! Sessions of the library on committed cores, for tests that compare what is shown.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kcore::Core;
use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::Sink;
use kcore_render::{Format, Numbers, TextOptions, TextSink};
use kcore_shell::{Session, SessionOptions, Source};

const TEXT: TextOptions =
    TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } };

/// What a line of input gave.
pub struct Answer {
    /// Standard output.
    pub out: String,
    /// Lines of standard error.
    pub errors: Vec<String>,
}

impl Answer {
    /// From bytes, which are text.
    pub fn new(out: Vec<u8>, errors: Vec<u8>) -> Self {
        let errors = String::from_utf8(errors).unwrap();
        Self {
            out: String::from_utf8(out).unwrap(),
            errors: errors.lines().map(ToOwned::to_owned).collect(),
        }
    }
}

/// A file of a committed scenario.
pub fn committed(scenario: &str, file: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    root.join(scenario).join("x86_64").join(file)
}

/// A fresh session, as a script has it.
pub fn session(core: Arc<Core>) -> Session {
    Session::new(
        core,
        SessionOptions {
            dcmds: DCMDS,
            walkers: WALKERS,
            declared: Some(&kcore_commands::DECLARED),
            foreign: Some(&kcore_commands::GDB),
            typed: Some(&kcore_commands::TYPED),
            format: Format::Text(TEXT),
            terminal_width: || None,
        },
    )
}

/// What a line shows as text.
pub fn answer(session: &mut Session, source: Source<'_>, input: &str) -> Answer {
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    {
        let mut sink = TextSink::new(&mut out, &mut errors, TEXT);
        session.eval_from(source, input, &mut sink);
        sink.finish().unwrap();
    }
    Answer::new(out, errors)
}
