//! `::v8context` — the slots of a context.

use kcore::Addr;
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View,
};

use super::shown::Word;
use crate::v8::subject::Subject;

/// Shows a context.
pub struct V8context;

impl Dcmd for V8context {
    fn spec(&self) -> Spec {
        let summary = "show a context: the variables that inner functions use";
        Spec::new("v8context", Group::Runtimes, summary)
            .addr(AddrUse::Required)
            .help(
                "The address is that of a context, or of a function, which stands for its \
                 context. Slots have the names of their variables, if the ScopeInfo has them.",
            )
            .examples(&[Example {
                line: "::jsstack -f Array.map -p arg1 | ::v8context",
                shows: "the context of a callback",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let found = subject.v8.context(subject.core, subject.word);
        let found = found.ok_or_else(|| subject.not_an("context or function"))?;
        let word = |word: u64| Word::new(subject, word);
        let slots = found.slots.into_iter();
        cx.emit(&JsContextRecord {
            at: Addr::new(subject.word),
            scope_info: found.scope_info.map(word),
            previous: found.previous.map(word),
            slots: slots.map(|slot| (slot.index, slot.name, word(slot.word))).collect(),
        })
    }
}

struct JsContextRecord {
    at: Addr,
    scope_info: Option<Word>,
    previous: Option<Word>,
    slots: Vec<(u64, Option<String>, Word)>,
}

impl Record for JsContextRecord {
    fn kind(&self) -> &'static str {
        "v8_context"
    }

    fn view(&self) -> View {
        View::Line("scope info: {info}\nprevious context: {outer}{lines*\n    {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let cells = self.slots.iter().map(|(index, name, word)| {
            Cell::Object(vec![
                ("index", Cell::Num(*index)),
                ("name", Cell::or_null(name.as_deref(), Cell::text)),
                ("value", word.cell()),
            ])
        });
        let lines = self.slots.iter().map(|(index, name, word)| {
            let name = name.as_deref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
            Cell::text(format!("slot {index}{name}: {:x} ({})", word.word, word.type_line))
        });
        let of = |word: &'a Option<Word>| word.as_ref().map_or(Cell::Null, Word::cell);
        let text = |word: &'a Option<Word>| word.as_ref().map_or(Cell::Null, Word::text);
        out.addr("address", self.at)
            .put("scope_info", of(&self.scope_info))
            .put("previous", of(&self.previous))
            .put("slots", Cell::List(cells.collect()))
            .display("info", text(&self.scope_info))
            .display("outer", text(&self.previous))
            .display("lines", Cell::List(lines.collect()));
    }
}
