//! Stacks of user space by name: programs of this test's own, recorded on the running kernel.

use crate::common::bounded::output;
use crate::common::environment::TestEnvironment;
use crate::host::kernel;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

const C: &str = r#"
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void inner(void) { write(1, "", 0); __asm__ volatile(""); }
__attribute__((noinline)) void middle(void) { inner(); __asm__ volatile(""); }
__attribute__((noinline)) static void outer(void) { middle(); __asm__ volatile(""); }
int main(void)
{
	struct timespec t;

	outer();
	/* what the vdso cannot tell by itself it asks the kernel for */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 0;
}
"#;

const RUST: &str = r#"
use std::io::Write;
struct Probe(u32);
impl Probe {
    #[inline(never)]
    fn poke(&self) {
        for _ in 0..self.0 {
            let mut out = std::io::stderr();
            out.write_all(&[]).unwrap();
            out.write_all(b"\n").unwrap();
        }
        std::hint::black_box(());
    }
}
fn main() {
    Probe(3).poke();
    std::hint::black_box(());
}
"#;

fn compile(env: &TestEnvironment, compiler: &str, args: &[&str]) {
    let done = output(Command::new(compiler).args(args).current_dir(env.path())).expect("a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Records the program's calls of the kernel with their stacks.
fn record(env: &TestEnvironment, program: &str, more: &[&str]) {
    let events = ["-e", "syscalls:sys_enter_write", "-e", "syscalls:sys_enter_clock_gettime"];
    let args = [&["record", "-q", "-F", "-O", "userstacktrace"][..], &events, more, &["--", program]].concat();
    env.rtrace(&args).exits(0);
}

/// The names of the frames of each stack.
fn stacks(report: &str) -> Vec<Vec<String>> {
    let mut stacks = Vec::new();
    for line in report.lines() {
        if line.ends_with("<user stack trace>") {
            stacks.push(Vec::new());
        } else if let (Some(frame), Some(stack)) = (line.trim_start().strip_prefix("=>"), stacks.last_mut()) {
            stack.push(frame.trim_start().to_owned());
        }
    }
    stacks
}

/// True if frames of these functions come in this order, each of `file`.
fn in_order(stack: &[String], names: &[&str], file: &str) -> bool {
    let mut frames = stack.iter();
    names.iter().all(|name| frames.any(|frame| frame.starts_with(&format!("{name}+0x")) && frame.ends_with(file)))
}

#[test]
fn stacks_of_c_programs_have_names() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    fs::write(env.path().join("c.c"), C).unwrap();
    let flags = ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "c.c"];
    compile(&env, "cc", &[&flags[..], &["-o", "pie", "-pie", "-fPIE"]].concat());
    compile(&env, "cc", &[&flags[..], &["-o", "fixed", "-no-pie", "-fno-pie"]].concat());
    compile(&env, "cc", &[&flags[..], &["-o", "stripped", "-rdynamic", "-s"]].concat());
    let here = fs::canonicalize(env.path()).unwrap();
    for (program, names) in [
        ("pie", &["middle", "outer", "main"][..]),
        ("fixed", &["middle", "outer", "main"]),
        // only what other files may call
        ("stripped", &["middle", "main"]),
    ] {
        record(&env, &format!("./{program}"), &["--proc-map"]);
        let file = format!(" ({})", here.join(program).display());
        let plain = env.rtrace(&["report"]);
        plain.exits(0).complains_with("`--symbols user` names them");
        assert!(!plain.stdout().contains("main+0x"), "names that were not asked for");
        for format in ["text", "kernel"] {
            let named = env.rtrace(&["report", "--symbols", "user", "--format", format]);
            named.exits(0).complains("");
            let stacks = stacks(&named.stdout());
            assert!(stacks.iter().any(|s| in_order(s, names, &file)), "{program}, {format}: {stacks:#?}");
            assert!(stacks.iter().any(|s| in_order(s, &["write"], ")") && s[0].contains("libc")), "{stacks:#?}");
            if cfg!(target_arch = "x86_64") {
                assert!(stacks.iter().any(|s| s[0].ends_with("([vdso])")), "{program}, {format}: {stacks:#?}");
            }
        }
        let json = env.rtrace(&["report", "--symbols", "user", "--format", "json"]);
        let events = json.exits(0).stdout();
        let events = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let frames: Vec<_> = events.flat_map(|e| e["fields"]["caller_symbols"].as_array().cloned()).flatten().collect();
        assert!(frames.iter().any(|f| f["symbol"] == "main" && f["offset"].as_u64() > Some(0)), "{frames:?}");
    }
}

/// A program of the same layout in the place of the one that ran would give false names.
#[test]
fn another_build_of_a_program_gives_no_names() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let flags = ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "c.c", "-o", "c"];
    let build = |names: [&str; 2], more: &[&str]| {
        let source = C.replace("middle", names[0]).replace("outer", names[1]);
        fs::write(env.path().join("c.c"), source).unwrap();
        let _ = fs::remove_file(env.path().join("c"));
        compile(&env, "cc", &[&flags[..], more].concat());
    };
    let id = ["-Wl,--build-id"];
    build(["middle", "outer"], &id);
    record(&env, "./c", &["--proc-map"]);
    let builds = env.rtrace(&["dump", "--options", "trace.dat"]).exits(0).stdout();
    let program = fs::canonicalize(env.path()).unwrap().join("c").display().to_string();
    assert!(
        builds.lines().any(|line| line.ends_with(&program) && line.split(' ').next().unwrap().len() >= 16),
        "{builds}"
    );
    let named = || {
        let outcome = env.rtrace(&["report", "--symbols", "user"]);
        (stacks(&outcome.exits(0).stdout()), outcome.stderr())
    };
    let file = format!(" ({program})");
    let (found, said) = named();
    assert!(found.iter().any(|s| in_order(s, &["middle", "outer", "main"], &file)), "{found:#?}");
    assert_eq!(said, "");

    // Other code: an id is of what is loaded, and names are not.
    build(["riddle", "utter"], &[id[0], "-O0"]);
    let (found, said) = named();
    assert!(
        said.contains(&format!("no names from {program}: it is another build than the one that was mapped: ")),
        "{said}"
    );
    assert!(!said.contains("younger"), "{said}");
    assert!(found.iter().flatten().all(|frame| !frame.ends_with(&file)), "{found:#?}");
    assert!(found.iter().flatten().any(|frame| frame.starts_with(&format!("{program}[+0x"))), "{found:#?}");

    build(["riddle", "utter"], &["-Wl,--build-id=none"]);
    assert!(named().1.contains(&format!("no names from {program}: it has no build id; ")), "{}", named().1);

    // The same source gives the same build, whenever it was made.
    build(["middle", "outer"], &id);
    let (found, said) = named();
    assert!(found.iter().any(|s| in_order(s, &["middle", "outer", "main"], &file)), "{said} {found:#?}");
    assert_eq!(said, "");
}

const WAKES: &str = r#"
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static int there[2], back[2];
static char c;
__attribute__((noinline)) void poke(int fd) { write(fd, &c, 1); __asm__ volatile(""); }
__attribute__((noinline)) void take(int fd) { read(fd, &c, 1); __asm__ volatile(""); }
__attribute__((noinline)) void of_waker(void)
{
	struct timespec t = { 0, 3000000 };

	nanosleep(&t, 0);
	poke(there[1]);
	take(back[0]);
	__asm__ volatile("");
}
__attribute__((noinline)) void *of_sleeper(void *unused)
{
	for (int i = 0; i < 20; i++) {
		take(there[0]);
		poke(back[1]);
	}
	return unused;
}
int main(void)
{
	pthread_t thread;

	pipe(there);
	pipe(back);
	pthread_create(&thread, 0, of_sleeper, 0);
	for (int i = 0; i < 20; i++)
		of_waker();
	pthread_join(thread, 0);
	return 0;
}
"#;

/// Folded lines by their frames.
fn folded(text: &str) -> BTreeMap<Vec<String>, u64> {
    let line = |line: &str| {
        let (stack, number) = line.rsplit_once(' ').expect("a number");
        (stack.split(';').map(str::to_owned).collect(), number.parse().expect("a number"))
    };
    text.lines().map(line).collect()
}

/// The time that ended by an interrupt of each kind, by a task, or by what no event tells, from the events alone.
fn by_kind_of_waker(events: &str) -> BTreeMap<&'static str, u64> {
    let mut away: BTreeMap<i64, (u64, bool, Option<&'static str>)> = BTreeMap::new();
    let mut sums = BTreeMap::new();
    // A waker may begin before its task has left its CPU, and wait for that.
    let mut begun: BTreeMap<i64, &'static str> = BTreeMap::new();
    for event in events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        assert_ne!(event["type"], "lost");
        let field = |name: &str| event["fields"][name].as_i64().unwrap();
        let at = event["ts"].as_u64().unwrap_or_default();
        match event["event"].as_str() {
            Some("sched:sched_waking") => {
                let flags = event["flags"].as_u64().unwrap();
                let kind = match flags {
                    flags if flags & 0x48 != 0 => "[hard interrupt]",
                    flags if flags & 0x10 != 0 => "[soft interrupt]",
                    _ => "task",
                };
                match away.get_mut(&field("pid")) {
                    Some((_, false, waker)) => *waker = (*waker).or(Some(kind)),
                    _ => drop(begun.insert(field("pid"), kind)),
                }
            }
            Some("sched:sched_wakeup") => {
                let began = begun.remove(&field("pid"));
                if let Some((_, false, waker)) = away.get_mut(&field("pid")) {
                    *waker = (*waker).or(began);
                }
            }
            Some("sched:sched_switch") => {
                begun.remove(&field("next_pid"));
                if let Some((since, false, waker)) = away.remove(&field("next_pid")) {
                    *sums.entry(waker.unwrap_or("[unknown]")).or_default() += at - since;
                }
                if field("prev_pid") != 0 {
                    away.insert(field("prev_pid"), (at, field("prev_state") & 0xff == 0, None));
                }
            }
            _ => {}
        }
    }
    sums
}

/// `flame --off-cpu --wakers`: the lines without, each parted by who woke.
#[test]
fn stacks_of_wakers_are_joined_to_those_of_sleepers() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    fs::write(env.path().join("wakes.c"), WAKES).unwrap();
    let flags = ["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread"];
    compile(&env, "cc", &[&flags[..], &["wakes.c", "-o", "wakes"]].concat());
    let record = ["record", "-q", "--for", "offcpu", "-F", "-c", "-b", "8M", "-O", "userstacktrace", "--proc-map"];
    env.rtrace(&[&record[..], &["--", "./wakes"]].concat()).exits(0);
    let flame = |name: &str, more: &[&str]| {
        env.rtrace(&[&["flame", "--off-cpu", "-o", name], more].concat()).exits(0);
        folded(&fs::read_to_string(env.path().join(name)).unwrap())
    };
    let (plain, joined) = (flame("plain.folded", &[]), flame("joined.folded", &["--wakers"]));
    let (mut without, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    for (frames, time) in &joined {
        let end = frames.iter().position(|frame| frame == "--");
        *without.entry(frames[..end.unwrap_or(frames.len())].to_vec()).or_insert(0) += time;
        if end.is_some() {
            let last = frames.last().unwrap().as_str();
            let kind = ["[hard interrupt]", "[soft interrupt]", "[unknown]"].into_iter().find(|kind| *kind == last);
            *kinds.entry(kind.unwrap_or("task")).or_insert(0) += time;
        }
    }
    assert_eq!(without, plain);
    let events = env.rtrace(&["report", "--format", "json"]).exits(0).stdout();
    assert_eq!(kinds, by_kind_of_waker(&events), "{joined:#?}");
    let is_joined = |frames: &Vec<String>| {
        let mut frames = frames.iter();
        ["of_sleeper", "read", "--", "write", "of_waker", "main", "wakes"]
            .iter()
            .all(|name| frames.any(|frame| frame == name))
    };
    assert!(joined.keys().any(is_joined), "{joined:#?}");
    env.rtrace(&["flame", "--wakers"]).exits(2).complains_with("--off-cpu");

    // Times between switches of which some were left out are not all the times.
    let filter = ["-e", "sched:sched_switch", "-f", "next_pid != 0", "-o", "part.dat", "--", "sleep", "0.2"];
    env.rtrace(&[&["record", "-q"], &filter[..]].concat()).exits(0);
    let part = env.rtrace(&["flame", "--off-cpu", "part.dat", "-o", "part.folded"]).exits(0).stdout();
    assert!(
        part.contains("what was not recorded (sched:sched_switch was recorded with the filter next_pid != 0)"),
        "{part}"
    );
}

const FORKS: &str = r#"
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void inner(void) { write(1, "", 0); __asm__ volatile(""); }
__attribute__((noinline)) void of_child(void) { inner(); __asm__ volatile(""); }
int main(void)
{
	if (fork() == 0) {
		of_child();
		_exit(0);
	}
	wait(0);
	return 0;
}
"#;

/// Of a child that ends before CMD does there is no map; it has that of its parent.
#[test]
fn stacks_of_forked_children_have_names() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    fs::write(env.path().join("forks.c"), FORKS).unwrap();
    compile(&env, "cc", &["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "forks.c", "-o", "forks"]);
    record(&env, "./forks", &["--proc-map", "-c"]);
    let named = env.rtrace(&["report", "--symbols", "user"]);
    let file = format!(" ({})", fs::canonicalize(env.path()).unwrap().join("forks").display());
    let stacks = stacks(&named.exits(0).complains("").stdout());
    assert!(stacks.iter().any(|s| in_order(s, &["of_child", "main"], &file)), "{stacks:#?}");
}

/// Programs that others start and that end long before the recording does, with all of what they map.
#[test]
fn stacks_of_programs_that_ended_have_names() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    fs::write(env.path().join("c.c"), C).unwrap();
    compile(&env, "cc", &["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "c.c", "-o", "c"]);
    fs::copy(env.path().join("c"), env.path().join("gone")).unwrap();
    let here = fs::canonicalize(env.path()).unwrap();
    let load = "./c; (./gone); rm gone; sleep 0.1";
    // Those that CMD starts; and all of the machine.
    for of_some in [&["-F", "-c"][..], &[]] {
        let record = ["record", "-q", "-O", "userstacktrace", "-e", "syscalls:sys_enter_write", "--proc-map"];
        env.rtrace(&[&record[..], of_some, &["--", "sh", "-c", load]].concat()).exits(0);
        let named = env.rtrace(&["report", "--symbols", "user"]);
        let stacks = stacks(&named.exits(0).stdout());
        let file = format!(" ({})", here.join("c").display());
        assert!(stacks.iter().any(|s| in_order(s, &["middle", "outer", "main"], &file)), "{of_some:?} {stacks:#?}");
        assert!(stacks.iter().any(|s| in_order(s, &["write"], ")") && s[0].contains("libc")), "{stacks:#?}");
        // What is gone is named by its file.
        let gone = format!("{}", here.join("gone").display());
        assert!(stacks.iter().flatten().any(|frame| frame.starts_with(&gone)), "{of_some:?} {stacks:#?}");
        assert!(named.stderr().contains(&format!("no names from {gone}")), "{}", named.stderr());
        assert!(!named.stderr().contains("processes without a memory map"), "{}", named.stderr());
        let builds = env.rtrace(&["dump", "--options", "trace.dat"]).exits(0).stdout();
        for name in ["c", "gone"] {
            let end = format!(" {}", here.join(name).display());
            assert!(builds.lines().any(|line| line.ends_with(&end) && line.len() >= end.len() + 16), "{builds}");
        }
        fs::copy(env.path().join("c"), env.path().join("gone")).unwrap();
    }
}

#[test]
fn stacks_of_rust_programs_have_names() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    fs::write(env.path().join("r.rs"), RUST).unwrap();
    let rustc = std::env::var_os("RUSTC").map_or_else(|| "rustc".to_owned(), |r| r.to_string_lossy().into_owned());
    compile(&env, &rustc, &["-C", "force-frame-pointers=yes", "-C", "opt-level=1", "-o", "r", "r.rs"]);
    record(&env, "./r", &["--proc-map"]);
    let named = env.rtrace(&["report", "--symbols", "user"]);
    let stacks = stacks(&named.exits(0).stdout());
    let file = format!(" ({})", fs::canonicalize(env.path()).unwrap().join("r").display());
    assert!(stacks.iter().any(|s| in_order(s, &["r::Probe::poke", "r::main"], &file)), "{stacks:#?}");
}

#[test]
fn what_has_no_name_is_reported() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    fs::write(env.path().join("c.c"), C).unwrap();
    compile(&env, "cc", &["-O1", "-fno-omit-frame-pointer", "c.c", "-o", "c"]);
    record(&env, "./c", &[]);
    let plain = env.rtrace(&["report"]).exits(0).stdout();
    let named = env.rtrace(&["report", "--symbols", "user"]);
    named.exits(0).complains(
        "rtrace: trace.dat: no memory maps in it, so user-space stacks have no names\n  \
         Hint: `rtrace record --proc-map` stores them.\n",
    );
    assert_eq!(named.stdout(), plain);

    record(&env, "./c", &["--proc-map"]);
    let elsewhere = env.rtrace(&["report", "--symbols", "user", "--symfs", "/nonexistent"]);
    let program = fs::canonicalize(env.path()).unwrap().join("c");
    elsewhere.exits(0);
    let why = format!("no names from {}: No such file or directory", program.display());
    assert!(elsewhere.stderr().contains(&why), "{}", elsewhere.stderr());
    assert!(elsewhere.stdout().contains(&format!("=> {}[+0x", program.display())), "{}", elsewhere.stdout());

    // a larger program in its place is no longer the one that ran
    fs::remove_file(&program).unwrap();
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let other = env.rtrace(&["report", "--symbols", "user"]);
    let why = format!("no names from {}: it is another build than the one that was mapped: ", program.display());
    assert!(other.exits(0).stderr().contains(&why), "{}", other.stderr());
    assert!(!other.stdout().contains(&format!("({})", program.display())), "{}", other.stdout());

    env.rtrace(&["report", "--symbols", "user", "--format", "csv"]).exits(2);
}
