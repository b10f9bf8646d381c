//! The template language of [`View::Line`](kcore_dcmd::View::Line), where it is documented.

use kcore_dcmd::{Cell, Fields};

use crate::canvas::Canvas;
use crate::cell_format::CellFormat;
use crate::cell_text;
use crate::number::Numbers;

/// Renders `fields` by `template`, without a newline at the end.
///
/// A key that the record does not have is shown in braces: a mistake to see, not to hide.
pub(crate) fn render(
    canvas: &mut Canvas<'_>,
    template: &str,
    fields: &Fields<'_>,
    numbers: Numbers,
) {
    Renderer { rest: template, fields, numbers, canvas, item: None }.text(Nesting::Top, true);
}

/// Whether a cell counts as present: not null, not an empty list, not false.
fn is_present(cell: Option<&Cell<'_>>) -> bool {
    !matches!(cell, None | Some(Cell::Null | Cell::Bool(false)))
        && !matches!(cell, Some(Cell::List(cells)) if cells.is_empty())
}

/// Where text stands: a closing brace ends only text within a condition.
#[derive(Clone, Copy, PartialEq)]
enum Nesting {
    Top,
    Condition,
}

struct Renderer<'t, 'f, 'c, 'o> {
    rest: &'t str,
    fields: &'f Fields<'f>,
    numbers: Numbers,
    canvas: &'c mut Canvas<'o>,
    /// The element of the list that is being repeated for.
    item: Option<&'f Cell<'f>>,
}

impl<'t, 'f> Renderer<'t, 'f, '_, '_> {
    fn text(&mut self, place: Nesting, shown: bool) {
        while let Some(at) = self.rest.bytes().position(|byte| matches!(byte, b'{' | b'}')) {
            let (literal, brace) = self.rest.split_at(at);
            self.literal(literal, shown);
            if let Some(rest) = brace.strip_prefix("{{") {
                self.rest = rest;
                self.literal("{", shown);
            } else if let Some(rest) = brace.strip_prefix('{') {
                self.rest = rest;
                self.cell(shown);
            } else {
                self.rest = &brace[1..];
                if place == Nesting::Condition {
                    return;
                }
                self.rest = self.rest.strip_prefix('}').unwrap_or(self.rest);
                self.literal("}", shown);
            }
        }
        self.literal(self.rest, shown);
        self.rest = "";
    }

    fn literal(&mut self, text: &str, shown: bool) {
        if shown {
            self.canvas.push(text);
        }
    }

    /// What follows an opening brace, up to and with its closing one.
    fn cell(&mut self, shown: bool) {
        let ends = |byte| matches!(byte, b':' | b'?' | b'^' | b'*' | b'}');
        let end = self.rest.bytes().position(ends).unwrap_or(self.rest.len());
        let (key, rest) = self.rest.split_at(end);
        let mut rest = rest.chars();
        let kind = rest.next();
        self.rest = rest.as_str();
        match kind {
            Some('?') => self.text(Nesting::Condition, shown && is_present(self.get(key))),
            Some('^') => self.text(Nesting::Condition, shown && !is_present(self.get(key))),
            Some('*') => self.repeat(key, shown),
            Some(':') => {
                let spec = self.up_to_brace();
                self.value(key, spec, shown);
            }
            _ => self.value(key, "", shown),
        }
    }

    fn get(&self, key: &str) -> Option<&'f Cell<'f>> {
        if key == "." { self.item } else { self.fields.get(key) }
    }

    /// The text up to the closing brace, once for each element of a list.
    fn repeat(&mut self, key: &str, shown: bool) {
        let start = self.rest;
        let outer = self.item;
        if let (Some(Cell::List(cells)), true) = (self.get(key), shown) {
            for cell in cells {
                self.rest = start;
                self.item = Some(cell);
                self.text(Nesting::Condition, true);
            }
        }
        self.item = outer;
        self.rest = start;
        self.text(Nesting::Condition, false);
    }

    fn up_to_brace(&mut self) -> &'t str {
        let (spec, rest) = self.rest.split_once('}').unwrap_or((self.rest, ""));
        self.rest = rest;
        spec
    }

    fn value(&mut self, key: &str, spec: &str, shown: bool) {
        if !shown {
            return;
        }
        match self.get(key) {
            Some(cell) => {
                cell_text::push(self.canvas, cell, &CellFormat::parse(spec), self.numbers);
            }
            None => self.canvas.push(&format!("{{{key}}}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use kcore::Addr;

    use super::*;

    fn rendered(template: &str) -> String {
        let mut fields = Fields::new();
        fields.addr("at", Addr::new(0x1f)).text("name", "n").flag("no", false).flag("yes", true);
        fields.put("empty", Cell::List(Vec::new())).opt_text::<&str>("gone", None);
        let mut canvas = Canvas::new(false);
        render(&mut canvas, template, &fields, Numbers { radix: 16, word_size: 8 });
        canvas.text().to_owned()
    }

    #[test]
    fn cells_stand_among_text() {
        assert_eq!(rendered("<{at:0}> {name:4}|{name:>4}|"), "<000000000000001f> n   |   n|");
        assert_eq!(rendered(""), "");
    }

    #[test]
    fn conditions_nest_and_hide_what_they_hold() {
        assert_eq!(rendered("{name?a{yes?b{gone?c}}}d"), "abd");
        assert_eq!(rendered("{gone?{name}{name?x}}{gone^none}"), "none");
        assert_eq!(rendered("{no?1}{empty?2}{gone?3}{missing?4}{yes?5}"), "5");
        assert_eq!(rendered("{empty^{no^{name:3}|}}"), "n  |");
    }

    #[test]
    fn text_repeats_for_each_element_of_a_list() {
        let mut fields = Fields::new();
        let two = vec![Cell::Num(1), Cell::Num(2)];
        fields.put("two", Cell::List(two)).put("none", Cell::List(Vec::new()));
        let mut canvas = Canvas::new(false);
        let numbers = Numbers { radix: 16, word_size: 8 };
        render(&mut canvas, "a{two*\n<{.}{two?!}>}{none*x}b", &fields, numbers);
        assert_eq!(canvas.text(), "a\n<1!>\n<2!>b");
    }

    #[test]
    fn braces_are_doubled() {
        assert_eq!(rendered("{{{name}}}"), "{n}");
        assert_eq!(rendered("{name?{{x}}}"), "{x}");
    }

    #[test]
    fn mistakes_are_shown_and_do_no_harm() {
        assert_eq!(rendered("{nokey} {name"), "{nokey} n");
        assert_eq!(rendered("}{"), "}{}");
        assert_eq!(rendered("{name?x"), "x");
        assert_eq!(rendered("{name:#"), "n");
    }

    #[test]
    fn templates_may_span_lines() {
        assert_eq!(rendered("{name}\n  {name:t4}{name}"), "n\n  n n");
    }
}
