//! Objects of the library that say one thing: numbers of any size, texts, what threads count in, and times
//! (`src/java.base/share/classes/java`, JDK 11 to 25). They are shown as their `toString` shows them.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{big, inet, text, time};
use crate::java::{classes::Objects, element::ElementType, walk::JavaObject};
use crate::{ScriptNode, ScriptScalar, TextRest};

/// Counters of one adder, at most.
const MAX_CELLS: u64 = 1 << 12;
/// Bytes of a path, at most.
const MAX_PATH: u64 = 1 << 12;

/// How an object says what it says, and the most characters of that.
type Say = fn(&Objects<'_>, Addr, u64) -> Option<ScriptScalar>;

/// Classes, each with a word for machines.
const KNOWN: &[(&str, &str, Say)] = &[
    ("java.lang.StringBuilder", "text", builder),
    ("java.lang.StringBuffer", "text", builder),
    ("java.math.BigInteger", "integer", |objects, at, _| {
        Some(ScriptScalar::Integer(big::integer(objects, at)?.into()))
    }),
    ("java.math.BigDecimal", "decimal", |objects, at, _| Some(word(big::decimal(objects, at)?))),
    ("java.util.concurrent.atomic.AtomicInteger", "atomic", |objects, at, _| value(objects, at)),
    ("java.util.concurrent.atomic.AtomicLong", "atomic", |objects, at, _| value(objects, at)),
    ("java.util.concurrent.atomic.AtomicBoolean", "atomic", |objects, at, _| truth(objects, at)),
    ("java.util.concurrent.atomic.LongAdder", "atomic", |objects, at, _| sum(objects, at)),
    ("java.util.OptionalInt", "optional", optional),
    ("java.util.OptionalLong", "optional", optional),
    ("java.util.OptionalDouble", "optional", optional),
    ("java.util.UUID", "uuid", |objects, at, _| Some(word(uuid(objects, at)?))),
    ("java.util.Date", "date", |objects, at, _| date(objects, at)),
    ("java.net.Inet4Address", "address", |objects, at, _| said(inet::version_4(objects, at))),
    ("java.net.Inet6Address", "address", |objects, at, _| said(inet::version_6(objects, at))),
    ("java.net.InetSocketAddress", "address", |objects, at, _| said(inet::socket(objects, at))),
    ("java.io.File", "path", |objects, at, most| field_text(objects, at, "path", most)),
    ("sun.nio.fs.UnixPath", "path", |objects, at, _| path(objects, at)),
    ("java.net.URI", "uri", |objects, at, most| field_text(objects, at, "string", most)),
    ("java.time.LocalDate", "time", |objects, at, _| said(time::date(objects, at))),
    ("java.time.LocalTime", "time", |objects, at, _| said(time::time(objects, at))),
    ("java.time.LocalDateTime", "time", |objects, at, _| said(time::date_time(objects, at))),
    ("java.time.OffsetDateTime", "time", |objects, at, _| said(time::with_offset(objects, at))),
    ("java.time.ZonedDateTime", "time", |objects, at, _| said(time::with_zone(objects, at))),
    ("java.time.Instant", "time", |objects, at, _| said(time::instant(objects, at))),
    ("java.time.Duration", "time", |objects, at, _| said(time::duration(objects, at))),
    ("java.time.Period", "time", |objects, at, _| said(time::period(objects, at))),
    ("java.time.Year", "time", |objects, at, _| said(time::year(objects, at))),
    ("java.time.YearMonth", "time", |objects, at, _| said(time::year_month(objects, at))),
    ("java.time.MonthDay", "time", |objects, at, _| said(time::month_day(objects, at))),
    ("java.time.ZoneOffset", "zone", |objects, at, _| said(time::zone(objects, at))),
    ("java.time.ZoneRegion", "zone", |objects, at, _| said(time::zone(objects, at))),
];

/// What an object says; `None` of one that says more, or whose fields cannot be read.
pub(super) fn of_object(
    objects: &Objects<'_>,
    found: &JavaObject,
    most: u64,
) -> Option<ScriptNode> {
    let (_, kind, say) = KNOWN.iter().find(|(name, ..)| *name == &*found.class.name)?;
    say(objects, found.at, most).map(|scalar| ScriptNode::scalar(kind, scalar))
}

fn word(text: String) -> ScriptScalar {
    ScriptScalar::Symbol(Some(text.into()))
}

fn said(text: Option<String>) -> Option<ScriptScalar> {
    text.map(word)
}

fn integer(value: i64) -> ScriptScalar {
    ScriptScalar::Integer(value.to_string().into())
}

/// The characters that a builder has so far.
fn builder(objects: &Objects<'_>, at: Addr, most: u64) -> Option<ScriptScalar> {
    let count = u64::try_from(objects.integer(at, "count")?).ok()?;
    text::of_characters(objects, at, Some(count), most).map(|(scalar, _)| scalar)
}

fn value(objects: &Objects<'_>, at: Addr) -> Option<ScriptScalar> {
    objects.integer(at, "value").map(integer)
}

fn truth(objects: &Objects<'_>, at: Addr) -> Option<ScriptScalar> {
    let value = objects.integer(at, "value")?;
    Some(ScriptScalar::Word(if value == 0 { "false" } else { "true" }))
}

/// What the counters of an adder have together; each of its counters is an object.
fn sum(objects: &Objects<'_>, at: Addr) -> Option<ScriptScalar> {
    let mut sum = objects.integer(at, "base")?;
    let Some(cells) = objects.referred(at, "cells").ok()? else { return Some(integer(sum)) };
    let length = objects.oops.length(objects.memory, cells)?;
    (length <= MAX_CELLS).then_some(())?;
    for index in 0..length {
        let by = index.checked_mul(objects.oops.reference_size())?;
        let cell = objects.referred_at(cells, objects.oops.elements_offset().checked_add(by)?);
        let Some(cell) = cell.ok()? else { continue };
        sum = sum.wrapping_add(objects.integer(cell, "value")?);
    }
    Some(integer(sum))
}

/// A number that may be there.
fn optional(objects: &Objects<'_>, at: Addr, _most: u64) -> Option<ScriptScalar> {
    if objects.integer(at, "isPresent")? == 0 {
        return Some(word("empty".to_owned()));
    }
    let field = objects.field_of(at, "value")?;
    let element = ElementType::of_signature(&field.signature)?;
    super::number::at(objects.memory, at, field.offset, element)?.scalar
}

fn uuid(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let half = |name| objects.integer(at, name).map(|half| half as u64);
    let digits = format!("{:016x}{:016x}", half("mostSigBits")?, half("leastSigBits")?);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits.get(part));
    Some(parts.into_iter().collect::<Option<Vec<_>>>()?.join("-"))
}

/// Milliseconds since 1970, which a program may have replaced by a date in parts.
fn date(objects: &Objects<'_>, at: Addr) -> Option<ScriptScalar> {
    let is_in_parts = objects.referred(at, "cdate") != Ok(None);
    let millis = objects.integer(at, "fastTime").filter(|_| !is_in_parts)?;
    Some(ScriptScalar::Time(millis as f64))
}

fn field_text(objects: &Objects<'_>, at: Addr, name: &str, most: u64) -> Option<ScriptScalar> {
    text::of_string(objects, objects.reference(at, name)?, most).scalar
}

/// The bytes of a path, if they are text.
fn path(objects: &Objects<'_>, at: Addr) -> Option<ScriptScalar> {
    let array = objects.reference(at, "path")?;
    let length = objects.oops.length(objects.memory, array).filter(|it| *it <= MAX_PATH)?;
    let bytes = objects.memory.0.read_held(objects.oops.bytes(array)?, length);
    let is_whole = bytes.len() as u64 == length;
    let text: Arc<str> = String::from_utf8(bytes).ok().filter(|_| is_whole)?.into();
    Some(ScriptScalar::Text { text, rest: TextRest::None })
}
