//! `::jsfunction` — what a function is.

use kcore::Addr;
use kcore::v8::value::{Contents, Limits, Value, ValueKind};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View,
};

use super::subject::Subject;
use super::type_line;

/// Says what a function is called and where it is defined.
pub struct Jsfunction;

impl Dcmd for Jsfunction {
    fn spec(&self) -> Spec {
        Spec::new("jsfunction", Group::Runtimes, "describe a JavaScript function")
            .addr(AddrUse::Required)
            .help(
                "Shows the name of a function, as stack traces have it, and where it is \
                 defined. For a bound function, it shows the function inside. ::jssource shows \
                 the source text, and ::jsclosure the captured variables.",
            )
            .examples(&[Example {
                line: "::jsstack -f Array.map -p arg1 | ::jsfunction",
                shows: "a callback",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let limits = Limits { depth: 1, entries: 64, units: 64 };
        let ValueKind::Object(object) = subject.value(limits).kind else {
            return Err(subject.not_an("function"));
        };
        let at = Addr::new(object.at.get() | 1);
        match &object.contents {
            Contents::Function { name, file, line, is_class } => cx.emit(&Described {
                at,
                name: name.as_deref(),
                file: file.as_deref(),
                line: *line,
                is_class: *is_class,
            }),
            Contents::Bound { target, this, arguments } => {
                let describe = |value: &Value| LabelledValue::new(subject, value);
                cx.emit(&Bound {
                    at,
                    target: target.word.map(Addr::new),
                    this: describe(this),
                    arguments: arguments.iter().map(describe).collect(),
                })
            }
            _ => Err(subject.not_an("function")),
        }
    }
}

struct Described<'v> {
    at: Addr,
    name: Option<&'v str>,
    file: Option<&'v str>,
    line: Option<u32>,
    is_class: bool,
}

impl Record for Described<'_> {
    fn kind(&self) -> &'static str {
        "js_function"
    }

    fn view(&self) -> View {
        View::Line(
            "{is_class?class}{is_class^function}: {name}{name^<anonymous>}\n{file?defined at {file}{line? line {line}}}{file^defined in V8 itself}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.at)
            .opt_text("name", self.name)
            .opt_text("file", self.file)
            .num("line", self.line.map(u64::from))
            .flag("is_class", self.is_class);
    }
}

/// A value, and what it is.
struct LabelledValue {
    at: Option<Addr>,
    type_line: String,
}

impl LabelledValue {
    fn new(subject: Subject<'_>, value: &Value) -> Self {
        let word = value.word.unwrap_or_default();
        Self {
            at: value.word.map(Addr::new),
            type_line: type_line::of(subject.core, subject.v8, word),
        }
    }

    fn cell(&self) -> Cell<'_> {
        Cell::Object(vec![
            ("address", Cell::or_null(self.at, Cell::Addr)),
            ("js_type", Cell::text(self.type_line.as_str())),
        ])
    }

    fn text(&self) -> String {
        format!("{:x} ({})", self.at.unwrap_or_default(), self.type_line)
    }
}

struct Bound {
    at: Addr,
    target: Option<Addr>,
    this: LabelledValue,
    arguments: Vec<LabelledValue>,
}

impl Record for Bound {
    fn kind(&self) -> &'static str {
        "js_bound_function"
    }

    fn view(&self) -> View {
        View::Line("bound function that wraps: {target}\nwith \"this\" = {with}{held*\n      {.}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let held = self.arguments.iter().enumerate();
        let held = held.map(|(index, held)| Cell::text(format!("arg{index}  = {}", held.text())));
        out.addr("address", self.at)
            .addr("target", self.target)
            .put("this", self.this.cell())
            .put("arguments", Cell::List(self.arguments.iter().map(LabelledValue::cell).collect()))
            .display("with", Cell::text(self.this.text()))
            .display("held", Cell::List(held.collect()));
    }
}
