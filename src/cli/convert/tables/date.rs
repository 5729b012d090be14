//! The day of a time, in UTC.

/// `2026-11-24`: the day of a time in nanoseconds since 1970.
pub(super) fn day(nanoseconds: i64) -> String {
    const DAY: i64 = 86_400 * 1_000_000_000;
    // Years begin in March here, so that the day that leap years add is the last one; eras are of 400 years.
    let days = nanoseconds.div_euclid(DAY) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{of_month:02}", year + era * 400)
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days() {
        let of = |seconds: i64| day(seconds * 1_000_000_000);
        assert_eq!([of(0), of(86_399), of(-1)], ["1970-01-01", "1970-01-01", "1969-12-31"]);
        // date -u -d 2024-02-29 +%s, and the like
        assert_eq!([of(1_709_164_800), of(1_709_251_200)], ["2024-02-29", "2024-03-01"]);
        assert_eq!([of(951_782_400), of(4_102_444_800), of(1_798_761_599)], ["2000-02-29", "2100-01-01", "2026-12-31"]);
    }
}
