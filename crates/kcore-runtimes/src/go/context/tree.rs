//! Contexts in the order of their tree.

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::GoContext;

/// All of them, each behind its parent and with its depth; siblings by where they lie. Those whose parents go round in a
/// circle, which only damage makes, come last.
pub fn ordered(mut all: Vec<GoContext>) -> Vec<GoContext> {
    all.sort_by_key(|context| context.at);
    let known: FxHashSet<Addr> = all.iter().map(|context| context.at).collect();
    let mut below: FxHashMap<Addr, Vec<usize>> = FxHashMap::default();
    let mut next = Vec::new();
    for (index, context) in all.iter().enumerate().rev() {
        match context.parent.filter(|parent| known.contains(parent)) {
            Some(parent) => below.entry(parent).or_default().push(index),
            None => next.push((index, 0)),
        }
    }
    let mut left: Vec<Option<GoContext>> = all.into_iter().map(Some).collect();
    let mut ordered = Vec::new();
    while let Some((index, depth)) = next.pop() {
        let Some(context) = left.get_mut(index).and_then(Option::take) else { continue };
        let children = below.remove(&context.at).unwrap_or_default();
        next.extend(children.into_iter().map(|child| (child, usize::saturating_add(depth, 1))));
        ordered.push(GoContext { depth, ..context });
    }
    ordered.extend(left.into_iter().flatten());
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go::ContextKind;

    fn context(at: u64, parent: Option<u64>) -> GoContext {
        GoContext {
            at: Addr::new(at),
            kind: ContextKind::Cancel,
            ty: None,
            depth: 0,
            parent: parent.map(Addr::new),
            parent_type: None,
            deadline: None,
            ended: None,
            cause: None,
            key: None,
            value: None,
            children: None,
            done: None,
            waiting: Vec::new(),
            function: None,
        }
    }

    fn shown(all: Vec<GoContext>) -> Vec<(u64, usize)> {
        ordered(all).into_iter().map(|context| (context.at.get(), context.depth)).collect()
    }

    #[test]
    fn each_stands_below_its_parent() {
        let all =
            [context(8, Some(16)), context(16, None), context(24, Some(99)), context(32, Some(8))];
        assert_eq!(shown(all.to_vec()), [(16, 0), (8, 1), (32, 2), (24, 0)]);
    }

    #[test]
    fn a_circle_is_told_once() {
        let all = [context(8, Some(16)), context(16, Some(8)), context(24, Some(24))];
        assert_eq!(shown(all.to_vec()), [(8, 0), (16, 0), (24, 0)]);
    }
}
