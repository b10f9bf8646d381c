//! A small set of dcmds, and a sink that remembers, for the tests of the shell.

use std::sync::Arc;

use kcore::{Core, OpenOptions, Tid};
use kcore_dcmd::{
    AddrUse, Arg, Args, Bindings, Cx, Dcmd, DcmdError, Dot, Fields, Foreign, Group, MacroCall,
    Meaning, Opt, Piped, Record, Result, Shell, Sink, Spec, View, Visit, Walker, WalkerSpec,
};
use kcore_render::{Format, Numbers, TextOptions};

use crate::reading::{Names, Reading};
use crate::{Session, SessionOptions};

/// Numbers are hexadecimal, and no name is known: every `::` begins a dcmd.
pub(crate) const PLAIN: Reading<'static> = Reading::new(16, &NoNames);

struct NoNames;

impl Names for NoNames {
    fn is_symbol(&self, _name: &str) -> bool {
        false
    }

    fn is_variable(&self, _name: &str) -> bool {
        false
    }

    fn is_dcmd(&self, _spelling: &str) -> bool {
        true
    }
}

/// A dcmd of the tests: a spec, and what it does.
struct Fake {
    spec: Spec,
    run: fn(&mut Cx<'_>, &Args) -> Result<()>,
}

impl Dcmd for Fake {
    fn spec(&self) -> Spec {
        self.spec
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        (self.run)(cx, args)
    }
}

/// A record that says one thing.
struct OneCell(String, Option<Dot>);

impl Record for OneCell {
    fn kind(&self) -> &'static str {
        "said"
    }

    fn view(&self) -> View {
        View::Line("{text}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("text", self.0.as_str());
    }

    fn dot(&self) -> Option<Dot> {
        self.1
    }
}

/// A value with its bindings.
struct Bound(Piped);

impl Record for Bound {
    fn kind(&self) -> &'static str {
        "bound"
    }

    fn view(&self) -> View {
        View::Hidden
    }

    fn fields<'a>(&'a self, _out: &mut Fields<'a>) {}

    fn piped(&self) -> Option<Piped> {
        Some(self.0.clone())
    }
}

const VERBOSE: &[Opt] = &[Opt { flag: 'v', value: None, help: "" }];

const fn spec(name: &'static str) -> Spec {
    Spec::new(name, Group::Language, "a dcmd of the tests").addr(AddrUse::Optional).operands(
        "[word...]",
        0,
        usize::MAX,
    )
}

/// Says how it was called.
fn seen(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let input = cx.input().clone();
    let mut said = format!("{} dot={:?}", input.called_as, input.dot);
    for (word, holds) in [
        ("addr", input.has_addr),
        ("looped", input.looped),
        ("first", input.first),
        ("pipe_out", input.pipe_out),
        ("-v", args.has('v')),
    ] {
        if holds {
            said.push_str(&format!(" {word}"));
        }
    }
    if let Some(count) = input.count {
        said.push_str(&format!(" count={count}"));
    }
    if let Some(list) = &input.list {
        let list: Vec<_> = list.iter().map(|value| value.dot).collect();
        said.push_str(&format!(" list={list:?}"));
    }
    for word in args.operands() {
        said.push_str(&format!(" [{}]", word.to_text()));
    }
    cx.emit(&OneCell(said, Some(input.dot)))
}

/// Emits each operand, evaluated.
fn emit(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    for word in args.operands() {
        let value = cx.shell().evaluate(&word.to_text())?;
        cx.emit(&OneCell(format!("{value:x}"), Some(Dot::Number(value))))?;
    }
    Ok(())
}

/// Emits the operands after the first, each bound to the name that the first is.
fn bind(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let mut words = args.operands().iter().map(Arg::to_text);
    let name = words.next().unwrap_or_default().into();
    for word in words {
        let dot = Dot::Number(cx.shell().evaluate(&word)?);
        let bindings = Bindings::default().with(&name, dot.number());
        cx.emit(&Bound(Piped { dot, bindings }))?;
    }
    Ok(())
}

fn run(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let text = args.first().map_or_else(String::new, Arg::to_text);
    let dot = cx.dot();
    cx.eval(&text, dot)
}

fn call_macro(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let call = match cx.input().called_as.as_str() {
        "$<" => MacroCall::Replace,
        _ => MacroCall::Return,
    };
    cx.run_macro(args.first().map(Arg::to_text).as_deref(), call)
}

fn emit_thread(cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
    cx.emit(&OneCell("thread".into(), Some(Dot::Thread(Tid::new(4711)))))
}

/// Fails for even addresses.
fn odd(cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
    let value = cx.dot().number();
    if value.is_multiple_of(2) {
        return Err(DcmdError::at(cx.dot().addr(), format!("{value:x} is even")));
    }
    cx.emit(&OneCell(format!("{value:x} is odd"), Some(Dot::Number(value))))
}

/// Moves over memory by 4, as a format dcmd does.
fn step(cx: &mut Cx<'_>, args: &Args) -> Result<()> {
    let dot = cx.dot();
    seen(cx, args)?;
    cx.shell_mut().set_dot(dot, 4);
    Ok(())
}

fn unfit(cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
    for _ in 0..2 {
        cx.emit(&OneCell("no address".into(), None))?;
    }
    Ok(())
}

fn torn(cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
    cx.begin(&OneCell("begun".into(), None), "list")?;
    Err(DcmdError::failed("torn"))
}

/// Runs until it is interrupted, at most for a while.
fn spin(cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
    for _ in 0..10_000 {
        cx.check_interrupt()?;
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Err(DcmdError::failed("was not interrupted"))
}

fn radix(cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
    let radix = cx.dot().number();
    cx.shell_mut().set_radix(radix)
}

fn quit(_cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
    Err(DcmdError::Quit)
}

static DCMDS: &[&dyn Dcmd] = &[
    &Fake { spec: spec("seen").aliases(&["$s", "="]).options(VERBOSE), run: seen },
    &Fake {
        spec: Spec::new("plain", Group::Language, "takes nothing").help("More.").options(VERBOSE),
        run: seen,
    },
    &Fake { spec: spec("needy").addr(AddrUse::Required), run: seen },
    &Fake { spec: spec("length").takes_count(), run: seen },
    &Fake { spec: spec("list").takes_list(), run: seen },
    &Fake { spec: spec("emit").addr(AddrUse::None), run: emit },
    &Fake { spec: spec("emit_thread").addr(AddrUse::None), run: emit_thread },
    &Fake { spec: spec("bind"), run: bind },
    &Fake { spec: spec("run"), run },
    &Fake { spec: spec("$<").aliases(&["$<<"]).takes_count(), run: call_macro },
    &Fake { spec: spec("odd"), run: odd },
    &Fake { spec: spec("/"), run: step },
    &Fake { spec: spec("unfit"), run: unfit },
    &Fake { spec: spec("torn"), run: torn },
    &Fake { spec: spec("help"), run: seen },
    &Fake { spec: spec("walk"), run: seen },
    &Fake { spec: spec("spin"), run: spin },
    &Fake { spec: spec("$d"), run: radix },
    &Fake { spec: spec("quit").aliases(&["$q"]), run: quit },
];

struct Two;

impl Walker for Two {
    fn spec(&self) -> WalkerSpec {
        WalkerSpec { name: "two", summary: "the numbers 1 and 2", addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        visit(cx, Dot::Number(1))?;
        visit(cx, Dot::Number(2))
    }
}

static WALKERS: &[&dyn Walker] = &[&Two];

/// Some lines of another debugger.
struct OtherWords;

impl Foreign for OtherWords {
    fn meaning(&self, line: &str, _core: &Core, _shell: &dyn Shell) -> Option<Meaning> {
        let same = |line: &str| Meaning::Same { known: "look", line: line.to_owned() };
        match line {
            "look" | "look here" | "look ';' there" => Some(same("::seen looked")),
            "look/x 5" => Some(same("5::seen looked")),
            "look twice" => Some(same("look")),
            "main" => Some(same("::seen main")),
            "pretty on" => Some(Meaning::Needless { known: "pretty", why: "always" }),
            "walk away" => Some(Meaning::Instead("stay".to_owned())),
            _ => None,
        }
    }

    fn begins(&self, word: &str) -> bool {
        ["look", "pretty", "walk", "main"].contains(&word)
    }
}

/// A session on this test's own executable: symbols, but no process.
pub(crate) fn session() -> Session {
    let exe = Some(std::env::current_exe().unwrap());
    let core = Core::open(&OpenOptions { exe, ..OpenOptions::default() }).unwrap();
    let text =
        TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } };
    Session::new(
        Arc::new(core),
        SessionOptions {
            dcmds: DCMDS,
            walkers: WALKERS,
            declared: None,
            foreign: Some(&OtherWords),
            typed: None,
            format: Format::Text(text),
            terminal_width: || None,
        },
    )
}

/// Remembers what it took, one line for each call.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) lines: Vec<String>,
    /// Whether every result is refused, as when nobody reads.
    pub(crate) closed: bool,
}

impl Memory {
    fn take(&mut self, record: &dyn Record, prefix: &str) -> Result<()> {
        if self.closed {
            return Err(DcmdError::Closed);
        }
        let mut fields = Fields::new();
        record.fields(&mut fields);
        if let Some(kcore_dcmd::Cell::Text(text)) = fields.get("text") {
            self.lines.push(format!("{prefix}{text}"));
        }
        Ok(())
    }
}

impl Sink for Memory {
    fn put(&mut self, record: &dyn Record) -> Result<()> {
        self.take(record, "")
    }

    fn begin(&mut self, record: &dyn Record, _list: &'static str) -> Result<()> {
        self.take(record, "begin: ")
    }

    fn end(&mut self, record: &dyn Record) -> Result<()> {
        self.take(record, "end: ")
    }

    fn error(&mut self, command: &str, error: &DcmdError) -> Result<()> {
        self.lines.push(format!("error({command}): {error}"));
        Ok(())
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.lines.push(format!("note: {text}"));
        Ok(())
    }

    fn hint(&mut self, text: &str) -> Result<()> {
        self.lines.push(format!("hint: {text}"));
        Ok(())
    }

    fn abandon(&mut self) -> Result<()> {
        self.lines.push("abandoned".to_owned());
        Ok(())
    }
}
