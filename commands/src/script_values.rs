//! Values of script languages, or some members of one, and how much of them is shown.

use std::borrow::Cow;

use kcore_dcmd::{Args, Cell, Fields, Result, ScriptCell, ScriptNode, ScriptStyle};

use crate::operand;

/// Greatest depth of a tree, because each level takes room on the stack.
const MAX_DEPTH: u32 = 500;

/// The value of an object, or those of its members.
pub struct ScriptValues {
    /// The members that were asked for; none for the object itself.
    pub members: Vec<String>,
    /// The values of them, in their order.
    pub values: Vec<ScriptNode>,
    /// How they look.
    pub style: ScriptStyle,
}

impl ScriptValues {
    /// Puts `values` of a record, and for its view `first` and `others`.
    pub fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let mut shown = self.values.iter().map(|value| self.cell(value));
        let first = shown.next().unwrap_or(Cell::Null);
        out.put("values", Cell::List(self.named()))
            .display("first", first)
            .display("others", Cell::List(shown.collect()));
    }

    fn cell<'a>(&self, node: &'a ScriptNode) -> Cell<'a> {
        Cell::Script(Box::new(ScriptCell { node: Cow::Borrowed(node), style: self.style }))
    }

    fn named(&self) -> Vec<Cell<'_>> {
        let members = self.members.iter().map(Some).chain(std::iter::repeat(None));
        let values = members.zip(&self.values).map(|(member, value)| {
            let member = Cell::or_null(member, |member| Cell::text(member.as_str()));
            Cell::Object(vec![("member", member), ("value", self.cell(value))])
        });
        values.collect()
    }
}

/// The depth of nested objects that are shown: option `-d`, or else `default`.
///
/// # Errors
/// If the option is not a number.
pub fn depth(args: &Args, default: u64) -> Result<u32> {
    let depth = u32::try_from(number(args, 'd', default)?).unwrap_or(u32::MAX);
    Ok(depth.min(MAX_DEPTH))
}

/// The decimal number of an option, or `default`.
///
/// # Errors
/// If the option is not a number.
pub fn number(args: &Args, flag: char, default: u64) -> Result<u64> {
    args.value(flag).map_or(Ok(default), |word| operand::decimal(word).map(|number| number as u64))
}
