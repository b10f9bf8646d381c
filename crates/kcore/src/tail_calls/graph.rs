//! The ways by which one function can become another one by jumps, and what all of them have in common.

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};
use rustc_hash::FxHashMap;

/// Functions that are looked at, and jumps between them: beyond, it is unknown where they lead.
const MAX_FUNCTIONS: usize = 256;
const MAX_JUMPS: usize = 4096;

/// A jump by which a function ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump<C> {
    /// Where it is.
    pub pc: CodeAddr,
    /// What describes it.
    pub call: C,
    /// Where the function begins that it leads to; `None` where nobody knows.
    pub to: Option<Addr>,
}

/// The jumps of one function.
#[derive(Debug)]
pub struct Jumps<C> {
    /// Those that are told of.
    pub all: Vec<Jump<C>>,
    /// Whether there are no others.
    pub is_complete: bool,
}

/// What all the ways have in common.
#[derive(Debug)]
pub struct Common<C> {
    /// The jumps that they begin with, the last one first.
    pub first: Vec<Jump<C>>,
    /// The jumps that they end with, the last one first.
    pub last: Vec<Jump<C>>,
    /// Where these do not meet: the function that the first ones lead to, `None` within if nobody knows it.
    pub stopped_at: Option<Option<Addr>>,
    /// Whether there is one way alone.
    pub is_whole: bool,
}

/// A jump between functions by their numbers.
#[derive(Clone, Copy)]
struct Edge<C> {
    from: usize,
    /// `None` where nobody knows.
    to: Option<usize>,
    jump: Jump<C>,
}

/// The functions that one may become.
pub struct Graph<C> {
    starts: Vec<Addr>,
    edges: Vec<Edge<C>>,
    /// Of each function, whether it may jump to where nobody knows.
    is_open: Vec<bool>,
    /// Of each function, whether it may become the wanted one.
    leads: Vec<bool>,
    /// The wanted one, if it is known to be among them.
    goal: Option<usize>,
}

/// The function that is called first.
const START: usize = 0;

impl<C: Copy> Graph<C> {
    /// Follows the jumps from the function at `called` in search of the one at `runs`.
    pub fn explore(
        called: Addr,
        runs: Addr,
        mut jumps_of: impl FnMut(Addr) -> Option<Arc<Jumps<C>>>,
    ) -> Self {
        let mut graph = Self {
            starts: vec![called],
            edges: Vec::new(),
            is_open: Vec::new(),
            leads: Vec::new(),
            goal: None,
        };
        let mut numbers = FxHashMap::from_iter([(called, START)]);
        while let Some(at) = graph.starts.get(graph.is_open.len()).copied() {
            let jumps = jumps_of(at);
            graph.add(jumps.as_deref(), &mut numbers);
        }
        graph.goal = numbers.get(&runs).copied();
        graph.find_what_leads();
        graph
    }

    /// Adds the jumps of the next function.
    fn add(&mut self, jumps: Option<&Jumps<C>>, numbers: &mut FxHashMap<Addr, usize>) {
        let from = self.is_open.len();
        let all = jumps.map(|jumps| jumps.all.as_slice()).unwrap_or_default();
        let fits = self.edges.len().saturating_add(all.len()) <= MAX_JUMPS;
        for jump in all.iter().filter(|_| fits) {
            let to = jump.to.and_then(|to| self.number(to, numbers));
            self.edges.push(Edge { from, to, jump: *jump });
        }
        self.is_open.push(!fits || !jumps.is_some_and(|jumps| jumps.is_complete));
    }

    /// The number of a function; `None` where there are too many.
    fn number(&mut self, at: Addr, numbers: &mut FxHashMap<Addr, usize>) -> Option<usize> {
        if let Some(known) = numbers.get(&at) {
            return Some(*known);
        }
        let next = self.starts.len();
        if next >= MAX_FUNCTIONS {
            return None;
        }
        self.starts.push(at);
        numbers.insert(at, next);
        Some(next)
    }

    /// Goes backwards from the wanted function, and from those that jump to where nobody knows: they may lead there.
    fn find_what_leads(&mut self) {
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); self.starts.len()];
        self.leads = self.is_open.clone();
        for edge in &self.edges {
            match edge.to {
                Some(to) => into.get_mut(to).into_iter().for_each(|into| into.push(edge.from)),
                None => self.leads.get_mut(edge.from).into_iter().for_each(|leads| *leads = true),
            }
        }
        if let Some(goal) = self.goal.and_then(|goal| self.leads.get_mut(goal)) {
            *goal = true;
        }
        let mut left: Vec<usize> = (0..self.leads.len()).filter(|at| self.does_lead(*at)).collect();
        while let Some(at) = left.pop() {
            for from in into.get(at).into_iter().flatten() {
                if let Some(leads @ false) = self.leads.get_mut(*from) {
                    *leads = true;
                    left.push(*from);
                }
            }
        }
    }

    fn does_lead(&self, function: usize) -> bool {
        self.leads.get(function).is_some_and(|leads| *leads)
    }

    /// The jumps of a function by which it may become the wanted one.
    fn ways_on(&self, from: usize) -> impl Iterator<Item = &Edge<C>> {
        let own = self.edges.iter().filter(move |edge| edge.from == from);
        own.filter(|edge| edge.to.is_none_or(|to| self.does_lead(to)))
    }

    fn is_open(&self, function: usize) -> bool {
        self.is_open.get(function).is_none_or(|is_open| *is_open)
    }

    /// The jump by which a function goes on, if there is exactly one and no other is possible.
    fn only_way_on(&self, from: usize) -> Option<&Edge<C>> {
        let mut ways = self.ways_on(from);
        let first = ways.next()?;
        (ways.next().is_none() && !self.is_open(from)).then_some(first)
    }

    /// The jump that leads to a function, if exactly one does.
    fn only_way_to(&self, to: usize) -> Option<&Edge<C>> {
        let mut ways = self.edges.iter().filter(|edge| edge.to == Some(to));
        let first = ways.next()?;
        (ways.next().is_none() && to != START).then_some(first)
    }

    /// What all ways to the wanted function have in common. Each may come to it more than once.
    pub fn common(&self) -> Common<C> {
        let mut common =
            Common { first: Vec::new(), last: Vec::new(), stopped_at: None, is_whole: false };
        if !self.does_lead(START) {
            return common;
        }
        let mut at = Some(START);
        while at != self.goal
            && common.first.len() < MAX_FUNCTIONS
            && let Some(way) = at.and_then(|at| self.only_way_on(at))
        {
            common.first.push(way.jump);
            at = way.to;
        }
        common.first.reverse();
        if at.is_some() && at == self.goal {
            common.is_whole = self.goal.is_some_and(|goal| self.has_no_way_on(goal));
            return common;
        }
        common.stopped_at = Some(at.and_then(|at| self.starts.get(at).copied()));
        common.last = self.common_last();
        common
    }

    fn has_no_way_on(&self, function: usize) -> bool {
        !self.is_open(function) && self.ways_on(function).next().is_none()
    }

    /// The jumps that all ways end with. Where one may come from anywhere, there are none.
    fn common_last(&self) -> Vec<Jump<C>> {
        let is_closed = |at: usize| !self.is_open(at);
        let is_known = (0..self.starts.len()).all(is_closed)
            && self.edges.iter().all(|edge| edge.to.is_some());
        let mut last = Vec::new();
        let mut at = self.goal.filter(|_| is_known);
        while let Some(way) = at.and_then(|at| self.only_way_to(at))
            && last.len() < MAX_FUNCTIONS
        {
            last.push(way.jump);
            at = Some(way.from);
        }
        last
    }
}

#[cfg(test)]
mod tests;
