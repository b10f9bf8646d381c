//! The options of dcmds that show frames of JavaScript.

use kcore::v8::script_tree::Tree;
use kcore::v8::{SourceLine, V8};
use kcore::{Core, Tid};
use kcore_dcmd::{Args, Cx, DcmdError, Opt, Result, ScriptNode};

use super::frame_row::{self, FrameRow, Layout, Verbose};
use super::frames::{JsFrame, Operand, StackEntry};
use crate::operand;

/// `-v`, `-f`, `-p` and `-n`.
pub const VERBOSE: Opt = Opt {
    flag: 'v',
    value: None,
    help: "also show file, position, this, arguments and source text",
};
/// See [`VERBOSE`].
pub const FUNCTION: Opt =
    Opt { flag: 'f', value: Some("func"), help: "show only frames of this function" };
/// See [`VERBOSE`].
pub const PROPERTY: Opt = Opt {
    flag: 'p',
    value: Some("prop"),
    help: "show only one property of each frame: file, posn, this, arg1, arg2",
};
/// See [`VERBOSE`].
pub const LINES: Opt = Opt {
    flag: 'n',
    value: Some("lines"),
    help: "with -v, show this many source lines before and after (default 5)",
};

/// Lines of source text before and after a line, at most.
pub const MAX_LINES: u32 = 100_000;

/// What is shown of frames.
pub struct FrameOptions {
    /// How they are laid out.
    pub layout: Layout,
    verbose: bool,
    function: Option<String>,
    property: Option<String>,
    lines: u32,
}

impl FrameOptions {
    /// Reads them.
    ///
    /// # Errors
    /// If an option is not a number.
    pub fn new(args: &Args) -> Result<Self> {
        let text = |flag: char| args.value(flag).map(kcore_dcmd::Arg::to_text);
        let property = text('p');
        if let Some(unknown) = property.as_deref().filter(|name| !frame_row::is_property(name)) {
            let known = "file, posn, this, arg1, arg2 and so on";
            return Err(DcmdError::usage(format!(
                "unknown property -- {unknown} (known: {known})"
            )));
        }
        Ok(Self {
            layout: if args.has('a') { Layout::All } else { Layout::Brief },
            verbose: args.has('v'),
            function: text('f'),
            property,
            lines: lines(args)?,
        })
    }

    /// Whether only one function or property is shown, and no other frame.
    pub const fn is_choice(&self) -> bool {
        self.function.is_some() || self.property.is_some()
    }

    /// Whether a frame belongs to the wanted function. Without one, every frame does.
    fn is_meant(&self, frame: &JsFrame) -> bool {
        let name = frame.named.location.function.as_deref().unwrap_or_default();
        self.function.as_deref().is_none_or(|wanted| frame_row::is_called(name, wanted))
    }

    /// The message if no frame matches; `None` if one does.
    pub fn nothing_found(&self, shown: &[StackEntry]) -> Option<String> {
        let mut frames = shown.iter().filter_map(|shown| match shown {
            StackEntry::Js(frame) if self.is_meant(frame) => Some(frame),
            _ => None,
        });
        let property = self.property.as_deref();
        match (&self.function, property) {
            (None, None) => None,
            (_, Some(name)) if frames.clone().next().is_some() => {
                let has = frames.any(|frame| frame_row::property(frame, name).is_some());
                (!has).then(|| format!("no such frame has {name}"))
            }
            (_, None) if frames.next().is_some() => None,
            (Some(wanted), _) => Some(format!("no frame of function {wanted}")),
            (None, Some(_)) => Some("no JavaScript frame".to_owned()),
        }
    }

    /// Emits the wanted parts of a frame.
    ///
    /// # Errors
    /// As [`Cx::emit`].
    pub fn emit(&self, cx: &mut Cx<'_>, shown: &StackEntry, tid: Option<Tid>) -> Result<()> {
        let core = cx.core();
        let StackEntry::Js(frame) = shown else {
            if self.is_choice() {
                return Ok(());
            }
            return cx.emit(&FrameRow { shown, tid, layout: self.layout, verbose: None });
        };
        if !self.is_meant(frame) {
            return Ok(());
        }
        if let Some(wanted) = &self.property {
            return match frame_row::property(frame, wanted) {
                // A text is no address.
                Some(row) if row.word.is_some() || !cx.input().pipe_out => cx.emit(&row),
                _ => Ok(()),
            };
        }
        let verbose = self.verbose.then(|| self.verbose(core, frame));
        cx.emit(&FrameRow { shown, tid, layout: self.layout, verbose })
    }

    fn verbose(&self, core: &Core, frame: &JsFrame) -> Verbose {
        let v8s: Vec<&V8> = core.runtimes().of::<V8>().collect();
        let location = &frame.named.location;
        let source = || {
            let function = frame.details.as_ref()?.function;
            let line = location.line.filter(|_| self.lines > 0)?;
            if location.generated.is_some() {
                return original_lines(core, location.file.as_deref()?, line, self.lines);
            }
            v8s.iter().find_map(|v8| v8.source_lines(core, function, line..=line, self.lines))
        };
        let node = |operand: &Operand| -> Option<ScriptNode> {
            let value = operand.value.as_ref()?;
            let function = frame.details.as_ref()?.function;
            let v8 = v8s.iter().find(|v8| v8.owns_object(core, function))?;
            Some(Tree { host: core, v8 }.node(value))
        };
        Verbose {
            source: source().unwrap_or_default(),
            values: frame.operands.iter().map(node).collect(),
        }
    }
}

/// Lines of the source that a source map names, where its file is found.
fn original_lines(core: &Core, file: &str, line: u32, around: u32) -> Option<Vec<SourceLine>> {
    let path = file.strip_prefix("file://").unwrap_or(file);
    let first = line.saturating_sub(around).max(1);
    let found = core.files().source(path, first.into(), line.saturating_add(around).into()).ok()?;
    let lines = (first..).zip(found.lines);
    Some(
        lines
            .map(|(number, text)| SourceLine { number, text, is_current: number == line })
            .collect(),
    )
}

/// The value of `-n`, in decimal.
///
/// # Errors
/// When it is no number.
pub fn lines(args: &Args) -> Result<u32> {
    let Some(value) = args.value('n') else { return Ok(5) };
    let lines = operand::as_decimal(value).and_then(|lines| u32::try_from(lines).ok());
    lines.filter(|lines| *lines <= MAX_LINES).ok_or_else(|| {
        let value = value.to_text();
        DcmdError::usage(format!("invalid number of lines -- {value} (at most {MAX_LINES})"))
    })
}
