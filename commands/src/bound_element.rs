//! Elements of a pipe with the variable that they bind for the stages after the next one.

use std::sync::Arc;

use kcore_dcmd::{Cx, DcmdError, Dot, Piped, Result};

use crate::element::Element;

/// Makes elements that bind a variable, if one was named.
pub struct Binder(Option<Arc<str>>);

impl Binder {
    /// Makes the variable at once, so that an error comes before the first element.
    ///
    /// # Errors
    /// If the variable is read-only, or the name is invalid.
    pub fn new(cx: &mut Cx<'_>, variable: Option<String>) -> Result<Self> {
        if let Some(name) = &variable {
            let is_there = cx.shell().variable(name).is_ok();
            cx.shell_mut().set_variable(name, 0).map_err(|error| match is_there {
                true => DcmdError::failed(format!("variable {name} is read-only")),
                false => error,
            })?;
        }
        Ok(Self(variable.map(Into::into)))
    }

    /// An element.
    pub fn element(&self, dot: Dot) -> Element {
        let element = Piped::from(dot);
        let bindings = match &self.0 {
            Some(name) => element.bindings.with(name, dot.number()),
            None => element.bindings,
        };
        Element(Piped { dot, bindings })
    }
}
