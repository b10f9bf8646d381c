//! Where the source of a frame is, beside where its script is.

use kcore::FramePlace;

use crate::Cell;

/// The name and place in the source that a source map tells of, in JSON: the keys of the frame's own.
pub fn original_cell(place: Option<FramePlace<'_>>) -> Cell<'_> {
    Cell::or_null(place, |place| {
        Cell::Object(vec![
            ("function", Cell::or_null(place.function, Cell::text)),
            ("file", Cell::or_null(place.file, Cell::text)),
            ("line", Cell::or_null(place.line.map(u64::from), Cell::Num)),
            ("column", Cell::or_null(place.column.map(u64::from), Cell::Num)),
        ])
    })
}
