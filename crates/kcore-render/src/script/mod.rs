//! Values of script languages as mdb_v8's `::jsprint` lays them out.
//!
//! An object has a line for each property, indented by 4, each with a comma behind it; a list a line for
//! each element, unless it has but one. What mdb_v8 has no words for (classes, maps, the state of a
//! promise) is built of the same parts: a class stands before the brace, what the runtime knows of a
//! value, and is no property, in angle brackets.

mod block;
mod lua;
mod number;
mod perl;
mod php;
mod python;
mod ruby;
mod scalar;
#[cfg(test)]
mod tests;

use kcore_dcmd::{Dialect, ScriptCell, ScriptLabel, ScriptNode, ScriptParts, ScriptStyle};

use crate::canvas::Canvas;
use crate::lines::Lines;
use crate::number::Numbers;

pub(crate) use number::javascript as javascript_number;
pub(crate) use python::escaped;

/// Blanks by which parts stand further right than what they are parts of.
const TAB: usize = 4;

/// The value, without a newline at the end.
pub(crate) fn text(cell: &ScriptCell<'_>, numbers: Numbers) -> String {
    written(Lines::default(), cell, numbers)
}

/// Puts the same onto a canvas, line by line.
pub(crate) fn write(canvas: &mut Canvas<'_>, cell: &ScriptCell<'_>, numbers: Numbers) {
    written(Lines::to(canvas), cell, numbers);
}

fn written(out: Lines<'_, '_>, cell: &ScriptCell<'_>, numbers: Numbers) -> String {
    match cell.style.dialect {
        Dialect::Python => return python::written(out, cell, numbers),
        Dialect::Ruby => return ruby::written(out, cell, numbers),
        Dialect::Lua => return lua::written(out, cell, numbers),
        Dialect::Perl => return perl::written(out, cell, numbers),
        Dialect::Php => return php::written(out, cell, numbers),
        Dialect::JavaScript | Dialect::Java => {}
    }
    let mut writer = Writer { out, style: cell.style, numbers };
    writer.node(&cell.node, cell.style.indent);
    writer.out.finish()
}

/// Lines under construction.
struct Writer<'c, 'o> {
    out: Lines<'c, 'o>,
    style: ScriptStyle,
    numbers: Numbers,
}

impl Writer<'_, '_> {
    fn push(&mut self, text: &str) {
        self.out.push(text);
    }

    fn new_line(&mut self, margin: usize) {
        self.out.new_line(margin);
    }

    /// A value, whose further lines begin at `margin`.
    fn node(&mut self, node: &ScriptNode, margin: usize) {
        if let Some(at) = node.at.filter(|_| self.style.addresses) {
            let digits = kcore_dcmd::Digits::new(at.get(), self.numbers.radix);
            self.push(digits.as_str());
            self.push(": ");
        }
        let heads =
            [self.class(node), node.scalar.as_ref().map(|scalar| self.scalar_of(node, scalar))];
        let heads: Vec<String> = heads.into_iter().flatten().collect();
        self.push(&heads.join(" "));
        let Some(parts) = node.parts.as_ref() else { return };
        if node.is_variable() {
            return self.assignments(parts, margin);
        }
        // A scalar says all that there is to say of what has no parts.
        if node.scalar.is_some() && parts.parts.is_empty() && !parts.is_cut {
            return;
        }
        self.push(if heads.is_empty() { "" } else { " " });
        self.parts(node, parts, margin);
    }

    /// Variables, each with its value.
    fn assignments(&mut self, parts: &ScriptParts, margin: usize) {
        for part in &parts.parts {
            if let ScriptLabel::Name(name) = &part.label {
                self.push(&scalar::safe(name));
                self.push(" = ");
            }
            self.node(&part.value, margin);
        }
    }
}
