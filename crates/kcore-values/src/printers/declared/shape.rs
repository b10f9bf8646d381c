//! What a printer says that an object is.

use std::sync::Arc;

use super::{custom::CustomSteps, words::WordTemplate};

/// An expression of a printer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrinterExpression {
    /// As its file has it.
    pub text: Arc<str>,
    /// The line of the file on which it stands, from 1.
    pub line: usize,
    /// The character of that line at which it begins, from 1.
    pub column: usize,
}

/// What an object is. Expressions are evaluated over the object; `next`, `left`, `right`, `key` and `value` over the
/// node of a list or tree, and those of an element with its index as `$i`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrinterShape {
    /// Characters: where they begin, and how many they are; without a length up to a NUL.
    Text {
        /// A pointer to characters, or an array of them.
        at: PrinterExpression,
        /// How many.
        length: Option<PrinterExpression>,
    },
    /// A pointer that owns what it points to.
    Pointer(PrinterExpression),
    /// Another object, which it stands for.
    Same(PrinterExpression),
    /// Named parts, each if its condition holds.
    Members(Vec<NamedExpression>),
    /// Objects one behind the other.
    Array {
        /// How many.
        size: PrinterExpression,
        /// A pointer to the first one.
        first: PrinterExpression,
    },
    /// Objects that have an index.
    Elements {
        /// How many indices there are.
        size: PrinterExpression,
        /// Whether there is an object of index `$i`.
        when: Option<PrinterExpression>,
        /// What is in them.
        held: HeldExpressions,
    },
    /// Nodes that point to the next one, up to a null pointer or back to the first.
    List {
        /// How many, if the object knows.
        size: Option<PrinterExpression>,
        /// A pointer to the first node.
        head: PrinterExpression,
        /// A pointer to the next node.
        next: PrinterExpression,
        /// The node that is none: the one behind the last.
        end: Option<PrinterExpression>,
        /// What is in a node.
        held: HeldExpressions,
    },
    /// Nodes that point to two others, in order.
    Tree {
        /// How many, if the object knows.
        size: Option<PrinterExpression>,
        /// A pointer to the root.
        head: PrinterExpression,
        /// A pointer to what comes before.
        left: PrinterExpression,
        /// A pointer to what comes behind.
        right: PrinterExpression,
        /// The node that is none, where no null pointer stands for it.
        end: Option<PrinterExpression>,
        /// What is in a node.
        held: HeldExpressions,
    },
    /// Elements that a program gives.
    Custom(CustomSteps),
    /// Objects one behind the other in several dimensions, the last of which varies first.
    Grid {
        /// How many dimensions.
        rank: u64,
        /// How many there are in the dimension `$i`.
        size: PrinterExpression,
        /// A pointer to the first one.
        first: PrinterExpression,
    },
    /// Words with values in them.
    Words(WordTemplate),
}

/// A part with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedExpression {
    /// The name.
    pub name: Arc<str>,
    /// Whether there is such a part.
    pub when: Option<PrinterExpression>,
    /// What it is.
    pub value: PrinterExpression,
    /// Whether the members of what it is stand in its place.
    pub is_expanded: bool,
    /// Whether it is left out where its expressions have no value.
    pub is_optional: bool,
    /// What it is over the same object, by the first shape whose condition holds, instead of `value`.
    pub synthetic: Vec<(Option<PrinterExpression>, PrinterShape)>,
}

/// What an element or a node holds.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldExpressions {
    /// The key, if it has one.
    pub key: Option<PrinterExpression>,
    /// The value.
    pub value: PrinterExpression,
}
