//! Elements by their indices.

use super::{
    PrinterExpression,
    nodes::MAX_NODES,
    scope::PrinterScope,
    shape::HeldExpressions,
    show::{Printed, collected, pair, trouble},
};
use crate::{Process, eval::Evaluator};

/// Places without an element, one after the other, that are looked at: damaged tables may have nothing else.
const MAX_EMPTY: u64 = 1 << 16;

/// Elements of each index for which there is one.
pub fn elements(
    evaluator: &mut Evaluator<'_>,
    scope: &PrinterScope<'_>,
    (size, when): (&PrinterExpression, Option<&PrinterExpression>),
    held: &HeldExpressions,
) -> Printed {
    let indices = scope.number(size)?;
    if indices > MAX_NODES {
        refuse_impossible(scope, size, indices)?;
    }
    let mut index = 0_u64;
    let total = when.is_none().then_some(indices);
    let mut next = |scope: &PrinterScope<'_>| {
        let end = index.saturating_add(MAX_EMPTY);
        while index < indices {
            if index >= MAX_NODES {
                return Err(trouble(size, "more than 1048576 elements are looked at"));
            }
            if index >= end {
                let why = "65536 places for elements, one after the other, are empty";
                return Err(trouble(size, why));
            }
            let at = scope.of_index(index);
            index = index.saturating_add(1);
            if at.holds(when)? {
                return pair(&at, held).map(Some);
            }
        }
        Ok(None)
    };
    collected(evaluator, scope, held.key.is_some(), total, &mut next)
}

/// Freed and uninitialised memory tells of more elements than there are bytes in all of the memory.
fn refuse_impossible(
    scope: &PrinterScope<'_>,
    size: &PrinterExpression,
    indices: u64,
) -> Printed<()> {
    let regions = scope.process.space().regions();
    let bytes = regions.iter().map(|region| region.range.len()).fold(0, u64::saturating_add);
    match indices > bytes {
        true => Err(trouble(
            size,
            &format!("there are no {indices} elements in {bytes} bytes of memory"),
        )),
        false => Ok(()),
    }
}
