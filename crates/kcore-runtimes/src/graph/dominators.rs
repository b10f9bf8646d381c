//! Dominators: the nearest object without which another cannot be reached.
//!
//! Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph", 1979, the simple form: it
//! is nearly linear whatever the graph is like, and chains of a million objects are common. Nothing
//! recurses.

use super::{NONE, edges::Edges};
use crate::objects::{Stopped, Watch};

/// Nodes between two looks at the user.
const STEP: u32 = 1 << 18;

/// The tree of dominators of what is reached from some nodes.
#[derive(Debug)]
pub struct Dominators {
    /// The nodes in the order in which a search in depth reached them.
    pub order: Vec<u32>,
    /// For each of those, the place in the order of its dominator; [`NONE`] where only all roots together
    /// are.
    pub dominator: Vec<u32>,
}

/// What a search in depth found.
struct Search {
    order: Vec<u32>,
    /// The place of the node from which each was reached.
    parent: Vec<u32>,
    /// The place of each node, [`NONE`] if it was not reached.
    place: Vec<u32>,
}

impl Dominators {
    /// Of the nodes that are reached from `roots`. Place 0 in what is computed stands for all roots.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn of(edges: &Edges, roots: &[u32], watch: Watch<'_>) -> Result<Self, Stopped> {
        let search = search(edges, roots);
        let before = edges.reversed(&search.order, &search.place);
        let mut is_root = vec![false; search.order.len()];
        for root in roots {
            let place = search.place.get(*root as usize).copied().unwrap_or(NONE);
            if let Some(is_root) = is_root.get_mut(place as usize) {
                *is_root = true;
            }
        }
        let Search { order, parent, .. } = search;
        let dominator = Tree::new(parent).dominators(&before, &is_root, watch)?;
        Ok(Self { order, dominator })
    }
}

/// A search in depth from all roots, as if one node led to them.
fn search(edges: &Edges, roots: &[u32]) -> Search {
    let mut search =
        Search { order: Vec::new(), parent: Vec::new(), place: vec![NONE; edges.node_count()] };
    // Nodes that were entered, and how many of their edges were followed.
    let mut entered: Vec<(u32, u32)> = Vec::new();
    for root in roots {
        search.enter(*root, NONE, &mut entered);
        while let Some((place, next)) = entered.last_mut() {
            let node = search.order.get(*place as usize).copied().unwrap_or(NONE);
            let target = edges.target(node, *next);
            *next = next.saturating_add(1);
            let place = *place;
            match target {
                Some(target) => search.enter(target, place, &mut entered),
                None => drop(entered.pop()),
            }
        }
    }
    search
}

impl Search {
    fn enter(&mut self, node: u32, parent: u32, entered: &mut Vec<(u32, u32)>) {
        let Some(known) = self.place.get_mut(node as usize).filter(|place| **place == NONE) else {
            return;
        };
        let place = u32::try_from(self.order.len()).unwrap_or(NONE);
        *known = place;
        self.order.push(node);
        self.parent.push(parent);
        entered.push((place, 0));
    }
}

/// The nodes of a search by place. What is above all roots has the number of nodes for its place, and is
/// less than any other.
struct Tree {
    parent: Vec<u32>,
    semi: Vec<u32>,
    ancestor: Vec<u32>,
    label: Vec<u32>,
    dominator: Vec<u32>,
    /// The first node whose semidominator each is, and the next of each.
    bucket: Vec<u32>,
    next: Vec<u32>,
}

fn get(list: &[u32], place: u32) -> u32 {
    list.get(place as usize).copied().unwrap_or(NONE)
}

fn set(list: &mut [u32], place: u32, value: u32) {
    if let Some(held) = list.get_mut(place as usize) {
        *held = value;
    }
}

impl Tree {
    /// Places are counted from 1 here: 0 is above all roots.
    fn new(parent: Vec<u32>) -> Self {
        let count = u32::try_from(parent.len()).unwrap_or(NONE).saturating_add(1);
        let shifted = parent.iter().map(|parent| match *parent {
            NONE => 0,
            parent => parent.saturating_add(1),
        });
        let places: Vec<u32> = (0..count).collect();
        let nothing = vec![NONE; count as usize];
        Self {
            parent: [NONE].into_iter().chain(shifted).collect(),
            semi: places.clone(),
            ancestor: nothing.clone(),
            label: places,
            dominator: vec![0; count as usize],
            bucket: nothing.clone(),
            next: nothing,
        }
    }

    fn dominators(
        mut self,
        before: &Edges,
        is_root: &[bool],
        watch: Watch<'_>,
    ) -> Result<Vec<u32>, Stopped> {
        let count = u32::try_from(self.parent.len()).unwrap_or(NONE);
        let mut path = Vec::new();
        for place in (1..count).rev() {
            self.find_semi(place, before, is_root, &mut path);
            self.settle_bucket(get(&self.parent, place), &mut path);
            let done = count.saturating_sub(place);
            if done % STEP == 0 && watch(done.into(), count.into()).is_break() {
                return Err(Stopped);
            }
        }
        for place in 1..count {
            let dominator = get(&self.dominator, place);
            if dominator != get(&self.semi, place) {
                let above = get(&self.dominator, dominator);
                set(&mut self.dominator, place, above);
            }
        }
        let shifted = self.dominator.iter().skip(1);
        Ok(shifted.map(|dominator| dominator.checked_sub(1).unwrap_or(NONE)).collect())
    }

    fn find_semi(&mut self, place: u32, before: &Edges, is_root: &[bool], path: &mut Vec<u32>) {
        let node = place.saturating_sub(1);
        let mut semi = get(&self.semi, place);
        if is_root.get(node as usize).copied().unwrap_or(false) {
            semi = 0;
        }
        for from in before.targets(node) {
            let best = self.eval(from.saturating_add(1), path);
            semi = semi.min(get(&self.semi, best));
        }
        set(&mut self.semi, place, semi);
        let first = get(&self.bucket, semi);
        set(&mut self.next, place, first);
        set(&mut self.bucket, semi, place);
        let parent = get(&self.parent, place);
        set(&mut self.ancestor, place, parent);
    }

    /// The nodes whose semidominator is `parent`: their dominator is it, or that of who is between.
    fn settle_bucket(&mut self, parent: u32, path: &mut Vec<u32>) {
        let mut place = get(&self.bucket, parent);
        set(&mut self.bucket, parent, NONE);
        while place != NONE {
            let best = self.eval(place, path);
            let is_less = get(&self.semi, best) < get(&self.semi, place);
            set(&mut self.dominator, place, if is_less { best } else { parent });
            place = get(&self.next, place);
        }
    }

    /// The node with the least semidominator on the way up to the root of a linked tree.
    fn eval(&mut self, place: u32, path: &mut Vec<u32>) -> u32 {
        if get(&self.ancestor, place) == NONE {
            return place;
        }
        self.compress(place, path);
        get(&self.label, place)
    }

    fn compress(&mut self, place: u32, path: &mut Vec<u32>) {
        path.clear();
        let mut at = place;
        while get(&self.ancestor, get(&self.ancestor, at)) != NONE {
            path.push(at);
            at = get(&self.ancestor, at);
        }
        while let Some(at) = path.pop() {
            let above = get(&self.ancestor, at);
            let (label, higher) = (get(&self.label, at), get(&self.label, above));
            if get(&self.semi, higher) < get(&self.semi, label) {
                set(&mut self.label, at, higher);
            }
            let top = get(&self.ancestor, above);
            set(&mut self.ancestor, at, top);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(edges: &Edges, roots: &[u32]) -> Dominators {
        let mut go_on = |_, _| std::ops::ControlFlow::Continue(());
        Dominators::of(edges, roots, &mut go_on).expect("nobody stops it")
    }

    /// Who dominates whom, by leaving each node out in turn.
    fn by_hand(edges: &Edges, roots: &[u32]) -> Vec<Vec<u32>> {
        let count = edges.node_count() as u32;
        let reached = |without: u32| {
            let left: Vec<u32> = roots.iter().copied().filter(|root| *root != without).collect();
            let mut seen = vec![false; count as usize];
            let mut stack = left;
            while let Some(node) = stack.pop() {
                if !std::mem::replace(&mut seen[node as usize], true) {
                    stack.extend(edges.targets(node).filter(|to| *to != without));
                }
            }
            seen
        };
        let all = reached(NONE);
        let lost = |without: u32| {
            let seen = reached(without);
            (0..count).filter(|node| all[*node as usize] && !seen[*node as usize]).collect()
        };
        (0..count).map(lost).collect()
    }

    fn dominated(dominators: &Dominators, count: usize) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); count];
        for (place, node) in dominators.order.iter().enumerate() {
            let mut above = place as u32;
            while above != NONE {
                lists[dominators.order[above as usize] as usize].push(*node);
                above = dominators.dominator[above as usize];
            }
        }
        lists.iter_mut().for_each(|list| list.sort_unstable());
        lists
    }

    #[test]
    fn what_is_dominated_is_what_gets_lost() {
        let mut state = 12345_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % below) as u32
        };
        for round in 0..300 {
            let count = 2 + round % 30;
            let lists: Vec<Vec<u32>> =
                (0..count).map(|_| (0..random(4)).map(|_| random(count)).collect()).collect();
            let edges = Edges::of_lists(&lists);
            let roots = [random(count), random(count)];
            let dominators = of(&edges, &roots);
            assert_eq!(
                dominated(&dominators, count as usize),
                by_hand(&edges, &roots),
                "{lists:?} {roots:?}"
            );
        }
    }

    #[test]
    fn a_long_chain_takes_no_stack() {
        let count = 300_000;
        let lists: Vec<Vec<u32>> = (0..count).map(|node| vec![(node + 1) % count]).collect();
        let dominators = of(&Edges::of_lists(&lists), &[0]);
        assert_eq!(dominators.order.len(), count as usize);
        assert_eq!(dominators.dominator.last(), Some(&(count - 2)));
    }
}
