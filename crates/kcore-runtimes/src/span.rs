//! What a decoder answers about a stack.

use std::ops::Range;

use crate::LanguageFrame;

/// What becomes of the native frames of a span.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Native {
    /// They are the language frames, and not shown beside them.
    Replaced,
    /// They are shown, and behind them the language frames, which called them.
    Kept,
}

/// Native frames, and the language frames that they are or that join them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Indices of native frames, innermost 0, half-open. An empty one joins language frames before
    /// the native frame of that index.
    pub frames: Range<usize>,
    /// What becomes of them.
    pub native: Native,
    /// The language frames, innermost first; none hides what the runtime does for itself.
    pub language: Vec<LanguageFrame>,
}

impl Span {
    /// The native frame `index` is these language frames.
    pub const fn replacing(index: usize, language: Vec<LanguageFrame>) -> Self {
        Self { frames: index..index.saturating_add(1), native: Native::Replaced, language }
    }
}

/// Orders the spans of all decoders by their first frame. Of two that lie over each other the one that
/// begins first counts, and of two that begin together that of the runtime which was found first: a
/// damaged decoder cannot make a frame appear twice. What lies beyond `count` frames does not count.
pub(crate) fn in_order(mut spans: Vec<Span>, count: usize) -> Vec<Span> {
    spans.retain(|span| span.frames.start <= span.frames.end && span.frames.end <= count);
    spans.sort_by_key(|span| span.frames.start);
    let mut free = 0;
    spans.retain(|span| {
        let fits = span.frames.start >= free;
        if fits {
            free = span.frames.end;
        }
        fits
    });
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(frames: Range<usize>) -> Span {
        Span { frames, native: Native::Replaced, language: Vec::new() }
    }

    #[test]
    fn spans_that_lie_over_each_other_count_once() {
        let spans = vec![span(4..6), span(1..3), span(2..4), span(6..9), span(6..7)];
        assert_eq!(in_order(spans, 8), [span(1..3), span(4..6), span(6..7)]);
    }

    #[test]
    fn an_empty_span_joins_between_frames() {
        let spans = vec![span(2..2), span(0..2), span(2..3)];
        assert_eq!(in_order(spans, 3), [span(0..2), span(2..2), span(2..3)]);
    }

    #[test]
    fn a_span_that_ends_before_it_begins_is_dropped() {
        let backwards = Range { start: 3, end: 2 };
        assert_eq!(in_order(vec![span(backwards)], 8), []);
    }
}
