//! Which symbol covers an address, decided once for all addresses.
//!
//! Symbols overlap: an alias at the same start, a local function inside a sized assembly routine,
//! a symbol whose size is wrong. A sweep over the sorted symbols cuts the address range into
//! pieces with one answer each, so that a lookup is one binary search whatever the table holds.

/// What a symbol covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First address.
    pub start: u64,
    /// First address after it; for a symbol without a size, the furthest that it may reach.
    pub end: u64,
    /// Whether the table gave a size. A symbol without one fills gaps and never hides a sized one.
    pub sized: bool,
    /// The symbol.
    pub id: u32,
}

/// A piece: from `start` to the start of the next piece, `id` is the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    start: u64,
    id: Option<u32>,
}

/// The pieces of a module.
#[derive(Debug, Default)]
pub struct Cover {
    pieces: Vec<Piece>,
}

impl Cover {
    /// Sweeps over spans sorted by start; of those with one start the last is preferred. At each
    /// address the latest start that still covers it wins.
    pub fn new(spans: &[Span]) -> Self {
        let mut sweep = Sweep::default();
        let mut groups = spans.chunk_by(|a, b| a.start == b.start).peekable();
        while let Some(here) = groups.next() {
            sweep.close_up_to(here.first().map_or(0, |span| span.start));
            let later = groups.peek().and_then(|group| group.first());
            let next = later.map_or(u64::MAX, |span| span.start);
            here.iter().for_each(|span| sweep.open(span, next));
        }
        sweep.close_up_to(u64::MAX);
        Self { pieces: sweep.pieces }
    }

    /// The symbol that covers `at`.
    pub fn find(&self, at: u64) -> Option<u32> {
        let after = self.pieces.partition_point(|piece| piece.start <= at);
        self.pieces.get(after.checked_sub(1)?)?.id
    }
}

#[derive(Default)]
struct Sweep {
    pieces: Vec<Piece>,
    /// Symbols that have begun; the last one that has not ended is the answer.
    open: Vec<Span>,
    /// How many of them have a size.
    sized: usize,
}

impl Sweep {
    /// Ends every symbol that ends at or before `at`.
    fn close_up_to(&mut self, at: u64) {
        while let Some(top) = self.open.last().copied().filter(|top| top.end <= at) {
            while let Some(closed) = self.open.pop_if(|span| span.end <= top.end) {
                self.sized = self.sized.saturating_sub(usize::from(closed.sized));
            }
            self.answer_from(top.end, self.open.last().map(|span| span.id));
        }
    }

    /// Begins a symbol. `next` is the start of the symbols after it.
    fn open(&mut self, span: &Span, next: u64) {
        let hidden = !span.sized && self.sized > 0;
        if span.end <= span.start || hidden {
            return;
        }
        let end = if span.sized { span.end } else { span.end.min(next) };
        self.answer_from(span.start, Some(span.id));
        self.sized = self.sized.saturating_add(usize::from(span.sized));
        self.open.push(Span { end, ..*span });
    }

    fn answer_from(&mut self, start: u64, id: Option<u32>) {
        match self.pieces.last_mut() {
            Some(last) if last.start == start => last.id = id,
            Some(last) if last.id == id => {}
            _ => self.pieces.push(Piece { start, id }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(id: u32, start: u64, end: u64) -> Span {
        Span { start, end, sized: true, id }
    }

    fn unsized_until(id: u32, start: u64, end: u64) -> Span {
        Span { start, end, sized: false, id }
    }

    fn answers(cover: &Cover, at: &[u64]) -> Vec<Option<u32>> {
        at.iter().map(|at| cover.find(*at)).collect()
    }

    #[test]
    fn a_symbol_covers_its_size_and_no_more() {
        let cover = Cover::new(&[sized(1, 10, 20), sized(2, 30, 31)]);
        assert_eq!(
            answers(&cover, &[9, 10, 19, 20, 29, 30, 31]),
            [None, Some(1), Some(1), None, None, Some(2), None]
        );
    }

    #[test]
    fn a_nested_symbol_hides_the_outer_one_while_it_lasts() {
        let cover = Cover::new(&[sized(1, 0, 100), sized(2, 10, 20), sized(3, 12, 15)]);
        assert_eq!(
            answers(&cover, &[5, 11, 12, 14, 15, 19, 20, 99, 100]),
            [Some(1), Some(2), Some(3), Some(3), Some(2), Some(2), Some(1), Some(1), None]
        );
    }

    #[test]
    fn overlapping_symbols_give_way_to_the_later_start() {
        let cover = Cover::new(&[sized(1, 0, 10), sized(2, 5, 20), sized(3, 8, 9)]);
        assert_eq!(
            answers(&cover, &[4, 5, 8, 9, 10, 19, 20]),
            [Some(1), Some(2), Some(3), Some(2), Some(2), Some(2), None]
        );
    }

    #[test]
    fn at_one_start_the_last_is_preferred_and_the_longest_goes_on() {
        let cover = Cover::new(&[sized(1, 0, 20), sized(2, 0, 10)]);
        assert_eq!(
            answers(&cover, &[0, 9, 10, 19, 20]),
            [Some(2), Some(2), Some(1), Some(1), None]
        );
    }

    #[test]
    fn without_a_size_a_symbol_fills_the_gap_to_the_next_one() {
        let spans = [
            unsized_until(1, 0, 100),
            unsized_until(2, 0, 100),
            sized(3, 10, 20),
            unsized_until(4, 15, 100),
            unsized_until(5, 30, 100),
        ];
        let cover = Cover::new(&spans);
        assert_eq!(
            answers(&cover, &[0, 9, 10, 16, 20, 29, 30, 99, 100]),
            [Some(2), Some(2), Some(3), Some(3), None, None, Some(5), Some(5), None]
        );
    }

    #[test]
    fn sizes_that_reach_the_end_of_the_address_space_do_no_harm() {
        let cover = Cover::new(&[sized(1, 0, u64::MAX), sized(2, 5, u64::MAX), sized(3, 7, 8)]);
        assert_eq!(
            answers(&cover, &[4, 6, 7, 8, u64::MAX - 1]),
            [Some(1), Some(2), Some(3), Some(2), Some(2)]
        );
    }
}
