//! Values of enumerations by their names, over all modules.

use kcore_symbols::{FoundEnumerator, Type};
use kcore_values::{Object, expression};

use super::{SessionTypes, TypeLookupError, Types, lookup::Lookup};

impl Types<'_> {
    /// The values of enumerations that `name` means: those that the code sees from which types are seen
    /// ([`Types::seen_from`]), else those of the first module that has any. `scope` is as of [`Types::named`]. Several
    /// of one value and one type's name are one.
    ///
    /// # Errors
    /// When no module has the name that stood before the backquote.
    pub fn enumerators(
        &self,
        scope: Option<&str>,
        name: &str,
    ) -> Result<Vec<FoundEnumerator>, TypeLookupError> {
        let session = SessionTypes::default();
        let lookup = Lookup::new(*self, &session, scope);
        let seen = self.enumerators_in_code(scope, name);
        if !seen.is_empty() {
            return Ok(once_each(seen));
        }
        let modules = lookup.modules()?.into_iter();
        let mut all = modules.filter_map(|module| {
            let found = module.symbols().debug_info()?.find_enumerators(name);
            (!found.is_empty()).then_some(found)
        });
        Ok(once_each(all.next().unwrap_or_default()))
    }

    /// The value of this name in the module that describes `near`, else in the first that has any; `None` where it has
    /// several of the name.
    pub(crate) fn enumerator_near(&self, near: &Type, name: &str) -> Option<Object> {
        let own = near.debug_info().map(|info| info.find_enumerators(name));
        let own = own.filter(|found| !found.is_empty());
        let found = own.map_or_else(|| self.enumerators(None, name).unwrap_or_default(), once_each);
        let first = found.first()?;
        let is_one = found.iter().all(|other| other.value == first.value);
        is_one.then(|| expression::enumerator(&first.ty, first.value, self.core.target()))
    }

    /// Those that the code itself sees: its blocks, then its unit.
    pub fn enumerators_in_code(&self, scope: Option<&str>, name: &str) -> Vec<FoundEnumerator> {
        let from = self.from.filter(|_| scope.is_none());
        let Some(at) = from.and_then(|from| self.core.functions_at(from)) else {
            return Vec::new();
        };
        at.info.enumerators_seen_from(at.functions(), name)
    }
}

fn once_each(found: Vec<FoundEnumerator>) -> Vec<FoundEnumerator> {
    let mut kept: Vec<FoundEnumerator> = Vec::new();
    for one in found {
        let is_same = |other: &FoundEnumerator| {
            other.value == one.value && other.ty.spelled() == one.ty.spelled()
        };
        if !kept.iter().any(is_same) {
            kept.push(one);
        }
    }
    kept
}
