//! Recording on kernels of our own: nothing is lost unsaid, nothing is left behind, nobody is disturbed.

use crate::guest_machine::{Guest, Kernel, on_kernels};

#[track_caller]
fn count(guest: &Guest, file: &str) -> u64 {
    guest.text(file).trim().parse().unwrap_or_else(|e| panic!("{file}: {e}: {}", guest.text(file)))
}

on_kernels!(however_it_ends_all_is_as_it_was: V6_1, V6_12, AllTracers => |kernel| {
    let Some(guest) = Guest::run(kernel, "record-cases\n", &[]) else { return };
    for kib in [4096, 4] {
        let summary: serde_json::Value = serde_json::from_str(&guest.text(&format!("known{kib}.json"))).expect("a summary");
        let totals = &summary["totals"];
        let events = totals["events"].as_u64().expect("events");
        let lost = totals["lost"].as_u64().expect("lost");
        assert_eq!(events + lost, 30_000, "{kib} KiB: recorded + lost = produced: {summary}");
        assert_eq!(events, count(&guest, &format!("known{kib}.lines")), "{kib} KiB: what was recorded is what is reported");
        assert!(kib == 4 || lost == 0, "a large ring loses nothing: {summary}");
    }
    assert!(guest.text("unknown.err").contains("no_such_event"), "{}", guest.text("unknown.err"));
    assert!(guest.text("filter.err").contains("no_such_field"), "{}", guest.text("filter.err"));
    assert!(guest.text("none.err").contains("/no/such/command"), "{}", guest.text("none.err"));
});

on_kernels!(recordings_do_not_disturb_each_other: V6_1, V6_12 => |kernel| {
    let Some(guest) = Guest::run(kernel, "record-together\n", &[]) else { return };
    // `load` ran once while the first recording was on, twice while the second was.
    assert_eq!(count(&guest, "one.lines"), 5_000);
    assert_eq!(count(&guest, "two.lines"), 10_000);
    if guest.file("three.dat").exists() {
        assert!(count(&guest, "three.lines") > 0, "trace-cmd recorded nothing");
    }
});
