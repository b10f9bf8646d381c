//! Native frames that stand for those of a language, where these cannot be decoded.

use std::sync::Arc;

use kcore_mem::AddrRange;

use crate::{Damage, FrameKind, Host, LanguageFrame, NativeStack, Span};

/// The function that runs frames of a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// The module that has it.
    pub module: AddrRange,
    /// What it is called; a compiler may have appended `.cold` and the like.
    pub function: &'static str,
    /// What it runs.
    pub kind: FrameKind,
}

impl StandIn {
    /// Spans that say of each of its frames in a stack what it stands for, and why no more is known.
    pub(crate) fn spans(
        &self,
        host: &dyn Host,
        stack: &NativeStack<'_>,
        damage: &Damage,
    ) -> Vec<Span> {
        let doubt: Arc<str> = format!("not decoded: {}", damage.why).into();
        let language = |_| LanguageFrame {
            kind: self.kind,
            language: Some(self.kind.as_str()),
            doubt: Some(doubt.clone()),
            ..LanguageFrame::default()
        };
        let frames = stack.frames.iter().enumerate();
        let ours = frames.filter(|(_, frame)| {
            self.module.contains(frame.pc.lookup())
                && host.function_at(frame.pc).is_some_and(|name| self.is_called(&name))
        });
        ours.map(|(index, _)| Span::replacing(index, vec![language(index)])).collect()
    }

    fn is_called(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.function);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kcore_mem::Addr;

    #[test]
    fn a_function_is_known_with_what_a_compiler_appends() {
        let module = AddrRange::new(Addr::new(0x1000), Addr::new(0x2000));
        let stands = StandIn { module, function: "run", kind: FrameKind::Python };
        assert!(
            ["run", "run.cold", "run.lto_priv.0"].into_iter().all(|name| stands.is_called(name))
        );
        assert!(!["runs", "rerun", ""].into_iter().any(|name| stands.is_called(name)));
    }
}
