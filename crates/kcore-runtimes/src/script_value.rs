//! Values of script languages: trees of what a runtime knows of its objects, the same for all runtimes.

use std::borrow::Cow;
use std::sync::Arc;

use kcore_mem::Addr;

/// The `kind` of a node that is a variable with its value as its only part.
const VARIABLE: &str = "variable";

/// The language whose spelling is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// JavaScript, laid out as mdb_v8's `::jsprint` does.
    JavaScript,
    /// Python, as `repr` spells it.
    Python,
    /// Ruby, as `inspect` spells it, to 3.3.
    Ruby,
    /// Lua, as a program would write it.
    Lua,
    /// PHP, with arrays as a program would write them.
    Php,
    /// Perl, as `Data::Dumper` would write it on one line.
    Perl,
    /// Java, laid out as JavaScript is, with the names of fields as sources have them.
    Java,
}

/// A value of a script language.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptNode {
    /// What is typed to ask about it again: an address as the language has it, with its tag; `None`
    /// where nothing is.
    pub at: Option<Addr>,
    /// What it is, in a word for machines: `string`, `map`, `promise`.
    pub kind: &'static str,
    /// What made it; `None` of what is no object.
    pub class: Option<Arc<str>>,
    /// What it says without its parts.
    pub scalar: Option<ScriptScalar>,
    /// Its parts; `None` of what has none by its nature.
    pub parts: Option<ScriptParts>,
    /// Its length in units of its kind: characters, elements, entries, bytes.
    pub length: Option<u64>,
}

/// What a value says without its parts.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptScalar {
    /// A word of the language: `null`, `true`.
    Word(&'static str),
    /// A number.
    Number(f64),
    /// An integer of any length, in digits.
    Integer(Arc<str>),
    /// Text.
    Text {
        /// The text, or the beginning of it.
        text: Arc<str>,
        /// Why it ends where it does.
        rest: TextRest,
    },
    /// Text that Unicode does not have: its code points, with surrogates that stand alone.
    Points {
        /// They, or the first of them.
        points: Arc<[u32]>,
        /// Why it ends where it does.
        rest: TextRest,
    },
    /// A symbol, and its description.
    Symbol(Option<Arc<str>>),
    /// Something that can be called.
    Function {
        /// `function`, `class`.
        word: &'static str,
        /// Its name.
        name: Option<Arc<str>>,
        /// Its file.
        file: Option<Arc<str>>,
        /// The line where it begins, from 1.
        line: Option<u32>,
    },
    /// A time in milliseconds since 1970; not a number where it is none.
    Time(f64),
    /// A regular expression.
    Pattern {
        /// Its text.
        source: Arc<str>,
        /// Its flags.
        flags: Arc<str>,
    },
    /// Where something lies.
    Address(Addr),
    /// Parts that a limit hides.
    Elided,
    /// What the language has no words for.
    Note(Cow<'static, str>),
}

/// The parts of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptParts {
    /// Whether they are a list: those with an index stand without it.
    pub is_list: bool,
    /// They, in order.
    pub parts: Vec<ScriptPart>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptPart {
    /// What it is called.
    pub label: ScriptLabel,
    /// Its value.
    pub value: ScriptNode,
    /// Whether loops over the value do not see it.
    pub is_hidden: bool,
}

/// What a part of a value is called.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptLabel {
    /// An element, by its index.
    Index(u64),
    /// A member, by its name.
    Name(Arc<str>),
    /// A member, by the description of a symbol.
    Symbol(Arc<str>),
    /// A member that its class alone sees, by its name.
    Private(Arc<str>),
    /// An entry, by its key.
    Entry(Box<ScriptNode>),
    /// One of several without a name or an order that counts.
    Item,
    /// What the runtime knows of the value, which is no member: `state` of a promise.
    Fact(&'static str),
}

/// Whether text goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TextRest {
    /// It ends there.
    #[default]
    None,
    /// A limit ends it.
    Cut,
    /// What follows cannot be read.
    Unreadable,
}

impl ScriptNode {
    /// A value that is one word, number or text.
    pub fn scalar(kind: &'static str, scalar: ScriptScalar) -> Self {
        Self { kind, scalar: Some(scalar), ..Self::default() }
    }

    /// A variable with what it says, as text assigns one.
    pub fn variable(name: &str, value: Self) -> Self {
        let part = ScriptPart::new(ScriptLabel::Name(name.into()), value);
        let parts = ScriptParts { is_list: false, parts: vec![part], is_cut: false };
        Self { kind: VARIABLE, parts: Some(parts), ..Self::default() }
    }

    /// Whether it is a variable with what that says.
    pub fn is_variable(&self) -> bool {
        self.kind == VARIABLE
    }

    /// The text that it is, of a name or a fact.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        let text = ScriptScalar::Text { text: text.into(), rest: TextRest::None };
        Self::scalar("string", text)
    }
}

impl ScriptPart {
    /// A part that loops see.
    pub const fn new(label: ScriptLabel, value: ScriptNode) -> Self {
        Self { label, value, is_hidden: false }
    }
}
