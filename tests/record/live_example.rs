//! `examples/live` prints what happens now.

use crate::common::example_programs::example;
use crate::host::kernel;

#[test]
fn the_live_example_prints_switches_in_the_order_of_time() {
    let Some((_tracefs, _one)) = kernel() else { return };
    let printed = example("live", &[]);
    let times: Vec<u64> =
        printed.lines().map(|line| line.split(' ').next().and_then(|time| time.parse().ok()).expect(line)).collect();
    assert!(times.len() > 10 && times.is_sorted(), "{printed}");
}
