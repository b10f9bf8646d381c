//! Parts of a value: lists, records, and what stands before each part.

use kcore_dcmd::{Dialect, ScriptLabel, ScriptNode, ScriptPart, ScriptParts};

use super::{TAB, Writer, scalar};
use crate::lines::Lines;

/// What stands on a line of its own within brackets.
enum Line<'n> {
    /// What stands for what is not there.
    Words(String),
    Part(&'n ScriptPart),
}

impl Writer<'_, '_> {
    pub(super) fn parts(&mut self, node: &ScriptNode, parts: &ScriptParts, margin: usize) {
        let brackets = if parts.is_list { ["[", "]"] } else { ["{", "}"] };
        let lines = self.lines(node, parts);
        match lines.as_slice() {
            [] => self.push(&brackets.concat()),
            [line] if parts.is_list && self.is_short(line) => {
                self.push("[ ");
                self.line(line, parts.is_list, margin);
                self.push(" ]");
            }
            lines => {
                self.push(brackets[0]);
                for line in lines {
                    self.new_line(margin + TAB);
                    self.line(line, parts.is_list, margin);
                    self.comma();
                }
                self.new_line(margin);
                self.push(brackets[1]);
            }
        }
    }

    /// What stands on lines of their own; numbers of bytes share one.
    fn lines<'n>(&self, node: &'n ScriptNode, parts: &'n ScriptParts) -> Vec<Line<'n>> {
        let lines = lines(node, parts);
        if node.kind != "typedarray" {
            return lines;
        }
        self.packed(lines, parts.is_list)
    }

    /// As many short lines as fit on one: of bytes each is a number.
    fn packed<'n>(&self, lines: Vec<Line<'n>>, is_list: bool) -> Vec<Line<'n>> {
        const WIDTH: usize = 72;
        let mut packed: Vec<Line<'n>> = Vec::new();
        for line in lines {
            if !self.is_short(&line) {
                packed.push(line);
                continue;
            }
            let out = Lines::default();
            let mut inner = Writer { out, style: self.style, numbers: self.numbers };
            inner.line(&line, is_list, 0);
            let text = inner.out.finish();
            match packed.last_mut() {
                Some(Line::Words(last))
                    if !text.ends_with("...") && last.len() + text.len() + 2 <= WIDTH =>
                {
                    last.push_str(", ");
                    last.push_str(&text);
                }
                _ => packed.push(Line::Words(text)),
            }
        }
        packed
    }

    /// Whether a part takes one line.
    fn is_short(&self, line: &Line<'_>) -> bool {
        let Line::Part(part) = line else { return true };
        let is_short_key = match &part.label {
            ScriptLabel::Entry(key) => self.takes_one_line(key),
            _ => true,
        };
        is_short_key && self.takes_one_line(&part.value)
    }

    /// Whether a value takes one line: it has no parts, or is a list of one that takes one line.
    fn takes_one_line(&self, node: &ScriptNode) -> bool {
        let Some(parts) = &node.parts else { return true };
        match self.lines(node, parts).as_slice() {
            [] => true,
            [line] => parts.is_list && self.is_short(line),
            _ => false,
        }
    }

    /// What ends a line; nothing follows dots.
    fn comma(&mut self) {
        if !self.out.ends_with("...") {
            self.push(",");
        }
    }

    fn line(&mut self, line: &Line<'_>, is_list: bool, margin: usize) {
        match line {
            Line::Words(words) => self.push(words),
            Line::Part(part) => self.part(part, is_list, margin),
        }
    }

    fn part(&mut self, part: &ScriptPart, is_list: bool, margin: usize) {
        match &part.label {
            ScriptLabel::Index(_) if is_list => {}
            ScriptLabel::Item => {}
            ScriptLabel::Index(index) => self.push(&format!("\"{index}\": ")),
            ScriptLabel::Name(name) if self.style.dialect == Dialect::Java => {
                self.push(&format!("{}: ", scalar::safe(name)));
            }
            ScriptLabel::Name(name) => self.push(&format!("{}: ", scalar::quoted(name))),
            ScriptLabel::Symbol(name) => self.push(&format!("[{}]: ", scalar::symbol(Some(name)))),
            ScriptLabel::Private(name) => self.push(&format!("{}: ", scalar::safe(name))),
            ScriptLabel::Fact(name) => self.push(&format!("<{name}>: ")),
            ScriptLabel::Entry(key) => {
                self.node(key, margin + TAB);
                self.push(" => ");
            }
        }
        self.node(&part.value, margin + TAB);
    }
}

/// The parts, and lines for what is not there: slots of a list that were never written, and what a
/// limit hides.
fn lines<'n>(node: &'n ScriptNode, parts: &'n ScriptParts) -> Vec<Line<'n>> {
    let mut lines = Vec::with_capacity(parts.parts.len());
    let (mut next, mut is_told) = (0, false);
    for part in &parts.parts {
        if let (true, ScriptLabel::Index(index)) = (parts.is_list, &part.label) {
            lines.extend(holes(index.saturating_sub(next)).map(Line::Words));
            next = index.saturating_add(1);
        } else if parts.is_list && !is_told {
            // Other properties of a list stand behind its last element.
            lines.extend(rest(node, parts, next).map(Line::Words));
            is_told = true;
        }
        lines.push(Line::Part(part));
    }
    if !is_told {
        lines.extend(rest(node, parts, next).map(Line::Words));
    }
    lines
}

/// What stands for what is behind the last part: slots that were never written, or more of them.
fn rest(node: &ScriptNode, parts: &ScriptParts, next: u64) -> Option<String> {
    let left = node.length.unwrap_or(next).saturating_sub(next);
    match parts.is_cut {
        true if left > 0 && parts.is_list => Some(format!("{left} more ...")),
        true if matches!(node.kind, "map" | "set") => {
            let left = node.length.unwrap_or(0).saturating_sub(parts.parts.len() as u64);
            Some(format!("{left} more ..."))
        }
        true => Some("...".to_owned()),
        false => holes(left).filter(|_| parts.is_list),
    }
}

/// What stands for slots that were never written.
fn holes(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("hole".to_owned()),
        count => Some(format!("<{count} holes>")),
    }
}
