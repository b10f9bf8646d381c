//! Parts of a value: lists, records, and what stands before each part.

use kcore_dcmd::{ScriptLabel, ScriptNode, ScriptPart, ScriptParts};

use super::{TAB, Writer, scalar};

impl Writer {
    pub(super) fn parts(&mut self, node: &ScriptNode, parts: &ScriptParts, margin: usize) {
        let brackets = if parts.is_list { ["[", "]"] } else { ["{", "}"] };
        let mut lines = self.lines(node, parts, margin);
        if node.kind == "typedarray" {
            lines = packed(lines);
        }
        match lines.as_slice() {
            [] => self.push(&brackets.concat()),
            [line] if parts.is_list && !line.contains('\n') => {
                self.push(&format!("[ {line} ]"));
            }
            lines => {
                self.push(brackets[0]);
                for line in lines {
                    self.new_line(margin + TAB);
                    self.push(line);
                    self.push(if line.ends_with("...") { "" } else { "," });
                }
                self.new_line(margin);
                self.push(brackets[1]);
            }
        }
    }

    /// The parts, and lines for what is not there: slots of a list that were never written, and what a
    /// limit hides.
    fn lines(&self, node: &ScriptNode, parts: &ScriptParts, margin: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let (mut next, mut is_told) = (0, false);
        for part in &parts.parts {
            if let (true, ScriptLabel::Index(index)) = (parts.is_list, &part.label) {
                lines.extend(holes(index.saturating_sub(next)));
                next = index.saturating_add(1);
            } else if parts.is_list && !is_told {
                // Other properties of a list stand behind its last element.
                lines.extend(rest(node, parts, next));
                is_told = true;
            }
            lines.push(self.part(part, parts.is_list, margin));
        }
        if !is_told {
            lines.extend(rest(node, parts, next));
        }
        lines
    }

    fn part(&self, part: &ScriptPart, is_list: bool, margin: usize) -> String {
        let mut inner = Writer { out: String::new(), ..*self };
        match &part.label {
            ScriptLabel::Index(_) if is_list => {}
            ScriptLabel::Item => {}
            ScriptLabel::Index(index) => inner.push(&format!("\"{index}\": ")),
            ScriptLabel::Name(name) => inner.push(&format!("{}: ", scalar::quoted(name))),
            ScriptLabel::Symbol(name) => inner.push(&format!("[{}]: ", scalar::symbol(Some(name)))),
            ScriptLabel::Private(name) => inner.push(&format!("{}: ", scalar::safe(name))),
            ScriptLabel::Fact(name) => inner.push(&format!("<{name}>: ")),
            ScriptLabel::Entry(key) => {
                inner.node(key, margin + TAB);
                inner.push(" => ");
            }
        }
        inner.node(&part.value, margin + TAB);
        inner.out
    }
}

/// As many short lines as fit on one: of bytes each is a number.
fn packed(lines: Vec<String>) -> Vec<String> {
    const WIDTH: usize = 72;
    let mut packed: Vec<String> = Vec::new();
    for line in lines {
        let is_short = !line.contains('\n') && !line.ends_with("...");
        match packed.last_mut() {
            Some(last) if is_short && last.len() + line.len() + 2 <= WIDTH => {
                last.push_str(", ");
                last.push_str(&line);
            }
            _ => packed.push(line),
        }
    }
    packed
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
