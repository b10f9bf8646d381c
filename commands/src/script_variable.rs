//! Variables of frames of languages, by the names that users type.

use std::borrow::Cow;

use kcore::{
    Dialect, NamedFrame, ScriptNode, ScriptVariable, ScriptVariables, Tid, VariableLimits,
};
use kcore_dcmd::{
    Arg, Cell, Cx, DcmdError, Dot, Fields, Record, Result, ScriptCell, ScriptStyle, View,
};

use crate::frame_operand::FrameOperand;
use crate::script_path::{self, Step, is_same_name, is_whole_of_element};

/// Elements of an object that is on the way of a path, at most.
const MAX_ELEMENTS: u64 = 1 << 16;
/// Columns before variables that stand below the name of their frame.
const INDENT: usize = 4;

/// The frame of a language that an operand means, with its variables; `None` where it means one of machine code, or
/// nothing tells its variables.
pub fn of_frame(
    cx: &Cx<'_>,
    meant: &FrameOperand,
    limits: VariableLimits,
) -> Option<(NamedFrame, ScriptVariables)> {
    of_frames(cx, meant, limits).into_iter().next()
}

/// The frames of a language that an operand stands for, innermost first, with their variables. Of a frame from a pipe,
/// these are all calls that this native frame runs; otherwise it is the one that `::frame` chose. Empty for native code,
/// and where nothing tells the variables.
pub fn of_frames(
    cx: &Cx<'_>,
    meant: &FrameOperand,
    limits: VariableLimits,
) -> Vec<(NamedFrame, ScriptVariables)> {
    let core = cx.core();
    let stack = meant.stack(core, None);
    let frames = match cx.input().looped {
        true => meant.all_of(core, &stack),
        false => meant.chosen_of(core, &stack).into_iter().collect(),
    };
    let known = core.stacks().known_frames(&stack, meant.index.saturating_add(1));
    let told = frames.into_iter().filter_map(|frame| {
        let variables = known.script_variables(&frame, limits)?;
        Some((frame, variables))
    });
    told.collect()
}

/// What stands before the variables of a frame.
#[derive(Clone, Copy)]
pub struct Title {
    /// Whether this is the first of its variables, and the frame is named before it.
    pub is_first: bool,
    /// Whether the number of the frame stands there too: it is one of many.
    pub is_numbered: bool,
}

/// What a word names in the frame of a language: a variable, or what a path leads to that begins with one.
pub struct ScriptNamed {
    /// What was typed.
    pub word: String,
    /// The language.
    pub dialect: Dialect,
    /// What it says.
    pub value: ScriptNode,
}

/// What a word names; `None` where the frame is not of a language, or has no such variable.
///
/// # Errors
/// When the path does not lead anywhere.
pub fn named(
    cx: &Cx<'_>,
    meant: &FrameOperand,
    word: &str,
    limits: VariableLimits,
) -> Result<Option<ScriptNamed>> {
    let shallow = VariableLimits { depth: 0, entries: 0, characters: 0, locals: true };
    let Some((_, variables)) = of_frame(cx, meant, shallow) else { return Ok(None) };
    let all = || variables.variables.iter().map(|variable| &*variable.name);
    let of_self = of_self(variables.dialect, word);
    let word = of_self.as_deref().unwrap_or(word);
    let Some((name, path)) = split(all(), word) else {
        return match computed(all(), word) {
            Some(name) => Err(DcmdError::failed(format!(
                "{word}: nothing is computed with variables of the language, such as {name}"
            ))),
            None => Ok(None),
        };
    };
    let steps = script_path::parse(path)?;
    let limits = match steps.len() {
        0 => limits,
        steps => VariableLimits {
            depth: limits.depth.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX)),
            entries: MAX_ELEMENTS,
            ..limits
        },
    };
    let Some((_, variables)) = of_frame(cx, meant, limits) else { return Ok(None) };
    let dialect = variables.dialect;
    let is_it = |variable: &ScriptVariable| &*variable.name == name;
    let Some(variable) = variables.variables.into_iter().find(is_it) else { return Ok(None) };
    let value = follow(variable.value, dialect, &steps, word)?;
    Ok(Some(ScriptNamed { word: word.to_owned(), dialect, value }))
}

/// A variable of the object whose method runs, as a path: Ruby's `@size` is `self.@size`.
fn of_self(dialect: Dialect, word: &str) -> Option<String> {
    let is_one = dialect == Dialect::Ruby && word.starts_with('@') && !word.starts_with("@@");
    is_one.then(|| format!("self.{word}"))
}

/// The variable with whose name a word begins, the longest one, and the path behind it.
fn split<'v, 'w>(
    variables: impl Iterator<Item = &'v str>,
    word: &'w str,
) -> Option<(&'v str, &'w str)> {
    let ends = |path: &str| path.is_empty() || path.starts_with(['.', '[', '{', '-']);
    let whole = |name: &'v str| {
        let mut typed = word.char_indices().map(|(at, _)| at).chain([word.len()]);
        let end = typed.find(|end| {
            word.split_at_checked(*end).is_some_and(|(before, path)| {
                let is_it = is_same_name(name, before) || is_whole_of_element(name, before, path);
                ends(path) && is_it
            })
        })?;
        Some((name, word.get(end..)?))
    };
    // Beside `$rows`, `@rows` has `$rows[3]`.
    let is_whole = |name: &str, path: &str| name.starts_with(['@', '%']) && !path.is_empty();
    variables.filter_map(whole).max_by_key(|(name, path)| (name.len(), is_whole(name, path)))
}

/// The variable with which an expression begins: C's rules would take another thing of that name.
fn computed<'v>(mut variables: impl Iterator<Item = &'v str>, word: &str) -> Option<&'v str> {
    let is_name = |sign: char| sign.is_alphanumeric() || "_$@%&".contains(sign);
    let end = word.find(|sign| !is_name(sign))?;
    let (before, _) = word.split_at_checked(end)?;
    variables.find(|name| is_same_name(name, before))
}

fn follow(from: ScriptNode, dialect: Dialect, steps: &[Step], word: &str) -> Result<ScriptNode> {
    let mut node = &from;
    for step in steps {
        node = script_path::part(node, dialect, step).ok_or_else(|| {
            let is_cut = node.parts.as_ref().is_some_and(|parts| parts.is_cut);
            let beyond = if is_cut { ", of those that are looked at" } else { "" };
            let what = match step {
                Step::Name(name) => format!("no member or key {name}"),
                Step::Number(number) => format!("no element or key {number}"),
            };
            DcmdError::failed(format!("{word}: there is {what}{beyond}"))
        })?;
    }
    Ok(node.clone())
}

/// The words of operands that may name variables of a frame of a language.
pub fn words(operands: &[Arg]) -> Option<Vec<&str>> {
    let text = |arg: &'_ Arg| -> Option<()> { matches!(arg, Arg::Text(_)).then_some(()) };
    operands.iter().try_for_each(text)?;
    let words: Vec<&str> = operands
        .iter()
        .filter_map(|arg| match arg {
            Arg::Text(word) => Some(word.as_str()),
            Arg::Number(_) => None,
        })
        .collect();
    (!words.is_empty()).then_some(words)
}

/// A variable of a frame of a language, as `::locals` shows it.
pub struct ScriptLine<'a> {
    /// The thread that runs the frame; `None` for a task that no thread runs.
    pub tid: Option<Tid>,
    /// The frame.
    pub frame: &'a NamedFrame,
    /// The language.
    pub dialect: Dialect,
    /// The variable.
    pub variable: ScriptVariable,
    /// What stands before it.
    pub title: Title,
}

impl ScriptLine<'_> {
    fn cell(&self, node: Cow<'_, ScriptNode>) -> Cell<'static> {
        let indent = if self.title.is_numbered { INDENT } else { 0 };
        let style = ScriptStyle { dialect: self.dialect, addresses: false, indent };
        Cell::Script(Box::new(ScriptCell { node: Cow::Owned(node.into_owned()), style }))
    }
}

impl Record for ScriptLine<'_> {
    fn kind(&self) -> &'static str {
        "frame_variable"
    }

    fn view(&self) -> View {
        View::Line("{titled?frame {frame}, {function}{function^?}:\n}{numbered?    }{variable}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let location = &self.frame.location;
        let ScriptVariable { name, is_argument, value } = &self.variable;
        let named = ScriptNode::variable(name, value.clone());
        out.num("tid", self.tid.map(|tid| u64::from(tid.get())))
            .num("frame", self.frame.index as u64)
            .opt_text("function", location.function.as_deref())
            .flag("inline", location.inline)
            .text("kind", if *is_argument { "argument" } else { "local" })
            .opt_text("name", Some(&**name))
            .opt_text("declared", value.class.as_deref())
            .put("value", self.cell(Cow::Borrowed(value)))
            .put("absent", Cell::Null)
            .display("titled", Cell::Bool(self.title.is_first))
            .display("numbered", Cell::Bool(self.title.is_numbered))
            .display("variable", self.cell(Cow::Owned(named)));
    }

    fn dot(&self) -> Option<Dot> {
        self.variable.value.at.map(Dot::Addr)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, computed, of_self, split};

    #[test]
    fn an_expression_over_a_variable_is_known_as_one() {
        let of = |word| computed(["$n", "big"].into_iter(), word);
        assert_eq!((of("big+1"), of("n*2"), of("$n*2")), (Some("big"), Some("$n"), Some("$n")));
        assert_eq!((of("big"), of("other+1"), of("")), (None, None, None));
    }

    #[test]
    fn the_longest_name_is_meant_and_what_follows_is_the_path() {
        let of = |word| split(["$row", "$rows", "self", "@list"].into_iter(), word);
        assert_eq!(of("rows[3]"), Some(("$rows", "[3]")));
        assert_eq!(of("$row->name"), Some(("$row", "->name")));
        assert_eq!(of("self.@size"), Some(("self", ".@size")));
        assert_eq!(of("list"), Some(("@list", "")));
        assert_eq!(of("$list[0]"), Some(("@list", "[0]")));
        assert_eq!(of_self(Dialect::Ruby, "@size").as_deref(), Some("self.@size"));
        assert_eq!((of_self(Dialect::Perl, "@size"), of_self(Dialect::Ruby, "size")), (None, None));
        assert_eq!((of("rowsx"), of("ro"), of("")), (None, None, None));
    }
}
