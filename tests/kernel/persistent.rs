//! Instances whose memory outlives a restart: what the last boot wrote is shown, and saved as a file that decodes, of one
//! instance and of all.

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
grep -v '^#' $OTHER/trace > after_other
exit 0
"#;

on_kernels!(long what_the_last_boot_wrote_is_saved: V6_12, AllTracers => |kernel| {
    let memory = ["-a", "reserve_mem=8M:4096:trace", "-a", "reserve_mem=4M:4096:more"];
    let instances = ["-a", "trace_instance=boot_map@trace", "-a", "trace_instance=other@more"];
    let how = [&["-r", "-a", "nokaslr"][..], &memory, &instances].concat();
    let Some(guest) = Guest::run_with(&how, kernel, SCRIPT, &[]) else { return };
    assert!(guest.text("list").contains("persistent"), "{}", guest.text("list"));
    assert!(guest.text("shown").contains("perhaps with events of the last boot"), "{}", guest.text("shown"));
    let refused = guest.text("refused");
    assert!(refused.is_empty() || refused.contains("made at boot by `trace_instance=boot_map@trace`"), "{refused}");
    let stamps = |file: &str| -> Vec<String> {
        let text = guest.text(file);
        let stamp = |line: &str| line.split_whitespace().find(|w| w.ends_with(':') && w.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned);
        text.lines().filter(|line| line.contains("sched_switch")).filter_map(stamp).collect()
    };
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
});
