//! JSON Lines for machines: one object per record, `"type"` first.

use std::io::Write;

use kcore_dcmd::{Cell, DcmdError, Fields, Record, Result, Sink};

use crate::json_text::{JsonForm, JsonText};
use crate::out::Out;
use crate::{json_cell, json_text, sanitize};

/// The number that the header line gives; it changes when a reader of the old form would break.
const SCHEMA: u64 = 1;

/// Writes records as JSON Lines. Failures and notes are records too.
///
/// What is begun streams, element by element, within one line; a failure or a note that falls into
/// it waits for the end of that line.
pub struct JsonSink<W: Write, E: Write> {
    out: Out<W>,
    errors: E,
    form: JsonForm,
    /// Whether each line is shown when it is there.
    live: bool,
    /// For each list that is open, whether it has an element yet.
    open: Vec<bool>,
    /// Whole lines that wait for the end of the open one.
    waiting: Vec<String>,
}

impl<W: Write, E: Write> JsonSink<W, E> {
    /// Everything goes to `out`; `errors` hears of failures alone, and only when `out` is broken.
    /// `live`: each line is shown when it is there, not when a buffer is full.
    pub fn new(out: W, errors: E, live: bool) -> Self {
        let form = JsonForm::Full;
        Self { out: Out::new(out), errors, form, live, open: Vec::new(), waiting: Vec::new() }
    }

    /// Writes keys without a fact, or leaves them out.
    #[must_use]
    pub fn in_form(self, form: JsonForm) -> Self {
        Self { form, ..self }
    }

    /// Writes the first line: schema, version, and what was opened.
    ///
    /// # Errors
    /// [`DcmdError::Closed`] when nobody reads.
    pub fn header(&mut self, target: Option<&str>) -> Result<()> {
        let mut fields = Fields::new();
        fields
            .num("schema", SCHEMA)
            .text("kcore", env!("CARGO_PKG_VERSION"))
            .opt_text("target", target);
        self.line(self.of_fields(Some("header"), &fields))
    }

    /// A line of its own, now or after the open one.
    fn line(&mut self, mut json: String) -> Result<()> {
        json.push('\n');
        if !self.open.is_empty() {
            self.waiting.push(json);
            return Ok(());
        }
        self.out.text(&json)?;
        if self.live { self.out.flush() } else { Ok(()) }
    }

    /// The comma before an element of the innermost open list.
    fn separator(&mut self) -> &'static str {
        let has_element = self.open.last_mut().map(|has| std::mem::replace(has, true));
        if has_element == Some(true) { "," } else { "" }
    }

    /// The record as an object: with a type at the top, without one in a list.
    fn object(&self, record: &dyn Record) -> String {
        let mut fields = Fields::new();
        record.fields(&mut fields);
        self.of_fields(self.open.is_empty().then(|| record.kind()), &fields)
    }

    /// Writes the record as an object, piece by piece, followed by `end`.
    fn stream(&mut self, record: &dyn Record, end: &str) -> Result<()> {
        let mut fields = Fields::new();
        record.fields(&mut fields);
        let (mut written, out) = (Ok(()), &mut self.out);
        let mut write = |json: &str| {
            if written.is_ok() {
                written = out.text(json);
            }
        };
        let mut json = JsonText::taken_by(self.form, &mut write);
        push_object(&mut json, self.open.is_empty().then(|| record.kind()), &fields);
        json.raw(end);
        let last = json.into_string();
        written?;
        self.out.text(&last)
    }

    fn of_fields(&self, kind: Option<&str>, fields: &Fields<'_>) -> String {
        let mut json = JsonText::new(self.form);
        push_object(&mut json, kind, fields);
        json.into_string()
    }

    fn close_list(&mut self, members: &str) -> Result<()> {
        self.out.text("]")?;
        self.out.text(members)?;
        self.out.text("}")?;
        self.open.pop();
        if self.open.is_empty() { self.end_line() } else { Ok(()) }
    }

    fn end_line(&mut self) -> Result<()> {
        self.out.text("\n")?;
        for line in std::mem::take(&mut self.waiting) {
            self.out.text(&line)?;
        }
        if self.live { self.out.flush() } else { Ok(()) }
    }
}

/// An object, `"type"` first where there is one.
fn push_object(json: &mut JsonText<'_>, kind: Option<&str>, fields: &Fields<'_>) {
    let kind = kind.map(|kind| Cell::text(kind.to_owned()));
    json.raw("{");
    let typed = kind.as_ref().map(|kind| ("type", kind));
    json_cell::push_members(json, typed.into_iter().chain(fields.facts()));
    json.raw("}");
}

impl<W: Write, E: Write> Sink for JsonSink<W, E> {
    fn put(&mut self, record: &dyn Record) -> Result<()> {
        if self.open.is_empty() {
            self.stream(record, "\n")?;
            return if self.live { self.out.flush() } else { Ok(()) };
        }
        let separator = self.separator();
        self.out.text(separator)?;
        self.stream(record, "")
    }

    fn begin(&mut self, record: &dyn Record, list: &'static str) -> Result<()> {
        let mut json = self.separator().to_owned();
        json.push_str(&self.object(record));
        json.pop();
        if !json.ends_with('{') {
            json.push(',');
        }
        json.push_str(&json_text::string(list));
        json.push_str(":[");
        self.open.push(false);
        self.out.text(&json)
    }

    fn end(&mut self, record: &dyn Record) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let mut fields = Fields::new();
        record.fields(&mut fields);
        let mut members = JsonText::new(self.form);
        json_cell::push_members(&mut members, fields.facts());
        let mut members = members.into_string();
        if !members.is_empty() {
            members.insert(0, ',');
        }
        self.close_list(&members)
    }

    fn error(&mut self, command: &str, error: &DcmdError) -> Result<()> {
        let address = match error {
            DcmdError::Failed { address, .. } => *address,
            _ => None,
        };
        let mut fields = Fields::new();
        fields
            .opt_text("command", (!command.is_empty()).then_some(command))
            .text("message", error.to_string())
            .addr("address", address);
        let written = self.line(self.of_fields(Some("error"), &fields));
        if written.is_err() {
            let _ = writeln!(self.errors, "kcore: {}", sanitize::line(&error.to_string()));
        }
        written
    }

    fn note(&mut self, text: &str) -> Result<()> {
        let mut fields = Fields::new();
        fields.text("text", text);
        self.line(self.of_fields(Some("note"), &fields))
    }

    fn abandon(&mut self) -> Result<()> {
        while !self.open.is_empty() {
            self.close_list("")?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.abandon()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use kcore::Addr;

    use super::*;
    use crate::testing::{Frame, Row, Stack, StackEnd};

    fn written(run: impl FnOnce(&mut JsonSink<&mut Vec<u8>, Vec<u8>>)) -> Vec<String> {
        written_in(JsonForm::Full, run)
    }

    fn written_in(
        form: JsonForm,
        run: impl FnOnce(&mut JsonSink<&mut Vec<u8>, Vec<u8>>),
    ) -> Vec<String> {
        let mut out = Vec::new();
        {
            let mut sink = JsonSink::new(&mut out, Vec::new(), false).in_form(form);
            run(&mut sink);
            sink.finish().unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        for line in text.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
        text.lines().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn the_header_names_schema_version_and_target() {
        let lines = written(|sink| sink.header(Some("app.core")).unwrap());
        let version = env!("CARGO_PKG_VERSION");
        let expected =
            format!(r#"{{"type":"header","schema":1,"kcore":"{version}","target":"app.core"}}"#);
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn a_record_is_a_line_and_absent_facts_are_null() {
        let lines = written(|sink| sink.put(&Row(3)).unwrap());
        assert_eq!(lines, [r#"{"type":"row","value":3,"name":"row","gone":null}"#]);
    }

    #[test]
    fn absent_facts_are_left_out_of_the_compact_form() {
        let lines = written_in(JsonForm::Compact, |sink| {
            sink.put(&Row(3)).unwrap();
            sink.header(None).unwrap();
            sink.error("", &DcmdError::failed("gone")).unwrap();
        });
        assert_eq!(lines[0], r#"{"type":"row","value":3,"name":"row"}"#);
        assert!(!lines[1].contains("target"), "{}", lines[1]);
        assert_eq!(lines[2], r#"{"type":"error","message":"gone"}"#);
    }

    #[test]
    fn a_list_streams_within_one_line() {
        let lines = written(|sink| {
            sink.begin(&Stack, "frames").unwrap();
            sink.put(&Frame(1)).unwrap();
            sink.put(&Frame(2)).unwrap();
            sink.end(&StackEnd).unwrap();
            sink.begin(&Stack, "frames").unwrap();
            sink.end(&StackEnd).unwrap();
        });
        let first =
            r#"{"type":"stack","tid":7,"frames":[{"pc":"0x1"},{"pc":"0x2"}],"end":"outermost"}"#;
        let second = r#"{"type":"stack","tid":7,"frames":[],"end":"outermost"}"#;
        assert_eq!(lines, [first, second]);
    }

    #[test]
    fn lists_nest() {
        let lines = written(|sink| {
            sink.begin(&Stack, "outer").unwrap();
            sink.begin(&Stack, "inner").unwrap();
            sink.put(&Frame(1)).unwrap();
            sink.end(&StackEnd).unwrap();
            sink.put(&Frame(2)).unwrap();
            sink.end(&StackEnd).unwrap();
        });
        let expected = r#"{"type":"stack","tid":7,"outer":[{"tid":7,"inner":[{"pc":"0x1"}],"end":"outermost"},{"pc":"0x2"}],"end":"outermost"}"#;
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn what_a_failed_dcmd_left_open_is_closed_before_its_error() {
        let lines = written(|sink| {
            sink.begin(&Stack, "frames").unwrap();
            sink.put(&Frame(1)).unwrap();
            sink.note("doubtful").unwrap();
            sink.abandon().unwrap();
            sink.error("::x", &DcmdError::at(Addr::new(0x10), "gone")).unwrap();
            sink.put(&Row(1)).unwrap();
        });
        assert_eq!(lines[0], r#"{"type":"stack","tid":7,"frames":[{"pc":"0x1"}]}"#);
        assert_eq!(lines[1], r#"{"type":"note","text":"doubtful"}"#);
        let error = r#"{"type":"error","command":"::x","message":"gone","address":"0x10"}"#;
        assert_eq!(lines[2], error);
        assert!(lines[3].starts_with(r#"{"type":"row""#));
    }

    #[test]
    fn a_failure_is_heard_where_the_output_is_broken() {
        /// A device that is full.
        struct Full;

        impl Write for Full {
            fn write(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        let mut errors = Vec::new();
        let mut sink = JsonSink::new(Full, &mut errors, true);
        let error = sink.put(&Row(1)).unwrap_err();
        assert_eq!(sink.error("::x", &error), Err(DcmdError::Closed));
        drop(sink);
        let errors = String::from_utf8(errors).unwrap();
        assert!(errors.starts_with("kcore: cannot write output: "), "{errors}");
    }
}
