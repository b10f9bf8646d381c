//! Walkers as files have them: tables `[[walker]]`.

use serde::Deserialize;
use toml::Spanned;

use super::{
    DeclaredWalker, PrinterFileError, WalkSteps,
    nodes::MAX_NODES,
    written::{Written, WrittenFile},
};

/// A walker as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalkerTable {
    name: Written,
    summary: String,
    #[serde(rename = "type")]
    ty: Option<Written>,
    start: Option<Written>,
    first: Option<Written>,
    next: Option<Written>,
    left: Option<Written>,
    right: Option<Written>,
    end: Option<Written>,
    size: Option<Written>,
    when: Option<Written>,
    element: Option<Written>,
    max: Option<Spanned<u64>>,
}

/// What tells how a walker goes on.
const STEPS: &str = "a walker has first and next, or first, left and right, or size and element, and nothing else of these";

impl WalkerTable {
    /// The walker that it is.
    ///
    /// # Errors
    /// When it is none, with where.
    pub fn read(&self, file: &WrittenFile<'_>) -> Result<DeclaredWalker, PrinterFileError> {
        let name = name(file, &self.name)?;
        let at = self.name.span();
        if self.ty.is_none() && self.start.is_none() {
            return Err(file.error(&at, "a walker has a type, a start, or both"));
        }
        let steps = self.steps(file).ok_or_else(|| file.error(&at, STEPS))?;
        let most = self.max.as_ref().map_or(MAX_NODES, |max| *max.get_ref());
        if let Some(max) = self.max.as_ref().filter(|_| most == 0 || most > MAX_NODES) {
            return Err(file.error(&max.span(), format!("max is from 1 to {MAX_NODES}")));
        }
        let (line, column) = file.position(&self.name);
        Ok(DeclaredWalker {
            name,
            summary: self.summary.trim().into(),
            ty: self.ty.as_ref().map(|ty| file.plain(ty)),
            start: file.maybe(self.start.as_ref()),
            steps,
            when: file.maybe(self.when.as_ref()),
            element: file.maybe(self.element.as_ref()),
            most,
            line,
            column,
        })
    }

    fn steps(&self, file: &WrittenFile<'_>) -> Option<WalkSteps> {
        let read = |written: &Written| file.expression(written);
        let end = || file.maybe(self.end.as_ref());
        match (&self.first, &self.next, &self.left, &self.right, &self.size) {
            (Some(first), Some(next), None, None, None) => {
                Some(WalkSteps::List { first: read(first), next: read(next), end: end() })
            }
            (Some(first), None, Some(left), Some(right), None) => Some(WalkSteps::Tree {
                first: read(first),
                left: read(left),
                right: read(right),
                end: end(),
            }),
            (None, None, None, None, Some(size)) if self.end.is_none() => {
                self.element.as_ref().map(|_| WalkSteps::Indices { size: read(size) })
            }
            _ => None,
        }
    }
}

/// A name that can be typed: letters, digits and underscores.
///
/// # Errors
/// When it is none.
pub fn name(
    file: &WrittenFile<'_>,
    written: &Written,
) -> Result<std::sync::Arc<str>, PrinterFileError> {
    let name = written.get_ref();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match is_name {
        true => Ok(name.as_str().into()),
        false => {
            let why =
                "a name begins with a letter and has letters, digits and underscores, at most 64";
            Err(file.error(&written.span(), why))
        }
    }
}
