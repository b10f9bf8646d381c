//! The name that was perhaps meant.

/// The candidate that differs least from what was typed, if it differs little.
pub fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = if typed.chars().count() < 6 { 1 } else { 2 };
    candidates
        .map(|name| (distance(typed, name), name))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

/// Letters to insert, remove, replace or swap with a neighbour to turn one text into the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    // Nobody means a name that is so much shorter or longer, and what was typed may be long.
    if from.len().abs_diff(to.len()) > 2 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for row in 1..=from.len() {
        let mut current = vec![row];
        for column in 1..=to.len() {
            let replaced = above[column - 1] + usize::from(from[row - 1] != to[column - 1]);
            let mut least = replaced.min(above[column] + 1).min(current[column - 1] + 1);
            if row > 1 && column > 1 && swapped(&from[row - 2..row], &to[column - 2..column]) {
                least = least.min(before[column - 2] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[to.len()]
}

fn swapped(from: &[char], to: &[char]) -> bool {
    from[0] == to[1] && from[1] == to[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_slips_of_the_hand() {
        for (from, to, expected) in [
            ("", "", 0),
            ("stack", "stack", 0),
            ("stak", "stack", 1),
            ("satck", "stack", 1),
            ("stsck", "stack", 1),
            ("stacks", "stack", 1),
            ("ab", "ba", 1),
            ("status", "stacks", 2),
            ("a", "abcd", usize::MAX),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
        }
    }
}
