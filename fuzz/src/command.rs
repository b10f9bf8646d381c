//! The command language: lexer, parser, evaluator and all dcmds, on a small core.

use std::sync::{Arc, OnceLock};

use kcore::{Core, OpenOptions};
use kcore_commands::{DCMDS, WALKERS};
use kcore_dcmd::{DcmdError, Fields, Record, Result, Sink};
use kcore_render::{Format, JsonForm, Numbers, TextOptions};
use kcore_shell::{Session, SessionOptions};

use crate::open::Held;

/// The seed of `open`: executable and core.
const SEED: &[u8] = include_bytes!("../seeds/open/tiny");
/// Records and failures that are taken before nobody reads any more.
const MAX_TAKEN: usize = 200;

/// `data` is text of the language. What could run a command of the system's shell, read a file of
/// this machine or write one is left out.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if ["!", "$<", "$>", "log", "cat"].iter().any(|word| text.contains(word)) {
        return;
    }
    let text_options =
        TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } };
    let options = SessionOptions {
        dcmds: DCMDS,
        walkers: WALKERS,
        declared: Some(&kcore_commands::DECLARED),
        foreign: Some(&kcore_commands::GDB),
        typed: Some(&kcore_commands::TYPED),
        format: Format::Text(text_options),
        terminal_width: || None,
    };
    let mut sink =
        Counting::new(Format::Json(JsonForm::Full).plain_sink(std::io::sink(), std::io::sink()));
    Session::new(core(), options.clone()).eval(text, &mut sink);
    let mut sink = Counting::new(options.format.plain_sink(std::io::sink(), std::io::sink()));
    Session::new(core(), options).eval(text, &mut sink);
}

/// A core of a program that has debug information.
pub fn core() -> Arc<Core> {
    static CORE: OnceLock<Arc<Core>> = OnceLock::new();
    CORE.get_or_init(|| {
        let mut input = crate::input::Input::new(SEED);
        let (exe, core) = (Held::new(input.part()), Held::new(input.rest()));
        let (exe, core) = (Some(exe.path()), Some(core.path()));
        let core = Core::open(&OpenOptions { core, exe, ..OpenOptions::default() });
        let core = core.expect("the seed is a core");
        // While its file is there.
        crate::open::ask_all(&core);
        Arc::new(core)
    })
    .clone()
}

/// Hands everything on, until it has had enough.
struct Counting<'a> {
    sink: Box<dyn Sink + 'a>,
    taken: usize,
}

impl<'a> Counting<'a> {
    fn new(sink: Box<dyn Sink + 'a>) -> Self {
        Self { sink, taken: 0 }
    }

    fn count(&mut self) -> Result<()> {
        self.taken += 1;
        if self.taken > MAX_TAKEN { Err(DcmdError::Closed) } else { Ok(()) }
    }
}

impl Sink for Counting<'_> {
    fn put(&mut self, record: &dyn Record) -> Result<()> {
        self.count()?;
        record.fields(&mut Fields::new());
        self.sink.put(record)
    }

    fn begin(&mut self, record: &dyn Record, list: &'static str) -> Result<()> {
        self.count()?;
        self.sink.begin(record, list)
    }

    fn end(&mut self, record: &dyn Record) -> Result<()> {
        self.sink.end(record)
    }

    fn error(&mut self, command: &str, error: &DcmdError) -> Result<()> {
        self.count()?;
        self.sink.error(command, error)
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.count()?;
        self.sink.note(text)
    }

    fn hint(&mut self, text: &str) -> Result<()> {
        self.sink.hint(text)
    }

    fn abandon(&mut self) -> Result<()> {
        self.sink.abandon()
    }

    fn set_radix(&mut self, radix: u32) {
        self.sink.set_radix(radix);
    }

    fn finish(&mut self) -> Result<()> {
        self.sink.finish()
    }
}
