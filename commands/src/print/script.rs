//! Objects of languages: what lies at an address without a symbol, in the heap of a runtime, and variables of frames.

use std::borrow::Cow;

use kcore::{Addr, Dialect, ScriptNode, VariableLimits};
use kcore_dcmd::{
    Args, Cell, Cx, DcmdError, Dot, Fields, Record, Result, ScriptCell, ScriptStyle, View,
};

use super::options::Options;
use crate::frame_operand::FrameOperand;
use crate::script_variable::{self, ScriptNamed};

/// Objects inside of each other that are shown, unless option `-s` says how many.
const DEPTH: u32 = 3;
/// Objects inside of each other that are shown, at most: each level takes room on the stack.
const MAX_DEPTH: u64 = 500;
/// Elements of one object that are shown, at most.
const MAX_ELEMENTS: u64 = 1 << 16;

/// The object at the address of a call that names no type.
pub fn find(cx: &Cx<'_>, args: &Args, options: &Options) -> Option<ScriptObject> {
    let is_bare = args.operands().is_empty() && !options.immediate;
    let at = cx.addr().filter(|_| is_bare)?.addr();
    let core = cx.core();
    core.symbols().at(at).is_none_or(|symbol| symbol.offset != 0).then_some(())?;
    let (dialect, node) = core.memory().script_value(at, limits(options))?;
    Some(ScriptObject {
        at: Some(at),
        path: None,
        node,
        dialect,
        addresses: options.style.addresses,
    })
}

/// What the words name in a frame of a language, each a variable or a path from one: in the current frame, or in that of
/// a thread, task or frame that is handed on. `None` where the first of them is no variable of such a frame.
///
/// # Errors
/// When a word leads nowhere.
pub fn named(cx: &Cx<'_>, args: &Args, options: &Options) -> Result<Option<Vec<ScriptObject>>> {
    let is_of_frame = matches!(
        cx.addr(),
        None | Some(Dot::Thread(_) | Dot::Task(_) | Dot::Frame { .. } | Dot::TaskFrame { .. })
    );
    let words = script_variable::words(args.operands()).filter(|_| is_of_frame);
    let (Some(words), Ok(meant)) = (words, FrameOperand::of(cx)) else { return Ok(None) };
    let mut objects = Vec::new();
    for word in words {
        match script_variable::named(cx, &meant, word, limits(options))? {
            Some(found) => objects.push(ScriptObject::of_variable(found, options)),
            None if objects.is_empty() => return Ok(None),
            None => return Err(DcmdError::failed(format!("no variable of the frame is {word}"))),
        }
    }
    Ok(Some(objects))
}

fn limits(options: &Options) -> VariableLimits {
    let depth = options.limits.depth.map(|depth| depth.min(MAX_DEPTH));
    VariableLimits {
        locals: true,
        depth: depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(DEPTH),
        entries: options.limits.elements.unwrap_or(MAX_ELEMENTS).min(MAX_ELEMENTS),
        characters: options.limits.characters.unwrap_or(u64::MAX),
    }
}

/// An object of a language.
pub struct ScriptObject {
    /// Where it lies; `None` of a value without a place of its own.
    at: Option<Addr>,
    /// What was typed, of a variable and of what a path leads to.
    path: Option<String>,
    node: ScriptNode,
    dialect: Dialect,
    addresses: bool,
}

impl ScriptObject {
    fn of_variable(found: ScriptNamed, options: &Options) -> Self {
        let ScriptNamed { word, dialect, value } = found;
        let addresses = options.style.addresses;
        Self { at: value.at, path: Some(word), node: value, dialect, addresses }
    }

    /// Shows it.
    ///
    /// # Errors
    /// If the output ends.
    pub fn emit(&self, cx: &mut Cx<'_>) -> Result<()> {
        cx.emit(self)
    }

    const fn language(&self) -> &'static str {
        match self.dialect {
            Dialect::JavaScript => "javascript",
            Dialect::Python => "python",
            Dialect::Ruby => "ruby",
            Dialect::Lua => "lua",
            Dialect::Php => "php",
            Dialect::Perl => "perl",
            Dialect::Java => "java",
        }
    }
}

impl Record for ScriptObject {
    fn kind(&self) -> &'static str {
        "script_object"
    }

    fn view(&self) -> View {
        View::Line("{shown}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let style = ScriptStyle { dialect: self.dialect, addresses: self.addresses, indent: 0 };
        let cell = |node| Cell::Script(Box::new(ScriptCell { node, style }));
        let shown = match &self.path {
            Some(path) => Cow::Owned(ScriptNode::variable(path, self.node.clone())),
            None => Cow::Borrowed(&self.node),
        };
        out.addr("address", self.at)
            .opt_text("path", self.path.as_deref())
            .text("language", self.language())
            .put("value", cell(Cow::Borrowed(&self.node)))
            .display("shown", cell(shown));
    }

    fn dot(&self) -> Option<Dot> {
        self.at.map(Dot::Addr)
    }
}
