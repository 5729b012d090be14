//! Instances whose memory outlives a restart: what the last boot wrote is shown, and saved as a file that decodes, of one
//! instance and of all. So is a copy of it that can only be read, and that vanishes then.

use crate::guest_machine::{Guest, Kernel, on_kernels};

const SCRIPT: &str = r#"
T=/sys/kernel/tracing/instances/boot_map
OTHER=/sys/kernel/tracing/instances/other
mkdir -p /mnt && mount -t ext4 /dev/vdb /mnt || exit 1
if [ ! -e /mnt/written ]; then
  echo 1 | tee $T/events/sched/sched_switch/enable > $OTHER/events/sched/sched_switch/enable
  for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done
  echo 0 | tee $T/tracing_on > $OTHER/tracing_on
  cat $T/trace > /mnt/written
  cat $OTHER/trace > /mnt/written_other
  umount /mnt; sync
  reboot -f
  sleep 600
fi
grep -v '^#' /mnt/written > written
grep -v '^#' $T/trace > survived
rtrace instance list > list || exit 2
rtrace instance show boot_map > shown || exit 3
rtrace instance save boot_map saved.dat 2> said || { cat said; exit 4; }
rtrace report -i saved.dat > report || exit 5
grep -v '^#' $T/trace > after
rtrace instance remove boot_map --force 2> refused
grep -v '^#' /mnt/written_other > written_other
grep -v '^#' $OTHER/trace > survived_other
rtrace extract -a -o all.dat 2> said || { cat said; exit 6; }
rtrace report all.dat > report_other || exit 7
rtrace dump --options all.dat > options || exit 8
for line in 'reset -a -t' 'reset -B boot_map' 'reset -a -t -d' 'reset -a -t -b 64' 'reset -B boot_map -b 64' 'set -B boot_map -b 64' \
  'record -B boot_map -b 64 -e sched:sched_switch -o x.dat' 'reset -B boot_map -d'; do
  rtrace $line > said 2>&1; echo "$? $line: $(cat said)"
done > changed
cat $T/buffer_size_kb /sys/kernel/tracing/buffer_size_kb > sizes
grep -v '^#' $OTHER/trace > after_other
exit 0
"#;

on_kernels!(long what_the_last_boot_wrote_is_saved: AllTracers; suites V6_12 => |kernel| {
    let memory = ["-a", "reserve_mem=8M:4096:trace", "-a", "reserve_mem=4M:4096:more"];
    let instances = ["-a", "trace_instance=boot_map@trace", "-a", "trace_instance=other@more"];
    let how = [&["-r", "-a", "nokaslr"][..], &memory, &instances].concat();
    let Some(guest) = Guest::run_with(&how, kernel, SCRIPT, &[]) else { return };
    assert!(guest.text("list").contains("persistent"), "{}", guest.text("list"));
    assert!(guest.text("shown").contains("perhaps with events of the last boot"), "{}", guest.text("shown"));
    let refused = guest.text("refused");
    assert!(refused.is_empty() || refused.contains("made at boot by `trace_instance=boot_map@trace`"), "{refused}");
    let stamps = |file: &str| stamps(&guest, file);
    let written = stamps("written");
    assert!(written.len() > 10, "{written:?}");
    // A kernel may drop what it was writing when the machine went down; what it kept is what is saved.
    let survived = stamps("survived");
    assert!(survived.len() > 10 && survived.iter().all(|stamp| written.contains(stamp)), "{survived:?}");
    assert_eq!(stamps("report"), survived);
    // The other one together with all that there are, under its name.
    let (written, survived) = (stamps("written_other"), stamps("survived_other"));
    assert!(survived.len() > 10 && survived.iter().all(|stamp| written.contains(stamp)), "{survived:?}");
    assert_eq!(stamps("report_other"), survived);
    assert!(guest.text("report_other").lines().skip(1).all(|line| line.contains("other:")), "{}", guest.text("report_other"));
    assert_eq!(stamps("after_other"), Vec::<String>::new(), "extracting moves");
    assert_eq!(stamps("after"), Vec::<String>::new(), "saving moves");
    // What nobody can change is no failure, unless it is just that which was asked for.
    let changed = guest.text("changed");
    let keeps = "`buffer_size_kb` in instance boot_map: the ring buffer lies in memory that was reserved at boot, and keeps its size";
    for wanted in [
        "0 reset -a -t: \n",
        "0 reset -B boot_map: \n",
        "0 reset -a -t -b 64: ",
        &format!("rtrace: warning: failed to set {keeps}; it stays as it is\n"),
        &format!("5 reset -B boot_map -b 64: rtrace: failed to set {keeps}\n"),
        &format!("5 set -B boot_map -b 64: rtrace: failed to set {keeps}\n"),
        &format!("5 record -B boot_map -b 64 -e sched:sched_switch -o x.dat: rtrace: failed to set {keeps}\n"),
        "0 reset -a -t -d: rtrace: instance",
        "boot_map stays: the kernel keeps what `trace_instance=boot_map@trace` made; it is reset\n",
        "1 reset -B boot_map -d: rtrace: failed to remove `instances/boot_map`: Device or resource busy\n  Hint: it was made at boot by",
    ] {
        assert!(changed.contains(wanted), "{wanted}: {changed}");
    }
    let sizes: Vec<u64> = guest.text("sizes").lines().map(|line| line.parse().expect("KiB")).collect();
    assert!(sizes[0] > 3000 && sizes[1] < 100, "{sizes:?}");
});

/// The time stamps of the switches in a file that the guest left.
fn stamps(guest: &Guest, file: &str) -> Vec<String> {
    let text = guest.text(file);
    let is_stamp = |word: &&str| word.ends_with(':') && word.starts_with(|c: char| c.is_ascii_digit());
    let stamp = |line: &str| line.split_whitespace().find(is_stamp).map(str::to_owned);
    text.lines().filter(|line| line.contains("sched_switch")).filter_map(stamp).collect()
}

on_kernels!(long a_copy_is_read_only_and_vanishes_when_it_was_read: V7 => |kernel| {
    let memory = ["-a", "reserve_mem=8M:4096:trace", "-a", "trace_instance=boot_map@trace", "-a", "trace_instance=copy=boot_map"];
    let how = [&["-r", "-a", "nokaslr"][..], &memory].concat();
    let Some(guest) = Guest::run_with(&how, kernel, include_str!("backup.sh"), &[]) else { return };
    let survived = stamps(&guest, "survived");
    assert!(survived.len() > 10, "{}", guest.text("survived"));
    assert_eq!((stamps(&guest, "text"), stamps(&guest, "report")), (survived.clone(), survived));
    assert!(guest.text("list").contains("read-only copy of an earlier boot's"), "{}", guest.text("list"));
    assert!(guest.text("shown").contains("read-only     yes"), "{}", guest.text("shown"));
    let refused = guest.text("refused");
    let answers = refused.lines().filter(|line| line.contains("instance copy is a copy of what an earlier boot wrote")).count();
    assert_eq!(answers, 8, "{refused}");
    assert!(refused.lines().filter(|line| !line.starts_with(' ')).all(|line| line.starts_with("5 ")), "{refused}");
    assert_eq!(guest.text("left").trim(), "boot_map", "the kernel removes it");
    // Its counters were read while it was still there.
    assert!(guest.text("stats").contains("CPU: 0"), "{}", guest.text("stats"));
    assert!(guest.text("again").contains("no instance is called `copy`"), "{}", guest.text("again"));
});
