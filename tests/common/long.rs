//! Tests that take minutes: `.ci/run` has time for them, `cargo test` proves the product without them.

use super::not_run::not_run;

/// True if `test` is to be passed over, which a line says: it runs with `CI=true` or `RTRACE_LONG_TESTS=1`.
pub(crate) fn is_left_out(test: &str) -> bool {
    let set = |name, to| std::env::var(name).is_ok_and(|value| value == to);
    let left_out = !set("CI", "true") && !set("RTRACE_LONG_TESTS", "1");
    if left_out {
        not_run(format_args!("{test} takes minutes: `.ci/run kernel` runs it, or RTRACE_LONG_TESTS=1"));
    }
    left_out
}
