//! Objects of languages: what lies at an address without a symbol, in the heap of a runtime.

use kcore::{Addr, Dialect, ScriptNode, VariableLimits};
use kcore_dcmd::{Args, Cell, Cx, Dot, Fields, Record, Result, ScriptCell, ScriptStyle, View};

use super::options::Options;

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
    core.symbol_at(at).is_none_or(|symbol| symbol.offset != 0).then_some(())?;
    let depth = options.limits.depth.map(|depth| depth.min(MAX_DEPTH));
    let limits = VariableLimits {
        locals: true,
        depth: depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(DEPTH),
        entries: options.limits.elements.unwrap_or(MAX_ELEMENTS).min(MAX_ELEMENTS),
        characters: options.limits.characters.unwrap_or(u64::MAX),
    };
    let (dialect, node) = core.script_value(at, limits)?;
    Some(ScriptObject { at, node, dialect, addresses: options.style.addresses })
}

/// An object of a language.
pub struct ScriptObject {
    at: Addr,
    node: ScriptNode,
    dialect: Dialect,
    addresses: bool,
}

impl ScriptObject {
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
        View::Line("{value}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let style = ScriptStyle { dialect: self.dialect, addresses: self.addresses, indent: 0 };
        let cell = ScriptCell { node: std::borrow::Cow::Borrowed(&self.node), style };
        out.addr("address", self.at)
            .text("language", self.language())
            .put("value", Cell::Script(Box::new(cell)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.at))
    }
}
