//! What a frame was called on and with, as stacks of all languages show it.

use super::{
    V8,
    script_tree::Tree,
    value::{Limits, Value},
};
use crate::{
    Dialect, FrameKind, FrameOfLanguage, Host, ScriptVariable, ScriptVariables, VariableLimits,
};

impl V8 {
    /// `this` and the arguments by their numbers: V8 keeps names of those alone that inner functions use.
    pub(super) fn variables_of(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        // An inlined function has no frame, and so nothing of its own lies there.
        let native = frame.native.filter(|_| frame.kind == FrameKind::Js && !frame.inline)?;
        let of_values =
            Limits { depth: limits.depth, entries: limits.entries, units: limits.characters };
        let details = self.frame_details(host, native, of_values)?;
        let tree = Tree { host, v8: self };
        let told = |(name, value): (String, &Value)| ScriptVariable {
            name: name.into(),
            is_argument: true,
            value: tree.node(value),
        };
        let this = details.receiver.iter().map(|value| ("this".to_owned(), value));
        let arguments = details.arguments.iter().zip(1_u64..);
        let arguments = arguments.map(|(value, number)| (format!("arg{number}"), value));
        let variables = this.chain(arguments).map(told).collect();
        Some(ScriptVariables { dialect: Dialect::JavaScript, variables })
    }
}
