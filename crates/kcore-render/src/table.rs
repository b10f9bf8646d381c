//! Tables: rows under a header.

use kcore_dcmd::{Align, Cell, Column, Fields};

use crate::canvas::Canvas;
use crate::cell_format::CellFormat;
use crate::cell_text;
use crate::number::Numbers;
use crate::style::Style;

/// Appends the header line, underlined where attributes are wanted.
pub(crate) fn header(canvas: &mut Canvas<'_>, columns: &[Column]) {
    let mut line = Canvas::new(false);
    for (column, last) in with_last(columns) {
        let format = column_format(column, last);
        cell_text::push(
            &mut line,
            &Cell::text(column.title),
            &CellFormat { width: format.width, right: format.right, ..CellFormat::default() },
            Numbers { radix: 16, word_size: 8 },
        );
        line.blanks(usize::from(!last));
    }
    canvas.push_styled(line.text(), Style::Underline);
    canvas.push("\n");
}

/// Appends one row, without a newline at its end.
pub(crate) fn row(
    canvas: &mut Canvas<'_>,
    columns: &[Column],
    fields: &Fields<'_>,
    numbers: Numbers,
) {
    for (column, last) in with_last(columns) {
        let cell = fields.get(column.key).unwrap_or(&Cell::Null);
        cell_text::push(canvas, cell, &column_format(column, last), numbers);
        canvas.blanks(usize::from(!last));
    }
}

fn with_last(columns: &[Column]) -> impl Iterator<Item = (&Column, bool)> {
    columns.iter().enumerate().map(|(index, column)| (column, index + 1 == columns.len()))
}

fn column_format(column: &Column, last: bool) -> CellFormat {
    let right = column.align == Align::Right;
    let width = if last && !right { 0 } else { column.width };
    CellFormat { width, right, ..CellFormat::parse(column.spec) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column::right("base", "BASE", 8).spec("x"),
        Column::left("kind", "KIND", 6),
        Column::left("name", "NAME", 20),
    ];

    #[test]
    fn columns_are_aligned_and_the_last_is_not_padded() {
        let mut fields = Fields::new();
        fields.num("base", 0x4000).text("kind", "k").text("name", "n");
        let mut canvas = Canvas::new(false);
        header(&mut canvas, COLUMNS);
        row(&mut canvas, COLUMNS, &fields, Numbers { radix: 16, word_size: 8 });
        assert_eq!(canvas.text(), "    BASE KIND   NAME\n    4000 k      n");
    }

    #[test]
    fn headers_are_underlined_on_terminals() {
        let mut canvas = Canvas::new(true);
        header(&mut canvas, &COLUMNS[..1]);
        assert_eq!(canvas.text(), "\x1b[4m    BASE\x1b[0m\n");
    }

    #[test]
    fn wide_and_absent_cells_keep_the_row_readable() {
        let mut fields = Fields::new();
        fields.text("kind", "too wide").text("name", "n");
        let mut canvas = Canvas::new(false);
        row(&mut canvas, COLUMNS, &fields, Numbers { radix: 16, word_size: 8 });
        assert_eq!(canvas.text(), "         too wide n");
    }
}
