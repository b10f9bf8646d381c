//! What one stage of a pipe hands to the next.

use std::sync::Arc;

use crate::Dot;

/// A value in a pipe, with the variables that were bound on its way.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Piped {
    /// The value.
    pub dot: Dot,
    /// What `::walk name variable` and its like bound for the stages behind them.
    pub bindings: Bindings,
}

impl From<Dot> for Piped {
    fn from(dot: Dot) -> Self {
        Self { dot, bindings: Bindings::default() }
    }
}

/// Variables with the values that they have while one value of a pipe is handled.
///
/// A pipe may hold millions of values: without a binding none of them has memory for it, and those
/// that one stage bound alike share it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bindings(Option<Arc<Vec<Binding>>>);

type Binding = (Arc<str>, u64);

impl Bindings {
    /// These, and `name` with `value`; a binding of the same name gives way.
    #[must_use]
    pub fn with(&self, name: &Arc<str>, value: u64) -> Self {
        let others = self.pairs().iter().filter(|(bound, _)| bound != name).cloned();
        Self(Some(Arc::new(others.chain([(Arc::clone(name), value)]).collect())))
    }

    /// These, under those of `inner`, which were made later.
    #[must_use]
    pub fn under(&self, inner: &Self) -> Self {
        inner.pairs().iter().fold(self.clone(), |all, (name, value)| all.with(name, *value))
    }

    /// Each name with its value, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.pairs().iter().map(|(name, value)| (&**name, *value))
    }

    fn pairs(&self) -> &[Binding] {
        self.0.as_ref().map_or(&[], |pairs| pairs.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_bindings_hide_earlier_ones() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let outer = Bindings::default().with(&a, 1).with(&b, 2);
        let all = outer.under(&Bindings::default().with(&a, 3));
        assert_eq!(all.iter().collect::<Vec<_>>(), [("b", 2), ("a", 3)]);
        assert_eq!(outer.under(&Bindings::default()), outer);
    }
}
