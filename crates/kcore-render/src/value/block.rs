//! What takes several lines: structures, arrays of structures, containers of keys and values.

use kcore_values::{Content, Elements, Entry, Field, Value, VariantValue};

use super::content::safe;
use super::heading::{Heading, NAMELESS};
use super::{TAB, Writer};

impl Writer<'_, '_> {
    /// Writes a block, up to its closing bracket, which stands at `margin`.
    pub(super) fn block(&mut self, value: &Value, joined: Option<&str>, margin: usize) {
        match &value.content {
            Content::Fields(fields) => self.fields(fields, joined, margin),
            Content::Elements(elements) => self.elements(elements, margin),
            Content::Entries { entries, total } => self.entries(entries, *total, margin),
            Content::Variant(variant) => self.variant(variant, margin),
            Content::Pointer(pointer) => {
                let text = self.pointer_alone(value, pointer);
                self.push(&text);
                self.push(" -> ");
                if let Some(pointee) = super::pointer::pointee(pointer) {
                    self.content(pointee, None, margin);
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, fields: &[Field], joined: Option<&str>, margin: usize) {
        self.push("{");
        let joint = self.style.joint.filter(|_| joined.is_some());
        for field in fields {
            self.out.end_line();
            let heading = Heading {
                prefix: joint.and(joined).unwrap_or_default(),
                joint: joint.unwrap_or_default(),
                name: &name_of(field),
                is_alone: false,
            };
            self.element(&field.value, heading, margin + TAB);
        }
        self.new_line(margin);
        self.push("}");
    }

    /// Each element on lines of its own; one that ends with a brace is followed by a comma.
    fn elements(&mut self, elements: &Elements, margin: usize) {
        self.push("[");
        for value in &elements.values {
            self.out.end_line();
            self.element(value, Heading::ELEMENT, margin + TAB);
            let is_array = matches!(value.content, Content::Elements(_) | Content::Elided);
            if !is_array && !self.out.ends_with(" ]") {
                self.push(",");
            }
        }
        self.new_line(margin);
        let is_all = elements.total == Some(elements.values.len() as u64);
        self.push(if is_all { "]" } else { "... ]" });
    }

    fn entries(&mut self, entries: &[Entry], total: Option<u64>, margin: usize) {
        self.push("{");
        for entry in entries {
            self.new_line(margin + TAB);
            self.push("[");
            self.content(&entry.key, None, margin + TAB);
            self.push("] = ");
            self.content(&entry.value, None, margin + TAB);
        }
        if total != Some(entries.len() as u64) {
            self.new_line(margin + TAB);
            self.push("...");
        }
        self.new_line(margin);
        self.push("}");
    }

    fn variant(&mut self, variant: &VariantValue, margin: usize) {
        self.push(&safe(&variant.name));
        self.push(" ");
        match variant.fields.as_slice() {
            // What holds one value of any type is that value, with the type's name before it.
            [Field { name: None, value, .. }] => self.content(value, None, margin),
            fields => self.fields(fields, None, margin),
        }
    }
}

/// The name of a member; of a base class in angle brackets.
fn name_of(field: &Field) -> String {
    match &field.name {
        Some(name) if field.is_base => format!("<{name}>"),
        Some(name) => name.to_string(),
        None => NAMELESS.to_owned(),
    }
}
