//! Values of types as MDB's `::print` lays them out.
//!
//! A structure has a line for each member, indented by 4; an array of numbers is one line, an array of
//! structures has each in braces of its own. What MDB has no words for (containers, enumerations with
//! data, owning pointers) is built of the same parts.

mod block;
mod character;
mod content;
mod heading;
mod integer;
mod internet;
#[cfg(test)]
pub(crate) mod made;
mod pointer;
#[cfg(test)]
mod tests;

use kcore_dcmd::{ValueCell, ValueForm, ValueStyle};
use kcore_values::{Content, Value};

use crate::canvas::Canvas;
use crate::lines::Lines;
use crate::number::Numbers;
pub(crate) use content::wide_exponential;
use heading::Heading;
pub(crate) use integer::signed;
pub(crate) use pointer::spelled;

/// Blanks by which members stand further right than what they are members of.
const TAB: usize = 4;

/// The value with its name, without a newline at the end.
pub(crate) fn text(cell: &ValueCell<'_>, numbers: Numbers) -> String {
    written(Lines::default(), cell, numbers)
}

/// Puts the same onto a canvas, line by line.
pub(crate) fn write(canvas: &mut Canvas<'_>, cell: &ValueCell<'_>, numbers: Numbers) {
    written(Lines::to(canvas), cell, numbers);
}

fn written(out: Lines<'_, '_>, cell: &ValueCell<'_>, numbers: Numbers) -> String {
    let mut writer = Writer { out, style: cell.style, numbers };
    let heading = Heading { prefix: "", joint: "", name: &cell.name, is_alone: true };
    match cell.style.form {
        ValueForm::Lines { indent } => writer.element(&cell.value, heading, indent),
        ValueForm::Inline => writer.element(&cell.value, heading, 0),
    }
    writer.out.finish()
}

/// Lines under construction.
struct Writer<'c, 'o> {
    out: Lines<'c, 'o>,
    style: ValueStyle,
    numbers: Numbers,
}

impl Writer<'_, '_> {
    /// What a layout, which has no values, says of a part that lies at no certain place.
    fn unplaced(&mut self, value: &Value, has_heading: bool) {
        if let Content::Other(_) = value.content {
            let words = self.within_line(value);
            self.push(if has_heading { " " } else { "" });
            self.push(&words);
        }
    }

    fn push(&mut self, text: &str) {
        self.out.push(text);
    }

    fn new_line(&mut self, margin: usize) {
        self.out.new_line(margin);
    }

    fn blanks(&mut self, count: usize) {
        self.out.blanks(count);
    }

    /// A value with all that stands before it; its further lines begin at `margin` as well.
    fn element(&mut self, value: &Value, heading: Heading<'_>, margin: usize) {
        self.blanks(margin);
        let has_heading = self.heading(value, heading);
        if !self.style.values && !content::is_structure(value) {
            return self.unplaced(value, has_heading);
        }
        if has_heading {
            self.push(match (self.style.values && heading.is_named(), self.style.form) {
                (true, ValueForm::Inline) => "=",
                (true, ValueForm::Lines { .. }) => " = ",
                (false, _) => " ",
            });
        }
        // MDB's form where nothing stands before it.
        let is_bare = heading.is_alone && !has_heading;
        if is_bare && content::only_declared(value).is_some_and(|ty| !content::is_of_std(&ty)) {
            self.push("; ");
        }
        let joined = heading.is_named().then_some(heading.name).filter(|_| heading.is_alone);
        self.content(value, joined, margin);
    }
}
