//! Dcmds that users declare in files: a pipeline with a name, or a table of expressions over the elements of a walk.

use std::{cell::RefCell, sync::Arc};

use super::{
    PrinterExpression, WalkTrouble, scope::PrinterScope, without_declared::WithoutDeclared,
};
use crate::{Object, Process};

/// A dcmd of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredDcmd {
    /// Its name, without `::`.
    pub name: Arc<str>,
    /// What it does, in a line.
    pub summary: Arc<str>,
    /// More help, in paragraphs; empty without any.
    pub help: Arc<str>,
    /// Whether it takes an address.
    pub address: DcmdAddress,
    /// What it takes, in order: `$1` is the first.
    pub arguments: Vec<DcmdArgument>,
    /// What it does.
    pub action: DcmdAction,
    /// The line of the file on which its name stands, from 1.
    pub line: usize,
    /// The character of that line at which the name begins, from 1.
    pub column: usize,
}

/// Whether a dcmd of a file takes an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DcmdAddress {
    /// It takes none.
    None,
    /// It may be given.
    Optional,
    /// It must be given.
    Required,
}

/// An argument of a dcmd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DcmdArgument {
    /// What usage calls it.
    pub name: Arc<str>,
    /// What it is when it is not given; without a default it must be given.
    pub default: Option<Arc<str>>,
}

/// What a dcmd does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DcmdAction {
    /// It runs a pipeline of kcore's language, with `$1` for the first argument.
    Pipeline(PrinterExpression),
    /// It shows a row for each element of a walk.
    Table {
        /// The name of the walker.
        walk: PrinterExpression,
        /// The type of the elements, where the walker does not tell it.
        ty: Option<PrinterExpression>,
        /// Which elements are shown.
        when: Option<PrinterExpression>,
        /// What is shown of each.
        columns: Vec<DcmdColumn>,
    },
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct DcmdColumn {
    /// Its name.
    pub name: Arc<str>,
    /// Its width in characters.
    pub width: usize,
    /// What stands in it, over the element.
    pub value: PrinterExpression,
}

/// The object that an expression gives over an element of a walk, with the arguments of a dcmd as `$1`, `$2`.
///
/// # Errors
/// When the expression has no value, with its line.
pub fn over_element(
    process: &dyn Process,
    element: &Object,
    expression: &PrinterExpression,
    arguments: &[u64],
) -> Result<Object, WalkTrouble> {
    let (process, troubles) = (WithoutDeclared(process), RefCell::default());
    let scope = PrinterScope { arguments, ..PrinterScope::new(&process, element, &troubles) };
    Ok(scope.object(expression)?)
}

/// Whether a condition holds over an element of a walk; one that is not there does.
///
/// # Errors
/// As [`over_element`].
pub fn holds_for_element(
    process: &dyn Process,
    element: &Object,
    condition: Option<&PrinterExpression>,
    arguments: &[u64],
) -> Result<bool, WalkTrouble> {
    let (process, troubles) = (WithoutDeclared(process), RefCell::default());
    let scope = PrinterScope { arguments, ..PrinterScope::new(&process, element, &troubles) };
    Ok(scope.holds(condition)?)
}
