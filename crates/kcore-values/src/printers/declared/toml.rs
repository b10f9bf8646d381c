//! kcore's own files of printers, in TOML: a table `[[type]]` for each printer.

use std::{ops::Range, sync::Arc};

use serde::Deserialize;
use toml::Spanned;

use super::{
    DeclaredPrinter, PrinterExpression, PrinterFileError, PrinterShape, TypePattern,
    error::line_of,
    shape::{HeldExpressions, NamedExpression},
    words::WordTemplate,
};

/// An expression with where it stands.
type Written = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "type")]
    types: Vec<Spanned<Table>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: OneOrMore,
    when: Option<Written>,
    text: Option<TextTable>,
    pointer: Option<Written>,
    same: Option<Written>,
    words: Option<Written>,
    members: Option<Vec<MemberTable>>,
    array: Option<ArrayTable>,
    elements: Option<ElementTable>,
    list: Option<ListTable>,
    tree: Option<TreeTable>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextTable {
    at: Written,
    length: Option<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberTable {
    name: String,
    value: Written,
    when: Option<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayTable {
    size: Written,
    first: Written,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ElementTable {
    size: Written,
    when: Option<Written>,
    key: Option<Written>,
    value: Written,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListTable {
    size: Option<Written>,
    head: Written,
    next: Written,
    end: Option<Written>,
    key: Option<Written>,
    value: Written,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeTable {
    size: Option<Written>,
    head: Written,
    left: Written,
    right: Written,
    end: Option<Written>,
    key: Option<Written>,
    value: Written,
}

/// Reads a file.
///
/// # Errors
/// When it is no TOML, or says something that no printer has.
pub fn parse(text: &str) -> Result<Vec<DeclaredPrinter>, PrinterFileError> {
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().unwrap_or(0..0).start;
        PrinterFileError::at(text, at, error.message())
    })?;
    let reader = Reader { text };
    file.types.into_iter().map(|table| reader.printer(table)).collect()
}

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn printer(&self, table: Spanned<Table>) -> Result<DeclaredPrinter, PrinterFileError> {
        let at = table.span();
        let table = table.into_inner();
        let names = match &table.name {
            OneOrMore::One(name) => std::slice::from_ref(name),
            OneOrMore::More(names) => names.as_slice(),
        };
        let patterns = names.iter().map(|name| TypePattern::new(name)).collect();
        let when = self.maybe(table.when.as_ref());
        let shape = self.shape(table, &at)?;
        Ok(DeclaredPrinter { patterns, when, shape, line: line_of(self.text, at.start) })
    }

    /// The one thing that a table says an object is.
    fn shape(&self, table: Table, at: &Range<usize>) -> Result<PrinterShape, PrinterFileError> {
        let words = table.words.map(|words| self.words(&words)).transpose()?;
        let mut shapes = [
            table.text.map(|text| self.text(&text)),
            table.pointer.map(|pointer| PrinterShape::Pointer(self.expression(&pointer))),
            table.same.map(|same| PrinterShape::Same(self.expression(&same))),
            table.members.map(|members| self.members(&members)),
            table.array.map(|array| self.array(&array)),
            table.elements.map(|elements| self.elements(&elements)),
            table.list.map(|list| self.list(&list)),
            table.tree.map(|tree| self.tree(&tree)),
            words,
        ]
        .into_iter()
        .flatten();
        match (shapes.next(), shapes.next()) {
            (Some(shape), None) => Ok(shape),
            _ => Err(PrinterFileError::at(
                self.text,
                at.start,
                "a type has one of text, pointer, same, words, members, array, elements, list and tree",
            )),
        }
    }

    fn expression(&self, written: &Written) -> PrinterExpression {
        let line = line_of(self.text, written.span().start);
        PrinterExpression { text: Arc::from(written.get_ref().trim()), line }
    }

    fn maybe(&self, written: Option<&Written>) -> Option<PrinterExpression> {
        written.map(|written| self.expression(written))
    }

    fn words(&self, words: &Written) -> Result<PrinterShape, PrinterFileError> {
        let line = line_of(self.text, words.span().start);
        let template = WordTemplate::parse(words.get_ref(), line, true);
        let template = template.map_err(|why| PrinterFileError { line, why })?;
        Ok(PrinterShape::Words(template))
    }

    fn text(&self, text: &TextTable) -> PrinterShape {
        PrinterShape::Text {
            at: self.expression(&text.at),
            length: self.maybe(text.length.as_ref()),
        }
    }

    fn members(&self, members: &[MemberTable]) -> PrinterShape {
        let member = |member: &MemberTable| NamedExpression {
            name: member.name.as_str().into(),
            when: self.maybe(member.when.as_ref()),
            value: self.expression(&member.value),
            is_expanded: false,
        };
        PrinterShape::Members(members.iter().map(member).collect())
    }

    fn array(&self, array: &ArrayTable) -> PrinterShape {
        PrinterShape::Array {
            size: self.expression(&array.size),
            first: self.expression(&array.first),
        }
    }

    fn held(&self, key: Option<&Written>, value: &Written) -> HeldExpressions {
        HeldExpressions { key: self.maybe(key), value: self.expression(value) }
    }

    fn elements(&self, elements: &ElementTable) -> PrinterShape {
        PrinterShape::Elements {
            size: self.expression(&elements.size),
            when: self.maybe(elements.when.as_ref()),
            held: self.held(elements.key.as_ref(), &elements.value),
        }
    }

    fn list(&self, list: &ListTable) -> PrinterShape {
        PrinterShape::List {
            size: self.maybe(list.size.as_ref()),
            head: self.expression(&list.head),
            next: self.expression(&list.next),
            end: self.maybe(list.end.as_ref()),
            held: self.held(list.key.as_ref(), &list.value),
        }
    }

    fn tree(&self, tree: &TreeTable) -> PrinterShape {
        PrinterShape::Tree {
            size: self.maybe(tree.size.as_ref()),
            head: self.expression(&tree.head),
            left: self.expression(&tree.left),
            right: self.expression(&tree.right),
            end: self.maybe(tree.end.as_ref()),
            held: self.held(tree.key.as_ref(), &tree.value),
        }
    }
}
