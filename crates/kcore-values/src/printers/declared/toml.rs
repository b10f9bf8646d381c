//! kcore's own files of printers, in TOML: a table `[[type]]` for each printer, `[[walker]]` for each walker and
//! `[[dcmd]]` for each dcmd.

use std::{collections::HashSet, ops::Range};

use serde::Deserialize;
use toml::Spanned;

use super::{
    DeclaredDcmd, DeclaredPrinter, DeclaredWalker, PrinterFileError, PrinterShape, TypePattern,
    dcmd_table::DcmdTable,
    error::position_of,
    shape::{HeldExpressions, NamedExpression},
    walker_table::WalkerTable,
    words::WordTemplate,
    written::{Written, WrittenFile},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "type")]
    types: Vec<Spanned<Table>>,
    #[serde(default, rename = "walker")]
    walkers: Vec<WalkerTable>,
    #[serde(default, rename = "dcmd")]
    dcmds: Vec<DcmdTable>,
}

/// What a file declares.
pub struct Declared {
    /// Its printers.
    pub printers: Vec<DeclaredPrinter>,
    /// Its walkers.
    pub walkers: Vec<DeclaredWalker>,
    /// Its dcmds.
    pub dcmds: Vec<DeclaredDcmd>,
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
/// When it is no TOML, says something that no printer, walker or dcmd has, or holds what can be no expression.
pub fn parse(text: &str) -> Result<Declared, PrinterFileError> {
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().unwrap_or(0..0).start;
        PrinterFileError::at(text, at, error.message())
    })?;
    let reader = Reader { text, file: WrittenFile::new(text) };
    let printers = file.types.into_iter().map(|table| reader.printer(table));
    let printers = printers.collect::<Result<_, _>>()?;
    let walkers = file.walkers.into_iter().map(|table| table.read(&reader.file));
    let walkers: Vec<DeclaredWalker> = walkers.collect::<Result<_, _>>()?;
    let dcmds = file.dcmds.into_iter().map(|table| table.read(&reader.file));
    let dcmds: Vec<DeclaredDcmd> = dcmds.collect::<Result<_, _>>()?;
    refuse_twins(walkers.iter().map(|it| (&*it.name, it.line, it.column)))?;
    refuse_twins(dcmds.iter().map(|it| (&*it.name, it.line, it.column)))?;
    reader.file.without_fault(Declared { printers, walkers, dcmds })
}

/// Refuses two names that are the same; each has its line and column.
fn refuse_twins<'n>(
    names: impl Iterator<Item = (&'n str, usize, usize)>,
) -> Result<(), PrinterFileError> {
    let mut seen = HashSet::new();
    for (name, line, column) in names {
        if !seen.insert(name) {
            return Err(PrinterFileError {
                line,
                column,
                why: format!("there are two of the name {name}"),
            });
        }
    }
    Ok(())
}

struct Reader<'t> {
    text: &'t str,
    file: WrittenFile<'t>,
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
        let when = self.file.maybe(table.when.as_ref());
        let shape = self.shape(table, &at)?;
        Ok(DeclaredPrinter { patterns, when, shape, line: position_of(self.text, at.start).0 })
    }

    /// The one thing that a table says an object is.
    fn shape(&self, table: Table, at: &Range<usize>) -> Result<PrinterShape, PrinterFileError> {
        let words = table.words.map(|words| self.words(&words)).transpose()?;
        let mut shapes = [
            table.text.map(|text| self.text(&text)),
            table.pointer.map(|pointer| PrinterShape::Pointer(self.file.expression(&pointer))),
            table.same.map(|same| PrinterShape::Same(self.file.expression(&same))),
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

    fn words(&self, words: &Written) -> Result<PrinterShape, PrinterFileError> {
        let at = self.file.position(words);
        let template = WordTemplate::parse(words.get_ref(), at, true);
        let template =
            template.map_err(|why| PrinterFileError { line: at.0, column: at.1, why })?;
        Ok(PrinterShape::Words(template))
    }

    fn text(&self, text: &TextTable) -> PrinterShape {
        PrinterShape::Text {
            at: self.file.expression(&text.at),
            length: self.file.maybe(text.length.as_ref()),
        }
    }

    fn members(&self, members: &[MemberTable]) -> PrinterShape {
        let member = |member: &MemberTable| NamedExpression {
            name: member.name.as_str().into(),
            when: self.file.maybe(member.when.as_ref()),
            value: self.file.expression(&member.value),
            is_expanded: false,
            is_optional: false,
            synthetic: Vec::new(),
        };
        PrinterShape::Members(members.iter().map(member).collect())
    }

    fn array(&self, array: &ArrayTable) -> PrinterShape {
        PrinterShape::Array {
            size: self.file.expression(&array.size),
            first: self.file.expression(&array.first),
        }
    }

    fn held(&self, key: Option<&Written>, value: &Written) -> HeldExpressions {
        HeldExpressions { key: self.file.maybe(key), value: self.file.expression(value) }
    }

    fn elements(&self, elements: &ElementTable) -> PrinterShape {
        PrinterShape::Elements {
            size: self.file.expression(&elements.size),
            when: self.file.maybe(elements.when.as_ref()),
            held: self.held(elements.key.as_ref(), &elements.value),
        }
    }

    fn list(&self, list: &ListTable) -> PrinterShape {
        PrinterShape::List {
            size: self.file.maybe(list.size.as_ref()),
            head: self.file.expression(&list.head),
            next: self.file.expression(&list.next),
            end: self.file.maybe(list.end.as_ref()),
            held: self.held(list.key.as_ref(), &list.value),
        }
    }

    fn tree(&self, tree: &TreeTable) -> PrinterShape {
        PrinterShape::Tree {
            size: self.file.maybe(tree.size.as_ref()),
            head: self.file.expression(&tree.head),
            left: self.file.expression(&tree.left),
            right: self.file.expression(&tree.right),
            end: self.file.maybe(tree.end.as_ref()),
            held: self.held(tree.key.as_ref(), &tree.value),
        }
    }
}
