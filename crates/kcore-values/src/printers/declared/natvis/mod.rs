//! natvis files, as Visual Studio and others read them, as far as their expressions do without calls.
//!
//! Source: the schema `natvis.xsd` and Microsoft's page "Create custom views of C++ objects". What kcore has no shape
//! for is left out, and said: what concerns windows, COM and other views than the usual one, and expressions that are none
//! of C. `Intrinsic` is expanded as a macro is.

mod custom;
mod intrinsic;

use intrinsic::{Intrinsic, expanded};
use roxmltree::{Document, Node, ParsingOptions};

use super::{
    DeclaredPrinter, PrinterExpression, PrinterFileError, PrinterShape, TypePattern,
    shape::{HeldExpressions, NamedExpression},
    words::WordTemplate,
};
use crate::expression;

/// Elements of a file, at most.
const MAX_NODES: u32 = 1 << 20;

/// Printers, and what was left out.
type Parsed = (Vec<DeclaredPrinter>, Vec<String>);

/// Reads a file.
///
/// # Errors
/// When it is no XML, or not of this form.
pub fn parse(text: &str) -> Result<Parsed, PrinterFileError> {
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let of_pos = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let (line, column) = (of_pos(error.pos().row), of_pos(error.pos().col));
        PrinterFileError { line, column, why: error.to_string() }
    })?;
    let root = document.root_element();
    if root.tag_name().name() != "AutoVisualizer" {
        let why = format!("AutoVisualizer is expected, not {}", root.tag_name().name());
        return Err(PrinterFileError { line: 1, column: 1, why });
    }
    let mut reader = Reader {
        document: &document,
        intrinsics: Vec::new(),
        printers: Vec::new(),
        left_out: Vec::new(),
    };
    reader.add_intrinsics(root);
    for node in root.children().filter(Node::is_element) {
        match node.tag_name().name() {
            "Type" if is_of_other_view(node) => {}
            "Type" => reader.ty(node),
            "Version" | "Intrinsic" | "HResult" | "UIVisualizer" => {}
            other => reader.leave_out(node, other),
        }
    }
    let Reader { mut printers, left_out, .. } = reader;
    // Of two that fit, the one of the higher priority counts.
    printers.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
    Ok((printers.into_iter().map(|(_, printer)| printer).collect(), left_out))
}

/// The priorities of the schema, the lowest first.
const PRIORITIES: [&str; 5] = ["Low", "MediumLow", "Medium", "MediumHigh", "High"];

struct Reader<'d, 'i> {
    document: &'d Document<'i>,
    /// Those of the file, and behind them those of the type at hand.
    intrinsics: Vec<Intrinsic>,
    printers: Vec<(usize, DeclaredPrinter)>,
    left_out: Vec<String>,
}

impl Reader<'_, '_> {
    fn line(&self, node: Node<'_, '_>) -> usize {
        self.position(node).0
    }

    /// The line and the column at which an element begins, from 1.
    fn position(&self, node: Node<'_, '_>) -> (usize, usize) {
        let at = self.document.text_pos_at(node.range().start);
        let of_pos = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        (of_pos(at.row), of_pos(at.col))
    }

    fn leave_out(&mut self, node: Node<'_, '_>, what: &str) {
        self.left_out.push(format!("line {}: {what}", self.line(node)));
    }

    fn add_intrinsics(&mut self, parent: Node<'_, '_>) {
        for node in elements(parent, "Intrinsic") {
            let (Some(name), Some(text)) = (node.attribute("Name"), node.attribute("Expression"))
            else {
                self.leave_out(node, "Intrinsic");
                continue;
            };
            let parameters = elements(node, "Parameter").filter_map(|it| it.attribute("Name"));
            self.intrinsics.push(Intrinsic {
                name: name.trim().to_owned(),
                parameters: parameters.map(|name| name.trim().to_owned()).collect(),
                expression: text.trim().to_owned(),
            });
        }
    }

    fn ty(&mut self, ty: Node<'_, '_>) {
        let of_file = self.intrinsics.len();
        self.add_intrinsics(ty);
        self.type_printers(ty);
        self.intrinsics.truncate(of_file);
    }

    fn type_printers(&mut self, ty: Node<'_, '_>) {
        let other_names =
            elements(ty, "AlternativeType").filter_map(|other| other.attribute("Name"));
        let names = ty.attribute("Name").into_iter().chain(other_names);
        let patterns: Vec<_> = names.map(TypePattern::new).collect();
        let named = PRIORITIES.iter().position(|name| Some(*name) == ty.attribute("Priority"));
        let priority = named.unwrap_or(PRIORITIES.len() / 2);
        let shapes = self.shapes(ty);
        if shapes.is_empty() {
            return;
        }
        let line = self.line(ty);
        self.printers.extend(shapes.into_iter().map(|(when, shape)| {
            (priority, DeclaredPrinter { patterns: patterns.clone(), when, shape, line })
        }));
    }

    /// What a type's objects are: what they expand to before what they display, each with its condition.
    fn shapes(&mut self, ty: Node<'_, '_>) -> Vec<(Option<PrinterExpression>, PrinterShape)> {
        let mut shapes = Vec::new();
        for node in ty.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "Expand" => self.expanded(node, &mut shapes),
                "SmartPointer" => {
                    shapes.push((None, PrinterShape::Pointer(self.expression(node))));
                }
                "AlternativeType" | "DisplayString" | "StringView" | "Intrinsic" | "Version" => {}
                "UIVisualizer" | "HResult" | "CustomVisualizer" => {}
                other => self.leave_out(node, other),
            }
        }
        shapes.extend(self.displayed(ty));
        shapes
    }

    /// What a type displays, each with its condition.
    fn displayed(&mut self, ty: Node<'_, '_>) -> Vec<(Option<PrinterExpression>, PrinterShape)> {
        let mut shapes = Vec::new();
        for display in elements(ty, "DisplayString").filter(|node| !is_of_other_view(*node)) {
            let line = self.line(display);
            let text = display.text().unwrap_or_default().trim();
            let text = expanded(text, &self.intrinsics);
            let template = WordTemplate::parse(&text, self.position(display), false);
            let checked = template.and_then(|template| {
                let faults =
                    template.expressions().find_map(|it| expression::check(&it.text).err());
                faults.map_or(Ok(template), |fault| Err(fault.to_string()))
            });
            match checked {
                Ok(template) => {
                    shapes.push((self.condition(display), PrinterShape::Words(template)));
                }
                Err(why) => self.left_out.push(format!("line {line}: DisplayString: {why}")),
            }
        }
        shapes
    }

    /// Elements count before named items beside them, as those say how they are kept.
    fn expanded(
        &mut self,
        expand: Node<'_, '_>,
        shapes: &mut Vec<(Option<PrinterExpression>, PrinterShape)>,
    ) {
        let mut members = Vec::new();
        let shown = |node: &Node<'_, '_>| node.is_element() && !is_of_other_view(*node);
        for node in expand.children().filter(shown) {
            match node.tag_name().name() {
                "Item" | "ExpandedItem" if !self.is_expression(node) => {}
                "Item" => members.extend(self.item(node)),
                "ExpandedItem" => members.push(NamedExpression {
                    name: self.expression(node).text,
                    when: self.condition(node),
                    value: self.expression(node),
                    is_expanded: true,
                    is_optional: is_optional(node),
                    synthetic: Vec::new(),
                }),
                "Synthetic" => members.extend(self.synthetic(node)),
                "CustomListItems" => match self.custom(node) {
                    Some(program) => {
                        shapes.push((self.condition(node), PrinterShape::Custom(program)));
                    }
                    None => self.leave_out(node, "CustomListItems"),
                },
                name => match self.collection(name, node) {
                    Some(shape) => shapes.push((self.condition(node), shape)),
                    None => self.leave_out(node, name),
                },
            }
        }
        match members.as_slice() {
            [] => {}
            [only] if only.is_expanded => {
                shapes.push((only.when.clone(), PrinterShape::Same(only.value.clone())));
            }
            _ => shapes.push((None, PrinterShape::Members(members))),
        }
    }

    fn item(&self, node: Node<'_, '_>) -> Option<NamedExpression> {
        let name = node.attribute("Name")?.into();
        let (when, value) = (self.condition(node), self.expression(node));
        let is_optional = is_optional(node);
        let synthetic = Vec::new();
        Some(NamedExpression { name, when, value, is_expanded: false, is_optional, synthetic })
    }

    /// Whether the expression of an element is one of C; what is wrong is said.
    fn is_expression(&mut self, node: Node<'_, '_>) -> bool {
        let Err(fault) = expression::check(&self.expression(node).text) else { return true };
        self.leave_out(node, &format!("{}: {fault}", node.tag_name().name()));
        false
    }

    /// A part by a name of its own, that is what its shapes say of the same object.
    fn synthetic(&mut self, node: Node<'_, '_>) -> Option<NamedExpression> {
        let mut shapes = Vec::new();
        for expand in elements(node, "Expand") {
            self.expanded(expand, &mut shapes);
        }
        shapes.extend(self.displayed(node));
        if shapes.is_empty() {
            return None;
        }
        Some(NamedExpression {
            name: node.attribute("Name")?.into(),
            when: self.condition(node),
            value: self.of_text(node, "this"),
            is_expanded: false,
            is_optional: is_optional(node),
            synthetic: shapes,
        })
    }

    fn collection(&self, name: &str, node: Node<'_, '_>) -> Option<PrinterShape> {
        let child = |name: &str| elements(node, name).next().map(|child| self.expression(child));
        let held = |value| Some(HeldExpressions { key: None, value: child(value)? });
        Some(match name {
            "ArrayItems" if elements(node, "Rank").next().is_some() => {
                let rank = elements(node, "Rank").next()?.text()?.trim().parse().ok()?;
                let direction = elements(node, "Direction").next().and_then(|it| it.text());
                if direction.is_some_and(|direction| direction.trim() != "Forward") {
                    return None;
                }
                PrinterShape::Grid { rank, size: child("Size")?, first: child("ValuePointer")? }
            }
            "ArrayItems" => {
                PrinterShape::Array { size: child("Size")?, first: child("ValuePointer")? }
            }
            "IndexListItems" => PrinterShape::Elements {
                size: child("Size")?,
                when: None,
                held: held("ValueNode")?,
            },
            "LinkedListItems" => PrinterShape::List {
                size: child("Size"),
                head: child("HeadPointer")?,
                next: child("NextPointer")?,
                end: None,
                held: held("ValueNode")?,
            },
            "TreeItems" => PrinterShape::Tree {
                size: child("Size"),
                head: child("HeadPointer")?,
                left: child("LeftPointer")?,
                right: child("RightPointer")?,
                end: None,
                held: held("ValueNode")?,
            },
            _ => return None,
        })
    }

    fn condition(&self, node: Node<'_, '_>) -> Option<PrinterExpression> {
        Some(self.of_text(node, node.attribute("Condition")?))
    }

    /// An expression at the place of an element, without calls of what the file names.
    fn of_text(&self, node: Node<'_, '_>, text: &str) -> PrinterExpression {
        let (line, column) = self.position(node);
        let text = expanded(text.trim(), &self.intrinsics).as_ref().into();
        PrinterExpression { text, line, column }
    }

    /// An expression without what stands behind its last comma: how Visual Studio writes it.
    fn expression(&self, node: Node<'_, '_>) -> PrinterExpression {
        let text = super::words::split(node.text().unwrap_or_default()).0;
        self.of_text(node, text)
    }
}

/// Whether an element is for views that are asked for by name.
fn is_of_other_view(node: Node<'_, '_>) -> bool {
    node.attribute("IncludeView").is_some()
}

fn is_optional(node: Node<'_, '_>) -> bool {
    node.attribute("Optional").is_some_and(|text| text.trim() == "true")
}

fn elements<'a, 'i>(node: Node<'a, 'i>, name: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.tag_name().name() == name)
}
