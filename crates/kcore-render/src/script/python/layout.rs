//! Decides which values stand on one line, and which take a line for each part.
//!
//! A value is tried on one line, and the attempt ends as soon as the line is full. So the cost is linear in
//! the length of the text, however deeply the values nest.

use kcore_dcmd::{ScriptNode, ScriptScalar};

use super::super::TAB;
use super::Speller;
use crate::lines::Lines;

/// Columns of a line.
const WIDTH: usize = 100;

/// What a value consists of.
pub(super) enum Laid<'n> {
    /// Text without parts.
    Text(String),
    /// Values one behind the other.
    Row(Vec<Item<'n>>),
    /// Parts within brackets.
    Group {
        /// The opening bracket, and what stands before it.
        open: String,
        /// The parts.
        items: Vec<Item<'n>>,
        /// The text after the last part when all parts stand on one line.
        last: &'static str,
        /// The closing bracket.
        close: String,
    },
}

/// A part within brackets.
pub(super) enum Item<'n> {
    /// Words.
    Text(String),
    /// A value, and what stands before it.
    Node {
        /// Its name with the sign behind it.
        prefix: String,
        /// The value.
        node: &'n ScriptNode,
    },
    /// A key with its value.
    Entry {
        /// The key.
        key: &'n ScriptNode,
        /// The value.
        value: &'n ScriptNode,
    },
    /// Parts of the same value, in brackets of their own.
    Laid(Box<Laid<'n>>),
}

/// Writes a value whose further lines begin at `margin`.
pub(super) fn write(out: &mut Lines<'_, '_>, speller: Speller, node: &ScriptNode, margin: usize) {
    out.push(&speller.address(node).unwrap_or_default());
    write_laid(out, speller, &speller.laid(node), margin);
}

fn write_laid(out: &mut Lines<'_, '_>, speller: Speller, laid: &Laid<'_>, margin: usize) {
    let mut line = Line { text: String::new(), left: WIDTH, speller };
    if line.laid(laid, margin).is_some() {
        return out.push(&line.text);
    }
    match laid {
        Laid::Text(text) => out.push(text),
        Laid::Row(items) => items.iter().for_each(|item| write_item(out, speller, item, margin)),
        Laid::Group { open, items, last, close } if items.is_empty() => {
            [open, *last, close].into_iter().for_each(|text| out.push(text));
        }
        Laid::Group { open, items, close, .. } => {
            let inner = margin.saturating_add(TAB);
            out.push(open);
            for item in items {
                out.new_line(inner);
                write_item(out, speller, item, inner);
                out.push(",");
            }
            out.new_line(margin);
            out.push(close);
        }
    }
}

fn write_item(out: &mut Lines<'_, '_>, speller: Speller, item: &Item<'_>, margin: usize) {
    match item {
        Item::Text(text) => out.push(text),
        Item::Node { prefix, node } => {
            out.push(prefix);
            write(out, speller, node, margin);
        }
        Item::Entry { key, value } => {
            write(out, speller, key, margin);
            out.push(": ");
            write(out, speller, value, margin);
        }
        Item::Laid(laid) => write_laid(out, speller, laid, margin),
    }
}

/// An attempt to write a value on one line.
struct Line {
    text: String,
    /// Characters that still fit.
    left: usize,
    speller: Speller,
}

impl Line {
    /// Adds text if it fits.
    fn add(&mut self, text: &str) -> Option<()> {
        // A text of so many bytes has more characters than a line.
        let count = if text.len() > 4 * WIDTH { usize::MAX } else { text.chars().count() };
        self.left = self.left.checked_sub(count)?;
        self.text.push_str(text);
        Some(())
    }

    /// A group must fit between its margin and the width of a line.
    fn laid(&mut self, laid: &Laid<'_>, margin: usize) -> Option<()> {
        match laid {
            Laid::Text(text) => self.add(text),
            Laid::Row(items) => items.iter().try_for_each(|item| self.item(item, margin)),
            Laid::Group { open, items, last, close } => {
                let room = self.left.min(WIDTH.checked_sub(margin)?);
                let outer = self.left.checked_sub(room)?;
                self.left = room;
                self.add(open)?;
                for (index, item) in items.iter().enumerate() {
                    self.add(if index > 0 { ", " } else { "" })?;
                    self.item(item, margin.saturating_add(TAB))?;
                }
                self.add(last)?;
                self.add(close)?;
                self.left = self.left.saturating_add(outer);
                Some(())
            }
        }
    }

    fn item(&mut self, item: &Item<'_>, margin: usize) -> Option<()> {
        match item {
            Item::Text(text) => self.add(text),
            Item::Node { prefix, node } => {
                self.add(prefix)?;
                self.node(node, margin)
            }
            Item::Entry { key, value } => {
                self.node(key, margin)?;
                self.add(": ")?;
                self.node(value, margin)
            }
            Item::Laid(laid) => self.laid(laid, margin),
        }
    }

    fn node(&mut self, node: &ScriptNode, margin: usize) -> Option<()> {
        // Do not spell what cannot fit.
        if is_long(node) {
            return None;
        }
        self.add(&self.speller.address(node).unwrap_or_default())?;
        self.laid(&self.speller.laid(node), margin)
    }
}

/// Whether a value is certainly longer than a line.
fn is_long(node: &ScriptNode) -> bool {
    let is_long_text = match &node.scalar {
        Some(ScriptScalar::Text { text, .. }) => text.len() > 4 * WIDTH,
        Some(ScriptScalar::Integer(digits)) => digits.len() > WIDTH,
        Some(ScriptScalar::Points { points, .. }) => points.len() > WIDTH,
        _ => false,
    };
    is_long_text || node.parts.as_ref().is_some_and(|parts| parts.parts.len() > WIDTH)
}

#[cfg(test)]
mod tests {
    use kcore_dcmd::{ScriptLabel, ScriptPart, ScriptParts};

    use super::*;
    use crate::canvas::Canvas;
    use crate::number::Numbers;

    const SPELLER: Speller =
        Speller { addresses: false, numbers: Numbers { radix: 16, word_size: 8 } };

    fn number(digits: &str) -> ScriptNode {
        ScriptNode::scalar("int", ScriptScalar::Integer(digits.into()))
    }

    fn list(values: Vec<ScriptNode>) -> ScriptNode {
        let length = Some(values.len() as u64);
        let part = |value| ScriptPart::new(ScriptLabel::Item, value);
        let parts = values.into_iter().map(part).collect();
        let parts = Some(ScriptParts { is_list: true, parts, is_cut: false });
        ScriptNode {
            kind: "list",
            class: Some("list".into()),
            parts,
            length,
            ..ScriptNode::default()
        }
    }

    fn text(node: &ScriptNode, margin: usize) -> String {
        let mut out = Lines::default();
        write(&mut out, SPELLER, node, margin);
        out.finish()
    }

    /// The same from its definition: all parts are spelled, and stand on one line if that is no wider
    /// than a line is.
    fn by_definition(node: &ScriptNode, margin: usize) -> String {
        let Some(parts) = &node.parts else {
            let Some(ScriptScalar::Integer(digits)) = &node.scalar else { panic!("{node:?}") };
            return digits.to_string();
        };
        let inner = margin + TAB;
        let parts: Vec<_> =
            parts.parts.iter().map(|part| by_definition(&part.value, inner)).collect();
        let line = format!("[{}]", parts.join(", "));
        if parts.is_empty() || !line.contains('\n') && margin + line.len() <= WIDTH {
            return line;
        }
        let parts: String =
            parts.iter().map(|part| format!("\n{}{part},", " ".repeat(inner))).collect();
        format!("[{parts}\n{}]", " ".repeat(margin))
    }

    fn random(seed: &mut u64, below: u64) -> u64 {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % below
    }

    fn made(seed: &mut u64, depth: u64) -> ScriptNode {
        if depth == 0 || random(seed, 4) == 0 {
            return number(&"7".repeat(1 + random(seed, 40) as usize));
        }
        list((0..random(seed, 5)).map(|_| made(seed, depth - 1)).collect())
    }

    #[test]
    fn values_stand_on_lines_as_the_definition_has_it() {
        let mut seed = 1;
        for round in 0..2000 {
            let (node, margin) = (made(&mut seed, 1 + round % 6), (round % 9) as usize * TAB);
            assert_eq!(text(&node, margin), by_definition(&node, margin), "round {round}");
        }
        // Lengths around the limit, where an inner group may not fit although its outer group would.
        for digits in 80..100 {
            let node = list(vec![list(vec![number(&"7".repeat(digits))])]);
            assert_eq!(text(&node, 0), by_definition(&node, 0), "{digits}");
        }
    }

    #[test]
    fn a_long_value_goes_on_piece_by_piece() {
        let node =
            (0..12).fold(number(&"7".repeat(60)), |inner, _| list(vec![inner.clone(), inner]));
        let (mut longest, mut taken) = (0, String::new());
        let mut take = |text: &str| {
            longest = longest.max(text.len());
            taken.push_str(text);
            Ok(())
        };
        let mut canvas = Canvas::taken_by(false, String::new(), &mut take);
        let mut out = Lines::to(&mut canvas);
        write(&mut out, SPELLER, &node, 0);
        out.finish();
        canvas.finish().0.unwrap();
        assert_eq!(taken, by_definition(&node, 0));
        assert!(longest < 128 << 10 && taken.len() > 4 * longest, "{longest} of {}", taken.len());
    }
}
