//! Instants as text.

/// An instant in UTC, of microseconds since 1970, such as `2026-11-29 17:03:09`.
pub(super) fn utc(microseconds: u64) -> String {
    let seconds = microseconds / 1_000_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Year, month and day of the Gregorian calendar. Years are counted from March on, so that the day of a leap year is the last;
/// 400 of them have always as many days.
fn date(days: u64) -> (u64, u64, u64) {
    const CYCLE: u64 = 146_097;
    // From 1 March 0 to 1 January 1970.
    let days = days + 719_468;
    let (cycle, day) = (days / CYCLE, days % CYCLE);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + 400 * cycle + later, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_those_of_date() {
        // As `date -u -d @SECONDS` has them.
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_782_400_000_000), "2000-02-29 00:00:00");
        assert_eq!(utc(1_700_000_000_999_999), "2023-11-14 22:13:20");
        assert_eq!(utc(4_102_444_799_000_000), "2099-12-31 23:59:59");
        assert!(utc(u64::MAX).starts_with("586524-01-19"), "{}", utc(u64::MAX));
    }
}
