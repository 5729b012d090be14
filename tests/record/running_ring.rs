//! A flight recorder that is read, killed, and whose disk is full, while it records and saves.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::common::small_disk::SmallDisk;
use crate::host::kernel;
use crate::saves::{OverAtEnd, count_up, numbers_in, saves_of, start};
use crate::state::{PATIENCE, Running};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::tracefs::find_orphans;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// Lets one task per CPU count, so that a CPU's events are all that follow its first, while `what` is done.
fn while_counting<T>(what: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    scope(|scope| {
        for cpu in 0..2 {
            let over = &over;
            scope.spawn(move || {
                let mut cpus = CpuSet::new();
                // Of one CPU both are.
                let _ = cpus.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &cpus));
                count_up(cpu as i32, over);
            });
        }
        let _end = OverAtEnd(&over);
        what()
    })
}

/// The pieces of a spool come and go while they are opened and read.
#[test]
fn a_ring_that_is_rotated_while_it_is_read_is_read_right() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let ring = format!("{}K", 256 * cpus);
    let mut recorder = start(&env, &tracefs, &["-q", "--compression", "none", "--ring", &ring]);
    let first = |file: &str| numbers_in(file).values().map(|numbers| numbers[0]).max();
    let (mut whole, mut looks, mut firsts) = (0, 0, Vec::new());
    while_counting(|| {
        sleep(Duration::from_millis(1500));
        let until = Instant::now() + PATIENCE;
        while looks < 40 || firsts.len() <= 5 && Instant::now() < until {
            looks += 1;
            let out = env.rtrace(&["report"]);
            let text = out.stdout();
            // All of it, or an exit code that says that some is missing.
            assert!(matches!(out.status(), Some(0 | 4)), "{}", out.stderr());
            let all = numbers_in(&text)
                .values()
                .all(|numbers| numbers.iter().copied().eq(numbers[0]..=numbers[numbers.len() - 1]));
            assert!(all || out.status() == Some(4), "events are missing, and nothing says so: {}", out.stderr());
            whole += u32::from(all && out.status() == Some(0));
            firsts.push(first(&text));
            firsts.dedup();
            // No reader takes for known what is not.
            env.rtrace(&["check", "--assert", "lost == 0"]).exits(4).prints_with("indeterminate");
        }
    });
    assert!(firsts.len() > 5, "the ring was rotated between the looks: {firsts:?}");
    assert!(whole >= looks * 3 / 4, "{whole} of {looks} looks had all");
    kill(recorder.pid(), Signal::SIGINT).unwrap();
    assert_eq!(recorder.wait().code(), Some(0));
}

/// Kills a recorder of 300 events `times`, beside `loops` that look at the journals as each command does; each time all that
/// was in its rings is recovered.
fn killed_beside_others(times: u32, loops: u32) {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    let journals = env.path().join("journal");
    let (over, looks) = (AtomicBool::new(false), AtomicU64::new(0));
    scope(|scope| {
        let _end = OverAtEnd(&over);
        for _ in 0..loops {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    drop(find_orphans(&journals));
                    looks.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let once = || {
            let mut recorder: Running = start(&env, &tracefs, &["-q", "--ring", "4M"]);
            for number in 0..300 {
                let _ = kill(Pid::from_raw(crate::saves::FIRST + number), None);
            }
            kill(recorder.pid(), Signal::SIGKILL).unwrap();
            recorder.wait();
            let out = env.rtrace(&["recover", "--json", "--journal-dir", "journal"]);
            let said: serde_json::Value = serde_json::from_str(&out.stdout()).unwrap();
            let (missing, put_back) = (said["rings"]["missing"].as_u64(), said["rings"]["put_back"].as_bool());
            assert_eq!(put_back, Some(true), "{said}: {}", out.stderr());
            let text = env.rtrace(&["report"]).stdout();
            let found: u64 = numbers_in(&text).values().map(|numbers| numbers.len() as u64).sum();
            assert_eq!(missing.map(|missing| found + missing), Some(300), "{said}");
            fs::remove_file(env.path().join("trace.dat")).unwrap();
            found
        };
        let found: Vec<u64> = (0..times).map(|_| once()).collect();
        assert!(found.iter().sum::<u64>() > 0, "nothing was left in any ring");
    });
    assert!(loops == 0 || looks.load(Ordering::Relaxed) > u64::from(times), "the loops looked");
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}

#[test]
fn what_is_recovered_beside_commands_that_look_is_all() {
    let times = std::env::var("RTRACE_KILLS").ok().and_then(|times| times.parse().ok()).unwrap_or(5);
    killed_beside_others(times, if times > 5 { 10 } else { 3 });
}

#[test]
fn a_kill_while_it_saves_loses_neither_the_recording_nor_saves() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    for moment in [0, 20, 28, 40, 80] {
        let env = TestEnvironment::new();
        let mut recorder = start(&env, &tracefs, &["-q", "--ring", "16M"]);
        let (earlier, _) = while_counting(|| {
            sleep(Duration::from_millis(600));
            kill(recorder.pid(), Signal::SIGUSR2).unwrap();
            let mut tries = 0;
            while saves_of(&env, "trace.dat").is_empty() {
                tries += 1;
                assert!(tries < 1000, "no save");
                sleep(Duration::from_millis(10));
            }
            let earlier = fs::read(&saves_of(&env, "trace.dat")[0]).unwrap();
            kill(recorder.pid(), Signal::SIGUSR2).unwrap();
            sleep(Duration::from_millis(moment));
            kill(recorder.pid(), Signal::SIGKILL).unwrap();
            (earlier, recorder.wait())
        });
        let saves = saves_of(&env, "trace.dat");
        assert!(fs::read(&saves[0]).unwrap() == earlier);
        for save in &saves {
            env.rtrace(&["report", save.to_str().unwrap()]).exits(0).complains("");
        }
        let names = fs::read_dir(env.path()).unwrap().flatten().map(|file| file.file_name().into_string().unwrap());
        let others: Vec<String> =
            names.filter(|name| !name.trim_start_matches('.').starts_with("trace") && name != "journal").collect();
        assert!(others.is_empty(), "{others:?}");
        // All but the unfinished chunks.
        let out = env.rtrace(&["recover", "--journal-dir", "journal"]);
        assert!(matches!(out.status(), Some(0 | 4)), "{}", out.stderr());
        let found = numbers_in(&env.rtrace(&["report"]).stdout());
        let saved = numbers_in(&env.rtrace(&["report", saves[0].to_str().unwrap()]).stdout());
        for (task, numbers) in &saved {
            assert!(
                numbers.iter().all(|number| found[task].binary_search(number).is_ok()),
                "task {task} after {moment} ms"
            );
        }
    }
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}

/// Fills a disk with the file `filler`, but for `left` bytes.
fn fill(disk: &Path, left: usize) {
    let room = nix::sys::statvfs::statvfs(disk).unwrap();
    let room = (room.blocks_available() * room.fragment_size()) as usize;
    fs::write(disk.join("filler"), vec![1; room - left]).unwrap();
}

#[test]
fn a_save_that_fails_unheard_ends_with_4() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let disk = env.path().join("disk");
    let _disk = SmallDisk::mount(&disk, "100M");
    let mut recorder = start(&env, &tracefs, &["-o", "disk/trace.dat", "--compression", "none", "--ring", "8M"]);
    while_counting(|| {
        sleep(Duration::from_millis(500));
        fill(&disk, 12 << 20);
        kill(recorder.pid(), Signal::SIGUSR2).unwrap();
        sleep(Duration::from_millis(300));
    });
    kill(recorder.pid(), Signal::SIGINT).unwrap();
    assert_eq!(recorder.wait().code(), Some(4));
    env.rtrace(&["report", "disk/trace.dat"]).exits(0).complains("");
}

#[test]
fn a_disk_without_room_for_a_save_has_room_for_the_recording() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let disk = env.path().join("disk");
    let _disk = SmallDisk::mount(&disk, "100M");
    let mut recorder = start(&env, &tracefs, &["-o", "disk/trace.dat", "--compression", "none", "--ring", "8M"]);
    while_counting(|| {
        sleep(Duration::from_millis(500));
        env.rtrace(&["save", "disk/trace.dat", "-o", "disk/first.dat"]).exits(0);
        // What a save needs is twice its size; the ring has its room by now.
        fill(&disk, 10 << 20);
        for _ in 0..3 {
            let out = env.rtrace(&["save", "disk/trace.dat", "-o", "disk/second.dat"]);
            out.exits(1).complains_with("which recording may need meanwhile");
            sleep(Duration::from_millis(300));
        }
        assert!(!disk.join("second.dat").exists());
        fs::remove_file(disk.join("filler")).unwrap();
        env.rtrace(&["save", "disk/trace.dat", "-o", "disk/third.dat"]).exits(0);
    });
    kill(recorder.pid(), Signal::SIGINT).unwrap();
    assert_eq!(recorder.wait().code(), Some(0));
    for file in ["trace", "first", "third"] {
        env.rtrace(&["report", &format!("disk/{file}.dat")]).exits(0).complains("");
    }
}
