//! Completions of the three shells, of a tree like tracefs. A shell that this machine lacks is named.

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::walk::Tree;
use std::path::Path;

/// Command lines up to the cursor, with a completion each.
const LINES: [(&str, &str); 10] = [
    ("rtrace reco", "recover"),
    ("rtrace record --tracefs tracing -e sched:sched_sw", "sched:sched_switch"),
    ("rtrace record --tracefs tracing -e sched:sched_switch -f 'prev_pid == 1 && next_p", "prev_pid == 1 && next_prio"),
    ("rtrace record --tracefs tracing -e irq,sched:sched_sw", "irq,sched:sched_switch"),
    ("rtrace record --tracefs tracing -B ", "two"),
    ("rtrace record --tracefs tracing -C glo", "global"),
    ("rtrace record --tracefs tracing -O noover", "nooverwrite"),
    (
        "rtrace latency --tracefs tracing sched:sched_switch sched:sched_switch --by prev_pid=next_p",
        "prev_pid=next_pid",
    ),
    ("rtrace filter set --tracefs tracing sched:sched_switch next_", "next_comm"),
    ("rtrace report trac", "trace.dat"),
];

fn tree() -> Tree {
    let tree = Tree::new();
    std::fs::write(tree.env.path().join("trace.dat"), "").expect("a file");
    tree
}

/// PATH with the built program first, as a line of sh, bash, zsh and fish alike.
fn path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_rtrace")).parent().expect("a folder");
    format!("export PATH='{}':$PATH", folder.display())
}

fn script(name: &str) -> String {
    format!("{}/completions/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// True if the shell is here; else it is named.
fn is_here(shell: &str) -> bool {
    let env = TestEnvironment::new();
    let found = env.run("sh", &["-c", &format!("command -v {shell}")]).status() == Some(0);
    if !found {
        not_run(format_args!("{shell} is not installed: its completions"));
    }
    found
}

/// Command lines over the recording `small.dat`, with a completion each; of none the shell completes files.
const RECORDED: [(&str, Option<&str>); 12] = [
    ("rtrace why ", Some("small.dat")),
    ("rtrace why rcu", Some("rcu_preempt")),
    ("rtrace report small.dat --comm rcu", Some("rcu_preempt")),
    ("rtrace report small.dat --pid ", Some("1")),
    ("rtrace report small.dat --format csv --fields ts,next_p", Some("ts,next_pid")),
    ("rtrace check small.dat --assert p9", Some("p99(")),
    ("rtrace check small.dat --assert 'p99(wa", Some("p99(wait(")),
    ("rtrace check small.dat --assert 'max(wait(rcu", Some("max(wait(rcu_preempt")),
    ("rtrace diff --metric tri", Some("trimmed(")),
    ("rtrace diff ", None),
    ("rtrace attach ", None),
    ("rtrace sql ", None),
];

#[test]
fn recordings_and_processes_are_completed() {
    let env = TestEnvironment::new();
    for name in ["small.dat", "trace.dat"] {
        std::fs::copy(crate::common::corpus::own().join("host/small-zlib.dat"), env.path().join(name)).expect("a copy");
    }
    for (line, wanted) in RECORDED {
        let answer = env.rtrace(&["complete", "bash", line]).exits(0).stdout();
        let mut lines = answer.lines();
        let kind = lines.next().expect("a kind");
        let words: Vec<&str> = lines.filter_map(|line| line.split('\t').next()).collect();
        match wanted {
            Some(word) => {
                assert!(kind == "words" && words.iter().any(|found| word.ends_with(found)), "{line}: {answer}")
            }
            None => assert_eq!(kind, "files", "{line}"),
        }
    }
    let own = std::process::id().to_string();
    let answer = env.rtrace(&["complete", "bash", &format!("rtrace record -P {own}")]).exits(0).stdout();
    assert!(answer.lines().any(|line| line.split('\t').next() == Some(&own)), "{answer}");
}

#[test]
fn the_command_prints_the_committed_scripts() {
    let env = TestEnvironment::new();
    for (shell, name) in [("bash", "rtrace.bash"), ("zsh", "_rtrace"), ("fish", "rtrace.fish")] {
        let committed = std::fs::read_to_string(script(name)).expect("a script");
        env.rtrace(&["completions", shell]).exits(0).complains("").prints(&committed);
    }
    env.rtrace(&["completions", "csh"]).exits(2).complains_with("expected bash, zsh or fish");
}

#[test]
fn what_is_hidden_is_not_offered() {
    let tree = tree();
    let ask = |words: &[&str]| tree.env.rtrace(&[&["complete", "zsh", "rtrace"], words].concat()).exits(0).stdout();
    let commands = ask(&[""]);
    assert!(commands.starts_with("words\nrecord\tRecord events"), "{commands}");
    assert!(!commands.contains("\ngenerate") && !commands.contains("\nsqlhist"), "{commands}");
    let options = ask(&["record", "--"]);
    assert!(options.contains("\n--event\tRecord events"), "{options}");
    assert!(!options.contains("daemonized") && !options.contains("journal-dir"), "{options}");
    assert_eq!(ask(&["record", "ls", "-"]), "command 2\n");
    assert_eq!(ask(&["set", "l"]), "command 2\n");
    let settings = ask(&["set", ""]);
    assert!(settings.starts_with("words\n--") && settings.contains("\n--clock\t"), "{settings}");
    assert_eq!(ask(&["hist", "sched:sched_switch", "--", "ls", "x"]), "command 4\n");
    assert_eq!(ask(&["report", "x"]), "files\n");
    assert_eq!(ask(&["record", "--tracefs", "nowhere", "-e", "s"]), "words\n");
    let systems = ask(&["record", "--tracefs", "tracing", "-e", "sche"]);
    assert!(systems.contains("\nsched\tall events") && systems.contains("\nsched:\t"), "{systems}");
}

#[test]
fn a_list_in_bash_has_meanings() {
    let tree = tree();
    let source = std::fs::read_to_string(script("rtrace.bash")).expect("a script");
    let ask = |kind: u32, line: &str| {
        let ask = format!(
            "{}\n{source}\nCOLUMNS=50 COMP_TYPE={kind} COMP_LINE=\"{line}\" COMP_POINT=${{#COMP_LINE}} COMP_WORDS=(rtrace)\n\
             _rtrace rtrace re x; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            path()
        );
        tree.env.run("bash", &["--norc", "-c", &ask]).exits(0).complains("").stdout()
    };
    let list = ask(63, "rtrace re");
    assert!(list.starts_with("record   Record events"), "{list}");
    assert!(list.lines().count() > 2 && list.lines().all(|line| line.len() < 50), "{list}");
    assert_eq!(ask(63, "rtrace repor"), "report\n", "what is inserted has none");
    assert!(ask(37, "rtrace re").starts_with("record\nreport\n"));
}

#[test]
fn bash() {
    let tree = tree();
    let source = std::fs::read_to_string(script("rtrace.bash")).expect("a script");
    let mut lines = format!("{}\n{source}\n", path());
    for (line, _) in LINES {
        // The part that bash replaces: the text after an open quote, or the last of its word breaks.
        let quoted = line.rsplit_once('\'').map(|(_, text)| text);
        let word = quoted.unwrap_or_else(|| line.rsplit([' ', ':', '=']).next().expect("a word"));
        lines.push_str(&format!(
            "COMP_LINE=\"{line}\" COMP_POINT=${{#COMP_LINE}} COMP_WORDS=(rtrace) COMP_CWORD=3\n\
             _rtrace rtrace \"{word}\" x; echo \"${{COMPREPLY[*]/#/|}}|\"\n"
        ));
    }
    let outcome = tree.env.run("bash", &["--norc", "-c", &lines]);
    let printed = outcome.exits(0).complains("").stdout();
    assert_eq!(printed.lines().count(), LINES.len(), "{printed}");
    for ((line, wanted), found) in LINES.iter().zip(printed.lines()) {
        let kept = if line.contains('\'') { 0 } else { wanted.rfind([':', '=']).map_or(0, |at| at + 1) };
        let shown: Vec<&str> = found.split('|').map(str::trim).collect();
        assert!(shown.contains(&&wanted[kept..]), "{line}: {found}");
    }
}

#[test]
fn fish() {
    if !is_here("fish") {
        return;
    }
    let tree = tree();
    for (line, wanted) in LINES {
        let command = format!("{}\nsource {}\ncomplete -C \"{line}\"", path().replace(':', " "), script("rtrace.fish"));
        let outcome = tree.env.run("fish", &["--no-config", "-c", &command]);
        let shown = outcome.exits(0).stdout();
        assert!(shown.lines().any(|found| found.split('\t').next() == Some(wanted)), "{line}: {shown}");
    }
}

#[test]
fn zsh() {
    if !is_here("zsh") {
        return;
    }
    let tree = tree();
    let folder = script("");
    // A shell at a terminal, whose TAB lists or completes; each answer is waited for, and each line then thrown away.
    let mut steps = format!(
        "{}\nzmodload zsh/zpty\nzpty sh zsh -f -i\n\
         zpty -w sh \"stty columns 250; fpath=({folder} \\$fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; print REA''DY\"\n\
         zpty -r sh out '*READY*'\n",
        path()
    );
    for (line, wanted) in LINES {
        steps.push_str(&format!(
            "zpty -w -n sh \"{line}\"\nzpty -r sh out '*{last}*'\nzpty -w -n sh $'\\t'\n\
             zpty -r sh out '*{rest}*' && print -r -- found\nzpty -w -n sh $'\\C-u'\n",
            last = &line[line.len() - 3..],
            // Listed as a whole, or what is typed for the reader.
            rest = &wanted[wanted.len() - 3..],
        ));
    }
    steps.push_str("zpty -d sh\n");
    std::fs::write(tree.env.path().join("steps.zsh"), steps).expect("a script");
    let outcome = tree.env.run("timeout", &["120", "env", "TERM=dumb", "zsh", "-f", "steps.zsh"]);
    assert_eq!(outcome.exits(0).stdout(), "found\n".repeat(LINES.len()), "{}", outcome.stderr());
}
