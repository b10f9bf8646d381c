//! The elements of an array, one after the other, because they may not fit into memory at once.

use kcore::v8::value::ElementContent;
use kcore_dcmd::Result;

use super::subject::Subject;

/// Visits all elements of an object with their indices, except empty ones.
///
/// # Errors
/// If it is not an object, and the errors of the visit.
pub fn each_element(
    subject: Subject<'_>,
    visit: &mut dyn FnMut(u64, ElementContent) -> Result<()>,
) -> Result<()> {
    let Subject { core, v8, word } = subject;
    if let Some(slots) = v8.element_slots(core, word) {
        let held = |index| Some((index, v8.element(core, word, index)?));
        return (0..slots).filter_map(held).try_for_each(|(index, held)| visit(index, held));
    }
    let all = v8.elements(core, word, u64::MAX).ok_or_else(|| subject.not_an("array"))?;
    all.0.into_iter().try_for_each(|(index, held)| visit(index, held))
}
