//! Graphs whose ways are known.

use super::*;

/// The jumps of each function, by the functions' numbers; 0 is where nobody knows. Functions that are not listed
/// are open.
type Functions = [(u64, &'static [u64])];

/// The function that is called, and the one that runs.
const CALLED: u64 = 1;
const RUNS: u64 = 9;

fn jump(from: u64, at: usize, to: u64) -> Jump<usize> {
    let pc = CodeAddr::Return(Addr::new(from * 100 + at as u64));
    Jump { pc, call: at, to: (to != 0).then(|| Addr::new(to)) }
}

fn common(functions: &Functions) -> Common<usize> {
    let graph = Graph::explore(Addr::new(CALLED), Addr::new(RUNS), |at| {
        let (from, to) = functions.iter().find(|(from, _)| Addr::new(*from) == at)?;
        let all = to.iter().enumerate().map(|(at, to)| jump(*from, at, *to)).collect();
        Some(Arc::new(Jumps { all, is_complete: true }))
    });
    graph.common()
}

/// The functions whose jumps these are, the last one first.
fn functions(jumps: &[Jump<usize>]) -> Vec<u64> {
    jumps.iter().map(|jump| jump.pc.addr().get() / 100).collect()
}

fn check(graph: &Functions, first: &[u64], last: &[u64], is_whole: bool) {
    let found = common(graph);
    let seen = (functions(&found.first), functions(&found.last), found.is_whole);
    assert_eq!(seen, (first.to_vec(), last.to_vec(), is_whole), "{graph:?}");
}

#[test]
fn a_single_way_is_shown_whole() {
    check(&[(1, &[2]), (2, &[3]), (3, &[9]), (9, &[])], &[3, 2, 1], &[], true);
    check(&[(1, &[9]), (9, &[])], &[1], &[], true);
    // Ways that lead elsewhere for certain do not count.
    check(&[(1, &[2, 4]), (2, &[9]), (4, &[5]), (5, &[4]), (9, &[4])], &[2, 1], &[], true);
}

#[test]
fn what_is_called_itself_needs_no_jumps() {
    let found = Graph::explore(Addr::new(RUNS), Addr::new(RUNS), |_| {
        Some(Arc::new(Jumps::<usize> { all: Vec::new(), is_complete: true }))
    });
    let found = found.common();
    assert!(found.first.is_empty() && found.last.is_empty() && found.is_whole);
}

#[test]
fn of_several_ways_the_ends_that_they_share_are_shown() {
    let fork: &Functions = &[(1, &[2]), (2, &[3, 4]), (3, &[5]), (4, &[5]), (5, &[9]), (9, &[])];
    check(fork, &[1], &[5], false);
    assert_eq!(common(fork).stopped_at, Some(Some(Addr::new(2))));
    check(&[(1, &[2, 3]), (2, &[9]), (3, &[9]), (9, &[])], &[], &[], false);
    // Two jumps of one function.
    check(&[(1, &[9, 9]), (9, &[])], &[], &[], false);
    check(&[(1, &[2]), (2, &[9, 3]), (3, &[2]), (9, &[])], &[1], &[2], false);
}

#[test]
fn loops_end() {
    check(&[(1, &[1, 9]), (9, &[])], &[], &[1], false);
    check(&[(1, &[2]), (2, &[3]), (3, &[1])], &[], &[], false);
    // The function that runs may have run before, and come to itself again.
    check(&[(1, &[9]), (9, &[9])], &[1], &[], false);
    check(&[(1, &[2]), (2, &[9]), (9, &[2])], &[2, 1], &[], false);
}

#[test]
fn beyond_what_nobody_knows_nothing_is_proven() {
    // The jump to somewhere is proven; that there is none but the told ones is not, of 4.
    check(&[(1, &[2]), (2, &[0]), (9, &[])], &[2, 1], &[], false);
    assert_eq!(common(&[(1, &[0])]).stopped_at, Some(None));
    check(&[(1, &[2, 4]), (2, &[9]), (9, &[])], &[], &[], false);
    check(&[(1, &[4]), (9, &[])], &[1], &[], false);
    check(&[(1, &[2]), (2, &[9]), (9, &[0])], &[2, 1], &[], false);
    check(&[(1, &[2]), (2, &[3, 0]), (3, &[9]), (9, &[])], &[1], &[], false);
}

#[test]
fn what_is_too_much_is_unknown() {
    let found = Graph::explore(Addr::new(CALLED), Addr::new(u64::MAX), |at| {
        let all = (0..8).map(|n| jump(at.get(), n, at.get() * 8 + n as u64)).collect();
        Some(Arc::new(Jumps { all, is_complete: true }))
    });
    assert!(found.starts.len() <= MAX_FUNCTIONS && found.edges.len() <= MAX_JUMPS);
    let found = found.common();
    assert!(found.first.is_empty() && found.last.is_empty() && !found.is_whole);
}
