//! Walkers that users declare in files: how to go from one element to the next, by expressions.

use std::{cell::RefCell, sync::Arc};

use super::{
    PrinterExpression,
    nodes::{ListNodes, MAX_NODES, NodeEnd, TreeNodes},
    scope::{PrinterScope, Trouble},
    show::{Printed, trouble},
    without_declared::WithoutDeclared,
};
use crate::{
    Object, Process,
    expression::scalar::{Scalar, is_pointer},
};

/// A walker of a file. Its expressions are evaluated over the object from which it starts, and those of a list or a
/// tree over a node; in both `$start` is a pointer to that object.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredWalker {
    /// Its name.
    pub name: Arc<str>,
    /// What it steps over, in a line.
    pub summary: Arc<str>,
    /// The type of the object at whose address it starts; without one it is that of `start`.
    pub ty: Option<PrinterExpression>,
    /// Where it starts without an address, by the names of the program.
    pub start: Option<PrinterExpression>,
    /// How it goes on.
    pub steps: WalkSteps,
    /// Whether a node, or an index, is one of an element.
    pub when: Option<PrinterExpression>,
    /// The element: a pointer to it, a number, or the object itself. Without it, it is the node.
    pub element: Option<PrinterExpression>,
    /// Elements, at most.
    pub most: u64,
    /// The line of the file on which its name stands, from 1.
    pub line: usize,
    /// The character of that line at which the name begins, from 1.
    pub column: usize,
}

/// How a walker goes on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WalkSteps {
    /// Along nodes that point to the next one, up to a null pointer or back to the first.
    List {
        /// A pointer to the first node.
        first: PrinterExpression,
        /// A pointer to the next node.
        next: PrinterExpression,
        /// Whether a node is none.
        end: Option<PrinterExpression>,
    },
    /// Through nodes that point to two others, in order.
    Tree {
        /// A pointer to the root.
        first: PrinterExpression,
        /// A pointer to what comes before.
        left: PrinterExpression,
        /// A pointer to what comes behind.
        right: PrinterExpression,
        /// Whether a node is none.
        end: Option<PrinterExpression>,
    },
    /// By an index, which is `$i`.
    Indices {
        /// How many there are.
        size: PrinterExpression,
    },
}

/// What a walk gives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WalkElement {
    /// An object that lies in memory.
    Object(Object),
    /// A number.
    Number(u64),
}

/// Why a walk ended before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {why}")]
pub struct WalkTrouble {
    /// The line of the file that has the expression, from 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

impl From<Trouble> for WalkTrouble {
    fn from((line, why): Trouble) -> Self {
        Self { line, why }
    }
}

/// A walk from an object. An error is its last item.
pub struct DeclaredWalk<'w> {
    process: WithoutDeclared<'w>,
    walker: &'w DeclaredWalker,
    start: Object,
    place: WalkPosition<'w>,
    troubles: RefCell<Vec<Trouble>>,
    given: u64,
    is_over: bool,
}

/// Where a walk is.
enum WalkPosition<'w> {
    List(ListNodes<'w>),
    Tree(TreeNodes<'w>),
    Index { next: u64, size: u64 },
}

impl DeclaredWalker {
    /// Begins a walk from an object.
    ///
    /// # Errors
    /// When the object does not tell where the first element is.
    pub fn walk<'w>(
        &'w self,
        process: &'w dyn Process,
        start: &Object,
    ) -> Result<DeclaredWalk<'w>, WalkTrouble> {
        let process = WithoutDeclared(process);
        let troubles = RefCell::default();
        let scope =
            PrinterScope { start: Some(start), ..PrinterScope::new(&process, start, &troubles) };
        let place = WalkPosition::first(self, &scope)?;
        let (start, is_over) = (start.clone(), false);
        Ok(DeclaredWalk { process, walker: self, start, place, troubles, given: 0, is_over })
    }
}

impl<'w> WalkPosition<'w> {
    fn first(walker: &'w DeclaredWalker, scope: &PrinterScope<'_>) -> Printed<Self> {
        Ok(match &walker.steps {
            WalkSteps::List { first, next, end } => {
                let end = NodeEnd { at: None, when: end.as_ref() };
                Self::List(ListNodes::new(next, end, scope.target(first)?))
            }
            WalkSteps::Tree { first, left, right, end } => {
                let end = NodeEnd { at: None, when: end.as_ref() };
                let mut tree = TreeNodes::new((left, right), end);
                tree.descend(scope, scope.target(first)?)?;
                Self::Tree(tree)
            }
            WalkSteps::Indices { size } => {
                let count = scope.number(size)?;
                if count > i64::MAX.cast_unsigned() {
                    return Err(trouble(size, "it is negative, and no number of elements"));
                }
                Self::Index { next: 0, size: count }
            }
        })
    }

    /// The next element, or that there is none at the next node; `None` behind the last node.
    fn step(
        &mut self,
        walker: &DeclaredWalker,
        scope: &PrinterScope<'_>,
    ) -> Printed<Option<Option<WalkElement>>> {
        let node = match self {
            Self::List(list) => list.take(scope)?,
            Self::Tree(tree) => tree.take(scope)?,
            Self::Index { next, size } => {
                let index = *next;
                if index >= *size {
                    return Ok(None);
                }
                if index >= MAX_NODES {
                    return Err((walker.line, format!("more than {MAX_NODES} indices")));
                }
                *next = index.saturating_add(1);
                return element(walker, &scope.of_index(index)).map(Some);
            }
        };
        node.map(|node| element(walker, &scope.over(&node))).transpose()
    }
}

/// The element at a node or an index; `None` where the condition does not hold, or a pointer to it is null.
fn element(walker: &DeclaredWalker, scope: &PrinterScope<'_>) -> Printed<Option<WalkElement>> {
    if !scope.holds(walker.when.as_ref())? {
        return Ok(None);
    }
    let Some(expression) = &walker.element else {
        return Ok(Some(WalkElement::Object(scope.object.clone())));
    };
    let object = scope.object(expression)?;
    let failed = |why: String| trouble(expression, &why);
    if is_pointer(scope.process, &object) {
        return Ok(scope.pointed(expression, &object)?.map(WalkElement::Object));
    }
    match Scalar::of(scope.process, &object).map_err(|why| failed(why.to_string()))? {
        Some(Scalar::Integer(number)) => {
            let number = number.extended(64).cut(64).unsigned();
            number.map(|number| Some(WalkElement::Number(number)))
        }
        _ => object.address().is_some().then_some(Some(WalkElement::Object(object))),
    }
    .ok_or_else(|| failed("it is no number and has no address".to_owned()))
}

impl Iterator for DeclaredWalk<'_> {
    type Item = Result<WalkElement, WalkTrouble>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { process, walker, start, place, troubles, given, is_over } = self;
        let scope =
            PrinterScope { start: Some(start), ..PrinterScope::new(process, start, troubles) };
        while !*is_over && process.budget().halt().is_none() {
            let step = match place.step(walker, &scope) {
                Ok(Some(None)) => continue,
                Ok(Some(Some(_))) if *given >= walker.most => {
                    let why = format!("there are more than {} elements", walker.most);
                    Some(Err(WalkTrouble { line: walker.line, why }))
                }
                Ok(Some(Some(element))) => Some(Ok(element)),
                Ok(None) => None,
                Err(trouble) => Some(Err(trouble.into())),
            };
            *given = given.saturating_add(1);
            *is_over = !matches!(step, Some(Ok(_)));
            return step;
        }
        None
    }
}
