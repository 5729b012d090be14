//! Stacks of user space by name: programs of this test's own, recorded on the running kernel.

use crate::common::bounded::output;
use crate::common::environment::TestEnvironment;
use crate::host::kernel;
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
         Hint: `rtrace record --proc-map` stores those of CMD, or of the processes of -P.\n",
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
    let why = format!("no names from {}: it is not the file that was mapped", program.display());
    assert!(other.exits(0).stderr().contains(&why), "{}", other.stderr());
    assert!(!other.stdout().contains(&format!("({})", program.display())), "{}", other.stdout());

    env.rtrace(&["report", "--symbols", "user", "--format", "csv"]).exits(2);
}
