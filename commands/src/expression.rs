//! Typed expressions among the words of a command line, and in braces within expressions of the language.

use kcore::expression::{ExpressionError, ExpressionFault, ExpressionNames, evaluate, word};
use kcore::{
    Addr, Content, FunctionType, Limits, Number, Object, PathEnd, PathWalker, PathWords, Type,
    TypeKind, TypeNode,
};
use kcore_dcmd::{Arg, Cx, DcmdError, Dot, NameScope, Result, TypedExpressions};

use crate::enumerator;
use crate::member_path;
use crate::operand;
use crate::session_process::SessionProcess;
use crate::type_words::paths;
use crate::variable::{self, Named};

/// Operators that may stand between blanks, so that the words on both sides belong together.
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "<<", ">>", "&", "&&", "^", "@", "?",
];

/// The objects of an expression that is more than a path; `None` if the words begin with a path or a type. Only a
/// pipe, or nothing, may stand before it.
///
/// # Errors
/// Why an expression that begins with a variable has no value, and the errors of the sink.
pub fn named(cx: &mut Cx<'_>, owner: Option<Dot>, words: &[Arg]) -> Result<Option<Named>> {
    let Some((text, members)) = split(cx, words) else { return Ok(None) };
    let scope = NameScope { owner, ..cx.names() };
    match evaluated(scope, &text) {
        Ok(end) => shown(cx, end, members),
        Err(error) if begins_with_variable(scope, &text) && scope.type_named(&text).is_err() => {
            Err(failed(&text, &error))
        }
        Err(_) => Ok(None),
    }
}

/// The object that a name means which is none of a variable, nor of a type: a function, or a member of the object that
/// a method was called for.
///
/// # Errors
/// The errors of the sink.
pub fn last_resort(cx: &mut Cx<'_>, words: &[Arg]) -> Result<Option<Named>> {
    let words = paths(words);
    let Some((Arg::Text(text), members)) = words.split_first() else { return Ok(None) };
    match evaluated(cx.names(), text) {
        Ok(end) => shown(cx, end, members.to_vec()),
        Err(error @ ExpressionError { fault: ExpressionFault::Ambiguous(..), .. }) => {
            Err(failed(text, &error))
        }
        Err(_) => Ok(None),
    }
}

fn shown(cx: &mut Cx<'_>, end: PathEnd, members: Vec<Arg>) -> Result<Option<Named>> {
    member_path::warn(cx, &end.warnings)?;
    let mut parts = end.parts.into_iter();
    let Some(first) = parts.next() else { return Ok(None) };
    let (object, path) = (first.object, Some(first.path));
    Ok(Some(Named { object, path, members, others: parts.collect() }))
}

/// Why words that can be nothing but an expression have no value.
pub fn error_of(cx: &Cx<'_>, words: &[Arg]) -> Option<DcmdError> {
    let (text, _) = split(cx, &paths(words))?;
    let error = evaluated(cx.names(), &text).err()?;
    let has_operator = text.contains(['+', '-', '/', '=', '$', '"', '%', '^', '|', '@', '?'])
        || text.contains("<<")
        || text.contains(">>")
        || text.starts_with(is_digit);
    let is_type = text.ends_with(['>', '*', '&']) || text.contains(['`', ' ']) && !has_operator;
    (!is_type).then(|| failed(&text, &error))
}

/// The value of an index that is no number.
pub fn index(scope: NameScope<'_>, text: &str) -> Option<u64> {
    // `<name` is a variable of the session.
    let end = if text.starts_with('<') { return None } else { evaluated(scope, text).ok()? };
    let [part] = end.parts.as_slice() else { return None };
    word_of(scope, &part.object).ok()
}

/// The one object that an expression gives.
///
/// # Errors
/// When it has no value, or several.
pub fn object(scope: NameScope<'_>, text: &str) -> Result<Object> {
    let end = evaluated(scope, text).map_err(|error| failed(text, &error))?;
    let [part] = end.parts.as_slice() else {
        return Err(DcmdError::failed(format!("{text}: one value is needed")));
    };
    Ok(part.object.clone())
}

/// The text of the expression that begins the words, and those behind it; `None` where they begin with a path or a type.
fn split(cx: &Cx<'_>, words: &[Arg]) -> Option<(String, Vec<Arg>)> {
    let (Arg::Text(first), rest) = words.split_first()? else { return None };
    let is_joined = |word: &Arg| matches!(word, Arg::Text(word) if OPERATORS.contains(&&**word));
    if rest.len() > 1 && rest.first().is_some_and(is_joined) {
        let is_variable = !PathWalker::is_path(first) || names_value(cx, first);
        let text = words.iter().map(Arg::to_text).collect::<Vec<_>>().join(" ");
        return is_variable.then_some((text, Vec::new()));
    }
    let bare = without_module(first);
    let is_number = PathWalker::first_name(bare).is_some_and(|name| name.starts_with(is_digit));
    // A path takes a cast for another view of the same bytes, and an expression converts numbers.
    let is_path = PathWalker::is_path(bare)
        && !PathWalker::has_cast(bare)
        && !first.starts_with('$')
        && !is_number;
    (!is_path).then(|| (first.clone(), rest.to_vec()))
}

/// A path without the module or file before its last backquote.
fn without_module(path: &str) -> &str {
    let is_module = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-' | '`');
    let split = path.rsplit_once('`').filter(|(module, _)| module.chars().all(is_module));
    split.map_or(path, |(_, bare)| bare)
}

const fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Whether a name at its beginning is that of a variable, so that it can be no type.
fn begins_with_variable(scope: NameScope<'_>, text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '`');
    let text = text.trim_start_matches(['*', '&', '(', '-', '~', '!', ' ']);
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    text.get(..end).is_some_and(|name| variable::object(scope, name).is_some())
}

fn names_value(cx: &Cx<'_>, path: &str) -> bool {
    let name = PathWalker::first_name(path);
    name.is_some_and(|name| {
        variable::object(cx.names(), &name).is_some()
            || !matches!(enumerator::object(cx.names(), &name), Ok(None))
    })
}

fn evaluated(scope: NameScope<'_>, text: &str) -> std::result::Result<PathEnd, ExpressionError> {
    evaluate(&SessionProcess::of_scope(scope), &SessionNames(scope), text)
}

fn failed(text: &str, error: &ExpressionError) -> DcmdError {
    DcmdError::failed(format!("{text}: {error}"))
}

/// What names mean in a session.
struct SessionNames<'a>(NameScope<'a>);

impl PathWords for SessionNames<'_> {
    fn number(&self, text: &str) -> std::result::Result<u64, String> {
        let decimal = operand::as_decimal(&Arg::Text(text.to_owned())).map(|index| index as u64);
        let number = decimal.or_else(|| index(self.0, text));
        number.ok_or_else(|| format!("invalid index '{text}'"))
    }

    fn type_named(&self, text: &str) -> std::result::Result<Type, String> {
        self.0.type_named(text).map_err(|error| error.to_string())
    }
}

impl ExpressionNames for SessionNames<'_> {
    fn object(&self, name: &str) -> Option<Object> {
        if let Some(global) = name.strip_prefix("::") {
            return variable::global(self.0, global);
        }
        let name = scoped(name);
        let function = || self.function(&name).filter(|_| !enumerator::is_near(self.0, &name));
        variable::object(self.0, &name).or_else(function)
    }

    fn enumerator(&self, name: &str) -> std::result::Result<Option<Object>, Vec<String>> {
        enumerator::object(self.0, &scoped(name))
    }

    fn register(&self, name: &str) -> Option<Object> {
        let shell = self.0.shell;
        let frame = shell.current_frame();
        let name = self.machine_name(name)?;
        let value = match self.0.owner {
            Some(Dot::Thread(tid)) => self.0.core.registers().named(tid, 0, name).ok()??,
            Some(Dot::Frame { tid, index, .. }) => {
                self.0.core.registers().named(tid, index, name).ok()??
            }
            Some(Dot::Task(_) | Dot::TaskFrame { .. }) => return None,
            _ => self.0.core.registers().named(shell.current_thread()?, frame, name).ok()??,
        };
        Some(word(value, self.0.core.target()))
    }

    fn dot(&self) -> Addr {
        Addr::new(self.0.dot.number())
    }
}

impl SessionNames<'_> {
    /// A register by the machine's own name: `pc`, `sp` and `fp` are gdb's for any machine.
    fn machine_name<'n>(&self, name: &'n str) -> Option<&'n str> {
        let machine = self.0.core.machine()?;
        let named = |id| machine.register_names().iter().find(|(_, known)| *known == id);
        Some(match name {
            "pc" => machine.pc_name(),
            "sp" => named(machine.stack_pointer())?.0,
            "fp" => named(machine.frame_pointer())?.0,
            other => other,
        })
    }

    /// A function: its code, with as much of its type as an expression needs.
    fn function(&self, name: &str) -> Option<Object> {
        let (scope, bare) = match name.rsplit_once('`') {
            Some((scope, bare)) => (Some(scope), bare),
            None => (None, name),
        };
        let at = self.0.core.symbols().lookup(scope, bare).ok()?;
        let returns = Type::void().link();
        let kind =
            TypeKind::Function(FunctionType { returns, parameters: Vec::new(), is_variadic: true });
        let node = TypeNode { id: None, name: None, size: None, is_declaration: false, kind };
        Some(Object::at(Type::made(node), at))
    }
}

/// A name with its file before a backquote: `'file.c'::name` is how gdb writes it.
fn scoped(name: &str) -> String {
    let file = name.strip_prefix('\'').and_then(|rest| rest.split_once("'::"));
    file.map_or_else(|| name.to_owned(), |(file, name)| format!("{file}`{name}"))
}

/// Expressions in braces.
pub static TYPED: Braces = Braces;

/// Expressions in braces.
#[derive(Debug)]
pub struct Braces;

impl TypedExpressions for Braces {
    fn word(&self, scope: NameScope<'_>, text: &str) -> Result<u64> {
        let end = evaluated(scope, text).map_err(|error| failed(text, &error))?;
        match end.parts.as_slice() {
            [part] => word_of(scope, &part.object),
            _ => Err(DcmdError::failed(format!("{text}: a range of elements is no address"))),
        }
    }
}

/// An object as a word: a number with its sign, where a pointer points to, the address of anything larger.
fn word_of(scope: NameScope<'_>, object: &Object) -> Result<u64> {
    let process = &SessionProcess::of_scope(scope);
    let limits = Limits { depth: Some(1), elements: Some(1), pointers: 0, ..Limits::default() };
    match object.value(process, &limits).content.into_plain() {
        Content::Integer(number) | Content::Bool(number) => wrapped(&number),
        Content::Enum(value) => wrapped(&value.number),
        Content::Character(_) => {
            object.number(process).ok().and_then(|number| wrapped(&number).ok()).ok_or_else(no_word)
        }
        Content::Pointer(pointer) => pointer.to.map(Addr::get).ok_or_else(no_word),
        Content::Absent(why) => Err(DcmdError::failed(why.to_string())),
        Content::Float(_) | Content::Complex(..) => {
            Err(DcmdError::failed("a floating-point number is no word: cast it to an integer"))
        }
        _ => object.address().map(Addr::get).ok_or_else(no_word),
    }
}

fn wrapped(number: &Number) -> Result<u64> {
    let bits = number.value().map_or(number.bits, i128::cast_unsigned);
    u64::try_from(bits & u128::from(u64::MAX)).map_err(|_| no_word())
}

fn no_word() -> DcmdError {
    DcmdError::failed("the value of the expression is no number and has no address")
}
