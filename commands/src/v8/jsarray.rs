//! `::jsarray` — the elements of an array.

use kcore::Addr;
use kcore::v8::script_tree::Tree;
use kcore::v8::value::{ElementContent, Value};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Dialect, Dot, Example, Fields, Group, Opt, Record, Result,
    ScriptCell, ScriptNode, ScriptStyle, Spec, View,
};

use super::each_element::each_element;
use super::subject::Subject;

/// Lists the elements of an array.
pub struct Jsarray;

impl Dcmd for Jsarray {
    fn spec(&self) -> Spec {
        Spec::new("jsarray", Group::Runtimes, "list the elements of a JavaScript array")
            .addr(AddrUse::Required)
            .options(&[Opt { flag: 'i', value: None, help: "show the index before each element" }])
            .help(
                "Prints the address of each element. An element that the array stores as a \
                 number without a tag has no address, so its value is printed instead. Slots \
                 that were never written are left out. In a pipe, ::jsarray passes the \
                 addresses.",
            )
            .examples(&[Example {
                line: "::jsstack -f work -p arg1 | ::jsarray -i",
                shows: "the elements of an argument",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let tree = Tree { host: subject.core, v8: subject.v8 };
        each_element(subject, &mut |index, held| {
            let (word, number) = match held {
                ElementContent::Word(word) => (Some(word), None),
                ElementContent::Bare(kind) => (None, Some(tree.node(&Value { word: None, kind }))),
                ElementContent::Accessor(word) => (Some(word), None),
            };
            let address = word.map(Addr::new);
            if address.is_none() && cx.input().pipe_out {
                return Ok(());
            }
            cx.emit(&Element { index, address, number, is_indexed: args.has('i') })
        })
    }
}

struct Element {
    index: u64,
    address: Option<Addr>,
    number: Option<ScriptNode>,
    is_indexed: bool,
}

const STYLE: ScriptStyle =
    ScriptStyle { dialect: Dialect::JavaScript, addresses: false, indent: 0 };

impl Record for Element {
    fn kind(&self) -> &'static str {
        "js_element"
    }

    fn view(&self) -> View {
        View::Line(match self.is_indexed {
            true => "{index} {address}{address^{number}}",
            false => "{address}{address^{number}}",
        })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let number = self
            .number
            .as_ref()
            .map(|node| ScriptCell { node: std::borrow::Cow::Borrowed(node), style: STYLE });
        out.num("index", self.index)
            .addr("address", self.address)
            .put("number", Cell::or_null(number, |cell| Cell::Script(Box::new(cell))));
    }

    fn dot(&self) -> Option<Dot> {
        self.address.map(Dot::Addr)
    }
}
