//! The arguments and locals of the frames of a stack, read for its lines.

use std::borrow::Cow;

use kcore::{
    Content, Core, Dialect, Endian, FrameVariable, KnownFrames, Language, Limits, NamedFrame,
    Number, Process, ScriptNode, ScriptVariable, ScriptVariables, Stack, Type, TypeKind, Value,
    VariableKind, VariableLimits,
};

use crate::{Cell, Integers, ScriptCell, ScriptStyle, ValueCell, ValueStyle};

/// How much is read of one variable: what a line, or a tree that a script looks at, can hold.
pub const LIMITS: Limits = Limits {
    depth: Some(3),
    elements: Some(16),
    characters: Some(256),
    pointers: 1,
    raw: false,
    values: 1 << 8,
};

/// The same of a variable of a script language.
const SCRIPT_LIMITS: VariableLimits =
    VariableLimits { locals: false, depth: 2, entries: 16, characters: 256 };

/// Innermost frames that have their variables, as many as native ones at most.
const MAX_OF_LANGUAGES: usize = 1 << 12;

/// Blanks before the variables of a frame, as [`Layout::Verbose`](super::Layout::Verbose) has them.
const INDENT: usize = 21;

/// Arguments that stand between parentheses when nobody says how many, as in MDB.
pub const DEFAULT_ARGUMENTS: usize = 6;

/// What is read of the frames of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableChoice {
    /// Arguments, of those that are pointers in C and its kin where they lead alone: what stands between
    /// parentheses.
    BareArguments,
    /// Arguments.
    Arguments,
    /// Locals as well.
    All,
}

/// Reads the variables of the frames of one stack.
pub struct ValueReader<'c> {
    core: &'c Core,
    /// The process as the session names and prints what lies in it.
    process: &'c dyn Process,
    known: KnownFrames<'c>,
    wanted: VariableChoice,
    integers: Integers,
}

impl<'c> ValueReader<'c> {
    /// For a stack.
    pub fn new(core: &'c Core, stack: &Stack, wanted: VariableChoice) -> Self {
        let known = core.stacks().known_frames(stack, stack.frames.len());
        Self { core, process: core, known, wanted, integers: Integers::Natural }
    }

    /// The same, with values as a process of its own names and prints them.
    #[must_use]
    pub fn in_process(self, process: &'c dyn Process) -> Self {
        Self { process, ..self }
    }

    /// The same, with integers written in this way.
    #[must_use]
    pub fn with_integers(self, integers: Integers) -> Self {
        Self { integers, ..self }
    }

    /// The variables of a frame.
    pub fn of(&self, frame: &NamedFrame) -> FrameValues {
        FrameValues { integers: self.integers, ..self.read(frame) }
    }

    fn read(&self, frame: &NamedFrame) -> FrameValues {
        if !frame.location.kind.is_machine_code() {
            return self.of_language(frame);
        }
        let found = match self.wanted {
            VariableChoice::BareArguments | VariableChoice::Arguments => {
                self.known.arguments(frame)
            }
            VariableChoice::All => self.known.variables(frame),
        };
        let is_told = found.as_ref().is_some_and(|found| !found.is_empty());
        let missing = if is_told { None } else { self.missing(frame) };
        let words = if is_told { None } else { self.known.argument_words(frame) };
        let Some(found) = found else {
            return FrameValues {
                missing,
                words,
                shown: DEFAULT_ARGUMENTS,
                all: self.wanted == VariableChoice::All,
                ..FrameValues::default()
            };
        };
        let is_argument = |variable: &FrameVariable| variable.kind == VariableKind::Argument;
        let (arguments, locals): (Vec<_>, Vec<_>) = found.into_iter().partition(is_argument);
        let read = |all: Vec<FrameVariable>| {
            all.into_iter().map(|variable| self.value_of(variable)).collect()
        };
        let locals = (self.wanted == VariableChoice::All).then(|| read(locals));
        let all = self.wanted == VariableChoice::All;
        let arguments = Some(read(arguments));
        FrameValues {
            arguments,
            locals,
            all,
            missing,
            words,
            shown: DEFAULT_ARGUMENTS,
            ..FrameValues::default()
        }
    }

    /// The variables of a frame that a runtime told of. The parentheses of the frame's line stay empty, since they hold
    /// numbers.
    fn of_language(&self, frame: &NamedFrame) -> FrameValues {
        let all = self.wanted == VariableChoice::All;
        let limits = VariableLimits { locals: all, ..SCRIPT_LIMITS };
        let is_shown =
            self.wanted != VariableChoice::BareArguments && frame.index < MAX_OF_LANGUAGES;
        let script = is_shown.then(|| self.known.script_variables(frame, limits)).flatten();
        FrameValues { script, all, ..FrameValues::default() }
    }

    /// The file that has the variables of a frame, if it was not found.
    fn missing(&self, frame: &NamedFrame) -> Option<String> {
        let missing = self.core.files().missing_debug_at(frame.pc()?.lookup())?;
        Some(format!("<variables are in {}, which was not found>", missing.file))
    }

    fn value_of(&self, variable: FrameVariable) -> NamedValue {
        let is_bare = self.wanted == VariableChoice::BareArguments;
        let bare = is_bare.then(|| NamedValue::bare_pointer(self.core, &variable)).flatten();
        bare.unwrap_or_else(|| NamedValue::new(self.process, variable, &LIMITS))
    }
}

/// The variables of a frame; `None` where nothing tells of them, or nobody asked.
#[derive(Clone, Debug, Default)]
pub struct FrameValues {
    /// How integers are written.
    integers: Integers,
    arguments: Option<Vec<NamedValue>>,
    locals: Option<Vec<NamedValue>>,
    /// Those of a frame of a language.
    script: Option<ScriptVariables>,
    /// The arguments as the traces of a runtime print them, where nothing else tells them.
    words: Option<String>,
    /// Whether locals were asked for.
    all: bool,
    /// What stands in the place of variables whose file was not found.
    missing: Option<String>,
    /// How many arguments stand between the parentheses.
    shown: usize,
}

impl FrameValues {
    /// The same, with so many arguments between the parentheses.
    pub const fn showing(mut self, arguments: usize) -> Self {
        self.shown = arguments;
        self
    }

    /// The arguments as machines read them.
    pub fn arguments(&self) -> Cell<'_> {
        match &self.script {
            Some(script) => script_trees(script, true),
            None => trees(self.arguments.as_deref()),
        }
    }

    /// The locals as machines read them.
    pub fn locals(&self) -> Cell<'_> {
        match &self.script {
            Some(script) if self.all => script_trees(script, false),
            _ => trees(self.locals.as_deref()),
        }
    }

    /// The arguments as the traces of a runtime print them, where nothing else tells them.
    pub fn words(&self) -> Cell<'_> {
        Cell::or_null(self.words.as_deref(), Cell::text)
    }

    /// What stands between the parentheses of MDB: bare numbers, `?` for what is not known, or the words of a runtime.
    /// Nothing where no argument is.
    pub fn parenthesized(&self, endian: Endian) -> Cell<'_> {
        if let Some(words) = self.words.as_ref().filter(|_| self.shown > 0) {
            return Cell::List(vec![Cell::text(words.as_str())]);
        }
        let arguments = self.arguments.as_deref().unwrap_or_default();
        if arguments.iter().all(NamedValue::is_absent) {
            return Cell::Null;
        }
        let shown = arguments.iter().take(self.shown);
        Cell::List(shown.map(|argument| argument.bare(self.style(endian))).collect())
    }

    const fn style(&self, endian: Endian) -> ValueStyle {
        ValueStyle { integers: self.integers, ..ValueStyle::inline(endian) }
    }

    /// Each variable with its name, arguments first, where locals were asked for.
    pub fn lines(&self, endian: Endian) -> Cell<'_> {
        if let Some(script) = self.script.as_ref().filter(|_| self.all) {
            let lines = script.variables.iter().map(|it| script_line(it, script.dialect));
            return Cell::List(lines.collect());
        }
        if !self.all || (self.locals.is_none() && self.missing.is_none()) {
            return Cell::Null;
        }
        let all = self.arguments.iter().chain(&self.locals).flatten();
        let all = all.map(|variable| variable.named(self.style(endian)));
        let missing = self.missing.iter().map(|missing| Cell::text(missing.as_str()));
        Cell::List(all.chain(missing).collect())
    }
}

/// A variable that was read.
#[derive(Clone, Debug)]
pub struct NamedValue {
    /// Its name; empty of an argument without one.
    pub name: String,
    /// Its type as C and C++ spell it.
    pub ty: Option<String>,
    /// Whether it is an argument.
    pub is_argument: bool,
    /// What it says, or why it does not.
    pub value: Value,
}

impl NamedValue {
    /// Reads a variable.
    pub fn new(process: &dyn Process, variable: FrameVariable, limits: &Limits) -> Self {
        let value = match &variable.object {
            Ok(object) => object.value(process, limits),
            Err(why) => Value {
                ty: variable.ty.clone().unwrap_or_else(Type::void),
                at: None,
                bits: None,
                content: Content::Absent(why.clone()),
            },
        };
        Self {
            name: variable.name.as_deref().unwrap_or_default().to_owned(),
            ty: variable.ty.as_ref().map(Type::spelled),
            is_argument: variable.kind == VariableKind::Argument,
            value,
        }
    }

    /// Where a pointer leads, without what lies there; `None` of what is none. Some pointers of Go stand for
    /// maps and channels.
    fn bare_pointer(core: &Core, variable: &FrameVariable) -> Option<Self> {
        let object = variable.object.as_ref().ok()?;
        let ty = object.complete_type(core).ok()?;
        let is_pointer = matches!(ty.kind(), TypeKind::Pointer(_));
        (is_pointer && ty.language() != Some(Language::Go)).then_some(())?;
        let content = Content::Integer(object.number(core).ok()?);
        Some(Self {
            name: variable.name.as_deref().unwrap_or_default().to_owned(),
            ty: None,
            is_argument: variable.kind == VariableKind::Argument,
            value: Value { ty, at: object.address(), bits: None, content },
        })
    }

    /// Whether it is nowhere.
    pub fn is_absent(&self) -> bool {
        matches!(self.value.content, Content::Absent(_))
    }

    /// Why there is no value, in JSON's word.
    pub fn absence(&self) -> Cell<'_> {
        match &self.value.content {
            Content::Absent(why) => Cell::text(why.as_str()),
            _ => Cell::Null,
        }
    }

    /// The value with its name.
    pub fn named(&self, style: ValueStyle) -> Cell<'_> {
        Cell::Value(Box::new(ValueCell::new(self.name.as_str(), &self.value, style)))
    }

    /// The value without its name: a number as such.
    fn bare(&self, style: ValueStyle) -> Cell<'_> {
        let is_address = matches!(self.value.ty.kind(), TypeKind::Pointer(_));
        let is_natural = style.integers == Integers::Natural || is_address;
        let number =
            |number: &Number| u64::try_from(number.bits).ok().filter(|_| is_natural).map(Cell::Hex);
        let number = match &self.value.content {
            Content::Absent(_) => Some(Cell::text("?")),
            Content::Integer(value) | Content::Bool(value) => number(value),
            Content::Enum(value) => number(&value.number),
            Content::Character(code) if is_natural => Some(Cell::Hex(u64::from(*code))),
            Content::Pointer(pointer) => pointer.to.map(|to| Cell::Hex(to.get())),
            _ => None,
        };
        number.unwrap_or_else(|| Cell::Value(Box::new(ValueCell::new("", &self.value, style))))
    }

    /// What it says, as a tree; nothing where it is absent.
    pub fn value_tree(&self) -> Cell<'_> {
        match self.is_absent() {
            true => Cell::Null,
            false => {
                let style = ValueStyle::inline(Endian::Little);
                Cell::Value(Box::new(ValueCell::new("", &self.value, style)))
            }
        }
    }

    /// As a stack has it in JSON.
    fn tree(&self) -> Cell<'_> {
        let name = Some(self.name.as_str()).filter(|name| !name.is_empty());
        Cell::Object(vec![
            ("name", Cell::or_null(name, Cell::text)),
            ("type", Cell::or_null(self.ty.as_deref(), Cell::text)),
            ("value", self.value_tree()),
            ("absent", self.absence()),
        ])
    }
}

fn trees(variables: Option<&[NamedValue]>) -> Cell<'_> {
    Cell::or_null(variables, |all| Cell::List(all.iter().map(NamedValue::tree).collect()))
}

/// The arguments of a frame of a language, or its locals, as a stack has them in JSON.
fn script_trees(script: &ScriptVariables, arguments: bool) -> Cell<'_> {
    let wanted = script.variables.iter().filter(|it| it.is_argument == arguments);
    Cell::List(wanted.map(|it| script_tree(it, script.dialect)).collect())
}

fn script_tree(variable: &ScriptVariable, dialect: Dialect) -> Cell<'_> {
    Cell::Object(vec![
        ("name", Cell::text(&*variable.name)),
        ("type", Cell::or_null(variable.value.class.as_deref(), Cell::text)),
        ("value", script_cell(Cow::Borrowed(&variable.value), dialect)),
        ("absent", Cell::Null),
    ])
}

/// A variable of a frame of a language with its name.
fn script_line(variable: &ScriptVariable, dialect: Dialect) -> Cell<'_> {
    let named = ScriptNode::variable(&variable.name, variable.value.clone());
    script_cell(Cow::Owned(named), dialect)
}

fn script_cell(node: Cow<'_, ScriptNode>, dialect: Dialect) -> Cell<'_> {
    let style = ScriptStyle { dialect, addresses: false, indent: INDENT };
    Cell::Script(Box::new(ScriptCell { node, style }))
}
