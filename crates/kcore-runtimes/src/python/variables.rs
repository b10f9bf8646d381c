//! The variables of a frame, as stacks of all languages show them.

use super::{Python, locals::Local, script_tree, value::Limits};
use crate::{
    Dialect, FrameKind, FrameOfLanguage, Host, ScriptVariable, ScriptVariables, VariableLimits,
};

/// What every module has among its variables.
pub const BUILTINS: &str = "__builtins__";

impl Python {
    pub(super) fn variables_of(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        let at = frame.object.filter(|_| frame.kind == FrameKind::Python)?;
        let of_values =
            Limits { depth: limits.depth, entries: limits.entries, characters: limits.characters };
        let told = |local: Local| ScriptVariable {
            value: script_tree::node(&self.value_or_why(host, local.at, of_values)),
            name: local.name,
            is_argument: local.is_argument,
        };
        let is_wanted =
            |local: &Local| (limits.locals || local.is_argument) && &*local.name != BUILTINS;
        let mut locals = self.locals(host, at)?;
        locals.retain(is_wanted);
        let variables = locals.into_iter().map(told).collect();
        Some(ScriptVariables { dialect: Dialect::Python, variables })
    }
}
