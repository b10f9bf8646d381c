//! Edges between objects, by their numbers.

/// From each node to others.
#[derive(Debug, Default)]
pub struct Edges {
    /// Where the targets of each node begin, and where the last end.
    first: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    /// None yet, of no nodes.
    pub fn new() -> Self {
        Self { first: vec![0], targets: Vec::new() }
    }

    /// Adds nodes behind those that are there: how many targets each has, and all targets. False, and
    /// nothing added, when there would be too many.
    pub fn add(&mut self, counts: &[u32], targets: &[u32]) -> bool {
        let total = self.targets.len().saturating_add(targets.len());
        if u32::try_from(total).is_err() {
            return false;
        }
        let mut end = self.first.last().copied().unwrap_or(0);
        for count in counts {
            end = end.saturating_add(*count);
            self.first.push(end);
        }
        self.targets.extend_from_slice(targets);
        true
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }

    fn range(&self, node: u32) -> Option<(u32, u32)> {
        let node = node as usize;
        Some((*self.first.get(node)?, *self.first.get(node.checked_add(1)?)?))
    }

    /// Target `index` of a node.
    pub fn target(&self, node: u32, index: u32) -> Option<u32> {
        let (first, end) = self.range(node)?;
        let at = first.checked_add(index).filter(|at| *at < end)?;
        self.targets.get(at as usize).copied()
    }

    /// The targets of a node.
    pub fn targets(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let (first, end) = self.range(node).unwrap_or((0, 0));
        self.targets.get(first as usize..end as usize).unwrap_or_default().iter().copied()
    }

    /// The same edges the other way round, between the places of nodes in an order; those of nodes that have
    /// no place are left out.
    pub fn reversed(&self, order: &[u32], place: &[u32]) -> Self {
        let mut first = vec![0_u32; order.len().saturating_add(1)];
        let places =
            |node: u32| self.targets(node).filter_map(|target| place.get(target as usize).copied());
        let mut count = |place: u32| {
            if let Some(count) = first.get_mut((place as usize).saturating_add(1)) {
                *count = count.saturating_add(1);
            }
        };
        order.iter().flat_map(|node| places(*node)).for_each(&mut count);
        let mut sum = 0_u32;
        for end in &mut first {
            sum = sum.saturating_add(*end);
            *end = sum;
        }
        let mut next = first.clone();
        let mut targets = vec![0; sum as usize];
        for (from, node) in (0..).zip(order) {
            for place in places(*node) {
                let Some(next) = next.get_mut(place as usize) else { continue };
                if let Some(target) = targets.get_mut(*next as usize) {
                    *target = from;
                }
                *next = next.saturating_add(1);
            }
        }
        Self { first, targets }
    }

    /// Of lists of targets.
    #[cfg(test)]
    pub fn of_lists(lists: &[Vec<u32>]) -> Self {
        let mut edges = Self::new();
        for list in lists {
            assert!(edges.add(&[list.len() as u32], list));
        }
        edges
    }
}
