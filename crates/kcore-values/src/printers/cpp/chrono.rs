//! Spans and points of time of `std::chrono`: what they count, and in which unit.

use kcore_symbols::Type;

use crate::{Content, Object, calendar::moment, eval::Evaluator, printers::Printer};

/// Units that have a name of their own (`[time.duration.io]`): numerator and denominator of their seconds.
const UNITS: &[(i128, i128, &str)] = &[
    (1, 1_000_000_000_000, "ps"),
    (1, 1_000_000_000, "ns"),
    (1, 1_000_000, "us"),
    (1, 1_000, "ms"),
    (1, 1, "s"),
    (60, 1, "min"),
    (3_600, 1, "h"),
    (86_400, 1, "d"),
];

/// A span of time.
pub struct Duration;

/// A point of time.
pub struct TimePoint;

impl Printer for Duration {
    fn families(&self) -> &'static [&'static str] {
        &["std::chrono::duration"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let unit = Unit::of(evaluator, &object.ty)?;
        let count = evaluator.dig(object, &["__r", "__rep_"])?;
        let content = evaluator.value(&count).content;
        let words = unit.written(&content);
        Some(match words {
            Some(words) => content.meaning(words),
            None => content,
        })
    }
}

impl Printer for TimePoint {
    fn families(&self) -> &'static [&'static str] {
        &["std::chrono::time_point"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let clock = evaluator.argument(&object.ty, 0)?;
        let since = evaluator.dig(object, &["__d", "__d_"])?;
        let content = evaluator.value(&since).content;
        let suffix = match clock.stripped().ok()?.name()? {
            "system_clock" => " UTC",
            "local_t" => "",
            _ => return Some(content),
        };
        let unit = Unit::of(evaluator, &evaluator.complete(&since.ty)?)?;
        let Content::Integer(number) = content.plain() else { return Some(content) };
        Some(match number.value().and_then(|count| unit.moment(count)) {
            Some(moment) => content.into_plain().meaning(format!("{moment}{suffix}")),
            None => content,
        })
    }
}

/// So many seconds.
struct Unit {
    numerator: i128,
    denominator: i128,
}

impl Unit {
    /// The second argument of `duration`: a `std::ratio`, whose arguments are reduced.
    fn of(evaluator: &Evaluator<'_>, duration: &Type) -> Option<Self> {
        let ratio = evaluator.complete(&evaluator.argument(duration, 1)?)?;
        let arguments = &ratio.composite()?.arguments;
        let numerator = arguments.first()?.value?;
        // clang leaves out what is the default.
        let denominator = match arguments.get(1) {
            Some(argument) => argument.value?,
            None => 1,
        };
        (numerator > 0 && denominator > 0).then_some(Self { numerator, denominator })
    }

    /// `90s`, `50[1/25]s`, as C++20 writes them.
    fn written(&self, count: &Content) -> Option<String> {
        let count = match count {
            Content::Integer(number) => number.value()?.to_string(),
            Content::Float(float) => float.value.to_string(),
            _ => return None,
        };
        let Self { numerator, denominator } = self;
        let is_it = |(up, down, _): &&(i128, i128, &str)| (up, down) == (numerator, denominator);
        Some(match (UNITS.iter().find(is_it), denominator) {
            (Some((.., name)), _) => format!("{count}{name}"),
            (None, 1) => format!("{count}[{numerator}]s"),
            (None, _) => format!("{count}[{numerator}/{denominator}]s"),
        })
    }

    fn moment(&self, count: i128) -> Option<String> {
        moment(count, self.numerator, self.denominator)
    }
}
