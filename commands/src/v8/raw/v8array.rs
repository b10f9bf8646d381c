//! `::v8array` — the elements of one of V8's own arrays.

use kcore::Addr;
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use crate::v8::subject::Subject;

/// Elements that are listed, at most.
const MAX_ELEMENTS: u64 = 1 << 24;

/// Lists the elements of an array.
pub struct V8array;

impl Dcmd for V8array {
    fn spec(&self) -> Spec {
        Spec::new("v8array", Group::Runtimes, "list the elements of an internal array of V8")
            .addr(AddrUse::Required)
            .options(&[Opt { flag: 'i', value: None, help: "show the index before each element" }])
            .help(
                "The address is that of a FixedArray or a similar array, or of a context. Such \
                 arrays hold the elements of JavaScript arrays, which ::jsarray lists. In a \
                 pipe, ::v8array passes the elements.",
            )
            .examples(&[Example {
                line: "::jsstack -f work -p arg1 | ::v8print ! grep elements",
                shows: "where the elements of an array lie",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let found = subject.v8.array_words(subject.core, subject.word, MAX_ELEMENTS);
        let (words, _) = found.ok_or_else(|| subject.not_an("internal array of V8"))?;
        words.into_iter().zip(0..).try_for_each(|(word, index)| {
            cx.emit(&Element { index, word: Addr::new(word), is_indexed: args.has('i') })
        })
    }
}

struct Element {
    index: u64,
    word: Addr,
    is_indexed: bool,
}

impl Record for Element {
    fn kind(&self) -> &'static str {
        "v8_element"
    }

    fn view(&self) -> View {
        View::Line(if self.is_indexed { "{index} {address}" } else { "{address}" })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("index", self.index).addr("address", self.word);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.word))
    }
}
