//! A value as text and as JSON, which nobody reads.

use std::io::{Write, sink};

use kcore_dcmd::{Cell, Fields, Integers, Record, TypeNames, ValueCell, ValueStyle, View};
use kcore_mem::Endian;
use kcore_render::{Format, JsonForm, Numbers, TextOptions};
use kcore_values::Value;

/// Bytes of text that one value of [`crate::process::LIMITS`] may become, at most.
const MAX_TEXT: usize = 1 << 24;

/// Shows a value in every format.
pub fn show(value: &Value) {
    let plain = ValueStyle::lines(Endian::Little);
    let full =
        ValueStyle { addresses: true, types: TypeNames::WithBase, joint: Some("."), ..plain };
    let decimal = ValueStyle { integers: Integers::Decimal, plain_pointers: true, ..plain };
    let text =
        TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } };
    for style in [plain, full, decimal, ValueStyle::inline(Endian::Big)] {
        emit(&Shown { value, style }, Format::Text(text));
    }
    emit(&Shown { value, style: plain }, Format::Json(JsonForm::Full));
    emit(&Shown { value, style: plain }, Format::Json(JsonForm::Compact));
}

fn emit(shown: &Shown<'_>, format: Format) {
    let mut counted = Counted(0);
    let mut out = format.plain_sink(&mut counted, sink());
    let _ = (out.put(shown), out.finish());
    drop(out);
    assert!(counted.0 <= MAX_TEXT, "{} bytes of text", counted.0);
}

struct Shown<'a> {
    value: &'a Value,
    style: ValueStyle,
}

impl Record for Shown<'_> {
    fn kind(&self) -> &'static str {
        "value"
    }

    fn view(&self) -> View {
        View::Line("{value}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.put("value", Cell::Value(Box::new(ValueCell::new("name", self.value, self.style))));
    }
}

/// Counts what is written.
struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
