//! Reads how long a server asks to wait. It has no clock: a date counts only beside the server's own.

use crate::quirk::Groups;

/// What was read so far; the first of each counts.
#[derive(Debug, Default)]
pub(super) struct Wait {
    /// How long, in milliseconds.
    pub(super) after_ms: Option<u64>,
    /// When the limit ends, in milliseconds since 1970.
    pub(super) resets_at_ms: Option<u64>,
    /// In how many milliseconds it ends.
    pub(super) resets_in_ms: Option<u64>,
}

impl Wait {
    /// Reads the group `wait` in a unit of the rules' schema; a date is counted from the group `now`.
    pub(super) fn read(&mut self, unit: &str, groups: &Groups) {
        let Some(text) = groups.get("wait") else { return };
        match unit {
            "epoch_milliseconds" => self.resets_at_ms = self.resets_at_ms.or(text.parse().ok()),
            "reset_seconds" => {
                self.resets_in_ms = self.resets_in_ms.or_else(|| scaled(text, 1000.0));
            }
            "milliseconds" => self.after(scaled(text, 1.0)),
            "seconds" => self.after(scaled(text, 1000.0)),
            "duration" => self.after(duration(text)),
            "date" => {
                let now = groups.get("now").and_then(|now| date(now));
                self.after(
                    now.zip(date(text))
                        .map(|(now, then)| then.saturating_sub(now).saturating_mul(1000)),
                );
            }
            _ => {}
        }
    }

    fn after(&mut self, read: Option<u64>) {
        self.after_ms = self.after_ms.or(read);
    }
}

fn scaled(number: &str, by: f64) -> Option<u64> {
    let value = number.parse::<f64>().ok()? * by;
    (value.is_finite() && value >= 0.0).then_some(value.round() as u64)
}

/// Reads `451ms`, `6.379s`, `9m38.016s`, `1h2m`, `26 seconds`; a bare number is seconds.
fn duration(text: &str) -> Option<u64> {
    let (mut rest, mut total) = (text.trim(), 0u64);
    while !rest.is_empty() {
        let digits =
            rest.find(|each: char| !each.is_ascii_digit() && each != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(digits)?;
        let after = after.trim_start();
        let letters = after.find(|each: char| !each.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at_checked(letters)?;
        let by = match unit {
            "ms" => 1.0,
            "" | "s" | "sec" | "second" | "seconds" => 1000.0,
            "m" | "min" | "minute" | "minutes" => 60_000.0,
            "h" | "hour" | "hours" => 3_600_000.0,
            _ => return None,
        };
        total = total.saturating_add(scaled(number, by)?);
        rest = next.trim_start();
    }
    Some(total)
}

/// Reads an HTTP date (`Mon, 30 Nov 2026 09:00:30 GMT`) as seconds since 1970.
fn date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut parts = text.split_once(", ")?.1.split([' ', ':']);
    let day: u64 = parts.next()?.parse().ok().filter(|day| (1..32).contains(day))?;
    let name = parts.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64;
    let year: u64 = parts.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut time = || parts.next()?.parse::<u64>().ok().filter(|part| *part < 62);
    let (hour, minute, second) = (time()?, time()?, time()?);
    // Days before a month, counted from March so that a leap day is the last of a year.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    Some((days.checked_sub(719_469)? * 24 + hour) * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::{date, duration};

    #[test]
    fn durations_and_dates_are_read() {
        for (text, wanted) in [
            ("451ms", Some(451)),
            ("6.379s", Some(6379)),
            ("9m38.016s", Some(578_016)),
            ("20", Some(20_000)),
            ("1h2m", Some(3_720_000)),
            ("26 seconds", Some(26_000)),
            ("1 minute 5 seconds", Some(65_000)),
            ("soon", None),
            ("1.2.3s", None),
        ] {
            assert_eq!(duration(text), wanted, "{text}");
        }
        for (text, wanted) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Mon, 30 Nov 2026 09:00:30 GMT", Some(1_796_029_230)),
            ("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000)),
            ("tomorrow", None),
            ("x, 99999999999 Jan 2026 1:1:1", None),
        ] {
            assert_eq!(date(text), wanted, "{text}");
        }
    }
}
