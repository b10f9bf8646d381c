//! Whole commands on a core and its program: debug information as what is shown of it, in text and as JSON.

use std::sync::Arc;

use kcore::{Core, OpenOptions};
use kcore_commands::{DCMDS, WALKERS};
use kcore_render::{Format, JsonForm, Numbers, TextOptions};
use kcore_shell::{Session, SessionOptions};

use crate::{input::Input, open::Held};

/// What anybody asks first, and what reads debug information.
const COMMANDS: &[&str] = &[
    "::status",
    "::stack -v",
    "::stacks -v",
    "::walk thread | ::stack",
    "::walk frame | ::locals",
    "::frame -s",
    "main_of::dis",
    "::frame 1; ::print -t first; ::print -a *first.next",
    "::sizeof 'struct node'",
    "::nm",
    "::objects",
    "::threads",
    "::whattype",
    "<rip::dis",
];
/// Bytes that all commands may show of an input: what each of its bytes may, and what is shown of a core without any.
const SHOWN_EACH: usize = 4096;
const SHOWN: usize = 4 << 20;

/// The executable, then the core.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let exe = Held::new(input.part());
    let held = Held::new(input.rest());
    let (core, exe) = (Some(held.path()), Some(exe.path()));
    let Ok(core) = Core::open(&OpenOptions { core, exe, ..OpenOptions::default() }) else { return };
    let core = Arc::new(core);
    let most = data.len().saturating_mul(SHOWN_EACH).saturating_add(SHOWN);
    let text = shown(&core, Format::Text(text_options()));
    assert!(text.len() <= most, "{} bytes of text of {}", text.len(), data.len());
    let text = String::from_utf8(text).expect("text is UTF-8");
    let raw = text.chars().find(|it| it.is_control() && !matches!(it, '\n' | '\t'));
    assert_eq!(raw, None, "a terminal would obey it");
    let json = shown(&core, Format::Json(JsonForm::Full));
    assert!(json.len() <= most, "{} bytes of JSON of {}", json.len(), data.len());
    for line in json.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        serde_json::from_slice::<serde_json::Value>(line).expect("each line is a record");
    }
}

const fn text_options() -> TextOptions {
    TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } }
}

/// All that the commands show, and why some of them did not.
fn shown(core: &Arc<Core>, format: Format) -> Vec<u8> {
    let options = SessionOptions {
        dcmds: DCMDS,
        walkers: WALKERS,
        declared: Some(&kcore_commands::DECLARED),
        foreign: Some(&kcore_commands::GDB),
        typed: Some(&kcore_commands::TYPED),
        format,
        terminal_width: || None,
    };
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    {
        let mut sink = format.plain_sink(&mut out, &mut errors);
        let mut session = Session::new(core.clone(), options);
        for command in COMMANDS {
            session.eval(command, &mut *sink);
        }
        let _ = sink.finish();
    }
    out.extend(errors);
    out
}
