//! The record of one frame of a stack.

use kcore::{
    Addr, CodeAddr, Core, Endian, FrameKind, NamedFrame, TakenSignal, TaskId, Tid, signal,
};

use super::{FrameValues, original_cell};
use crate::{Cell, Dot, Fields, Record, SymbolCell, View};

/// What stands for the name of a function that nobody knows.
const UNKNOWN: &str = "<unknown>";

/// What stands in a line of its own before a frame.
macro_rules! before {
    () => {
        "{other_stack?-- on another stack\n}"
    };
}

/// The frame pointer, or room for one.
macro_rules! pointer {
    () => {
        "{frame_pointer:0}{frame_pointer^????????????????}"
    };
}

/// The function with its arguments, or the signal whose handler returns here.
macro_rules! called {
    () => {
        "{handled}{handled^{symbol}({arguments})}"
    };
}

/// The marks of what is not certain.
macro_rules! doubts {
    () => {
        "{guess? [guessed]}{calls_elsewhere? [calls elsewhere]}"
    };
}

/// What stands behind a function.
macro_rules! behind {
    () => {
        concat!(
            "{nameless? in {nameless}}{source? at {source}}{told? [{told}]}{nearest? [nearest symbol]}{inline? [inlined]}",
            doubts!()
        )
    };
}

/// How frames are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// `symbol+offset()`.
    Plain,
    /// The frame-pointer column before it.
    WithPointer,
    /// Lines and how the frame was found as well.
    Verbose,
    /// Indented, as `::stacks` shows a group's stack.
    Indented,
    /// In brackets, as `::findstack` shows the innermost frame.
    Bracketed,
    /// As `::findstack` shows the others.
    Found,
}

/// One frame of a stack.
pub struct FrameLine {
    /// The frame.
    pub frame: NamedFrame,
    /// The thread; `None` on a stack that no thread runs on.
    pub tid: Option<Tid>,
    /// The task, if no thread runs it.
    pub task: Option<TaskId>,
    /// What `$C` prints in its first column.
    pub frame_pointer: Option<Addr>,
    /// How it is laid out.
    pub layout: Layout,
    /// Its arguments and locals.
    values: FrameValues,
    /// The order of bytes in the target.
    endian: Endian,
    /// The name that the session gives to its function, where that is another one.
    renamed: Option<SymbolCell<'static>>,
    /// The signal whose handler returns to it, if one does and that is known.
    signal: Option<TakenSignal>,
    /// Whether the file and line of native code stand in its line.
    shows_source: bool,
}

impl FrameLine {
    /// A frame of thread `tid`.
    pub fn new(core: &Core, tid: Option<Tid>, frame: NamedFrame, layout: Layout) -> Self {
        let frame_pointer = frame.frame_pointer();
        Self {
            renamed: None,
            signal: frame.frame.and_then(|frame| core.crash().taken_signal(&frame)),
            frame,
            tid,
            task: None,
            frame_pointer,
            layout,
            values: FrameValues::default(),
            endian: Endian::Little,
            shows_source: false,
        }
    }

    /// The same on the stack of a task, if it is one that no thread runs.
    #[must_use]
    pub fn of_task(self, task: Option<TaskId>) -> Self {
        Self { task, ..self }
    }

    /// The same, with the file and line of native code in its line if that is wanted.
    #[must_use]
    pub fn with_source(self, shows_source: bool) -> Self {
        Self { shows_source, ..self }
    }

    /// The same, by the name that a session gives to its function, where that is another one.
    #[must_use]
    pub fn renamed(self, renamed: Option<SymbolCell<'static>>) -> Self {
        Self { renamed, ..self }
    }

    /// The same, with its arguments and locals.
    pub fn with(self, values: FrameValues, endian: Endian) -> Self {
        Self { values, endian, ..self }
    }

    /// The function, as the session names it, with the module of a library; the address where no name is known.
    pub fn symbol(&self) -> SymbolCell<'_> {
        if let Some(renamed) = &self.renamed {
            return renamed.clone();
        }
        let location = &self.frame.location;
        let module = location.module.as_deref().filter(|_| !location.in_exe && !self.is_language());
        let pc = self.frame.pc();
        SymbolCell {
            addr: pc.map_or(Addr::new(0), CodeAddr::addr),
            module: module.map(Into::into),
            // Without code there is no address that could stand for a name.
            name: location.function.as_deref().or(pc.is_none().then_some(UNKNOWN)).map(Into::into),
            offset: location.offset.unwrap_or_default(),
            nearest: location.nearest,
        }
    }

    /// The function without the mark of the nearest symbol, which stands behind the parentheses here.
    fn unmarked_symbol(&self) -> SymbolCell<'_> {
        SymbolCell { nearest: false, ..self.symbol() }
    }

    /// The text that stands for a trampoline: it says that a handler was called, and for which signal if that is known.
    fn handled(&self) -> Option<String> {
        self.is_trampoline().then(|| match self.signal {
            Some(taken) => format!("<signal {}>", signal::name(taken.number)),
            None => "<signal handler called>".to_owned(),
        })
    }

    /// The signal in JSON.
    fn taken(&self) -> Cell<'_> {
        Cell::or_null(self.signal, |taken| {
            Cell::Object(vec![
                ("number", Cell::Num(taken.number.into())),
                ("name", Cell::text(signal::name(taken.number))),
                ("code", Cell::or_null(taken.code, Cell::text)),
                ("address", Cell::or_null(taken.address, Cell::Addr)),
            ])
        })
    }

    /// The name of the function alone, as the session has it.
    pub fn function(&self) -> Option<&str> {
        let renamed = self.renamed.as_ref().and_then(|named| named.name.as_deref());
        renamed.or(self.frame.location.function.as_deref())
    }

    /// The name of the function in JSON: where a source map has another one, that of the script.
    fn function_in_script(&self) -> Option<&str> {
        let renamed = self.renamed.as_ref().and_then(|named| named.name.as_deref());
        renamed.or(self.frame.location.place_in_script().function)
    }

    /// The file, line and column that stand in a line of their own.
    fn place(&self) -> Option<String> {
        let location = &self.frame.location;
        let numbers = [location.line, location.column].into_iter().map_while(|number| number);
        let file = location.file.as_deref()?.to_owned();
        Some(numbers.fold(file, |place, number| format!("{place}:{number}")))
    }

    fn offset(&self) -> Option<u64> {
        self.renamed.as_ref().map_or(self.frame.location.offset, |named| Some(named.offset))
    }

    /// The module of code without a symbol, which nothing else would tell.
    fn nameless_in(&self) -> Option<&str> {
        let location = &self.frame.location;
        let is_nameless = self.function().is_none() && !self.is_trampoline();
        location.module.as_deref().filter(|_| is_nameless)
    }

    /// Whether a runtime told of it.
    fn is_language(&self) -> bool {
        !self.frame.location.kind.is_machine_code()
    }

    fn is_trampoline(&self) -> bool {
        self.frame.frame.is_some_and(|frame| frame.signal_trampoline)
    }

    fn kind_word(&self) -> &'static str {
        match self.frame.location.kind {
            FrameKind::Native if self.is_trampoline() => "trampoline",
            kind => kind.as_str(),
        }
    }

    /// The mark of a frame that a runtime or a tail call accounts for: the language, or `tail call`, and what is not
    /// known of it.
    fn told(&self) -> Option<String> {
        let kind = match self.frame.is_tail_call() {
            true => "tail call",
            false => self.is_language().then(|| self.kind_word())?,
        };
        let location = &self.frame.location;
        let tier = location.tier.map(|tier| format!(", {tier}")).unwrap_or_default();
        let bytecode = location.bytecode.map(|index| format!(" @{index}")).unwrap_or_default();
        let doubts = [&location.doubt, &location.map_refused].into_iter().flatten();
        let doubts: String = doubts.map(|doubt| format!(": {doubt}")).collect();
        Some(format!("{kind}{tier}{bytecode}{doubts}"))
    }

    /// The file and line that stand in its line: of a frame of a language always, with the column, since an address
    /// would tell little; of native code where that is wanted.
    pub fn source(&self) -> Option<String> {
        let location = &self.frame.location;
        let is_language = self.is_language();
        let file = location.file.as_deref().filter(|_| is_language || self.shows_source)?;
        let column = location.column.filter(|_| is_language);
        let place = [location.line, column].into_iter().map_while(|number| number);
        Some(place.fold(file.to_owned(), |place, number| format!("{place}:{number}")))
    }
}

impl Record for FrameLine {
    fn kind(&self) -> &'static str {
        "frame"
    }

    fn view(&self) -> View {
        View::Line(match self.layout {
            Layout::Plain => concat!(before!(), called!(), behind!()),
            Layout::WithPointer => concat!(before!(), pointer!(), " ", called!(), behind!()),
            Layout::Bracketed => {
                concat!(before!(), "[ ", pointer!(), " ", called!(), behind!(), " ]")
            }
            Layout::Found => concat!(before!(), "  ", pointer!(), " ", called!(), behind!()),
            Layout::Verbose => concat!(
                before!(),
                pointer!(),
                " ",
                called!(),
                "{nameless? in {nameless}}{told? [{told}]}{nearest? [nearest symbol]}{inline? [inlined]}\n",
                "                 {place?{place}, }",
                "{pc?pc={pc:x}{sp? sp={sp:x}}, }by {trust}",
                doubts!(),
                "{variables*\n                     {.}}"
            ),
            Layout::Indented => {
                concat!(before!(), "                 {handled}{handled^{symbol}}", behind!())
            }
        })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let frame = self.frame.frame;
        let location = &self.frame.location;
        let in_script = location.place_in_script();
        out.num("index", self.frame.index as u64)
            .addr("pc", self.frame.pc().map(CodeAddr::addr))
            .addr("sp", frame.and_then(|frame| frame.sp))
            .addr("cfa", frame.and_then(|frame| frame.cfa))
            .text("trust", self.frame.trust().as_str())
            .flag("guess", self.frame.is_guess())
            .flag("other_stack", frame.is_some_and(|frame| frame.on_other_stack))
            .flag("calls_elsewhere", frame.is_some_and(|frame| frame.calls_elsewhere))
            .text("kind", self.kind_word())
            .opt_text("function", self.function_in_script())
            .opt_text("module", location.module.as_deref())
            .hex("offset", self.offset())
            .flag("nearest", self.symbol().nearest)
            .put("signal", self.taken())
            .flag("inline", location.inline)
            .opt_text("file", in_script.file)
            .num("line", in_script.line.map(u64::from))
            .num("column", in_script.column.map(u64::from))
            .put("original", original_cell(location.original_place()))
            .opt_text("language", location.language)
            .opt_text("tier", location.tier)
            .num("bytecode", location.bytecode.map(u64::from))
            .put("args", self.values.arguments())
            .put("arg_words", self.values.words())
            .put("locals", self.values.locals())
            .display("arguments", self.values.parenthesized(self.endian))
            .display("variables", self.values.lines(self.endian))
            .display("handled", Cell::or_null(self.handled(), Cell::text))
            .display("symbol", Cell::Symbol(self.unmarked_symbol()))
            .display("frame_pointer", Cell::or_null(self.frame_pointer, Cell::Addr))
            .display("nameless", Cell::or_null(self.nameless_in(), Cell::text))
            .display("place", Cell::or_null(self.place(), Cell::text))
            .display("source", Cell::or_null(self.source(), Cell::text))
            .display("told", Cell::or_null(self.told(), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        let (fp, index) = (self.frame_pointer?, self.frame.physical);
        Some(match (self.tid, self.task) {
            (Some(tid), _) => Dot::Frame { fp, tid, index },
            (None, Some(task)) => Dot::TaskFrame { fp, task, index },
            (None, None) => Dot::Addr(fp),
        })
    }
}
