//! The recipes of `rtrace help recipes`, done on this machine's kernel. Recipes that it cannot do here (histograms, other
//! boots) is done in guests, with all others, by `tests/kernel/examples.rs`.

use crate::cgroups::TestCgroups;
use crate::common::environment::TestEnvironment;
use crate::common::help_examples::commands;
use crate::host::kernel;
use crate::state::Running;

/// Verbs that this test leaves to guests: the first two need histograms, the third takes events out of the top level.
const IN_GUESTS: [&str; 3] = ["rtrace latency ", "rtrace hist ", "rtrace extract "];

#[test]
fn answer_their_questions() {
    let Some((_, _alone)) = kernel() else { return };
    let page = include_str!("../../docs/reference/recipes.md");
    let recipes: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert_eq!(recipes.len(), 13);
    let mut wrong = String::new();
    for recipe in recipes {
        let (question, _) = recipe.split_once('\n').expect("a question");
        let commands = commands(recipe);
        assert!(commands.len() >= 2, "{question}: {commands:?}");
        let env = TestEnvironment::new();
        let cgroups = TestCgroups::new("cgroup2", "");
        let mut container = env.command("sh");
        container.args(["-c", "while sleep 0.01; do :; done"]);
        let container = Running::start(container);
        let web = cgroups.as_ref().map(|cgroups| cgroups.path("a"));
        if let Some(web) = &web {
            std::fs::write(format!("{web}/cgroup.procs"), container.pid().to_string()).expect("a container");
        }
        for command in commands.iter().filter(|command| !IN_GUESTS.iter().any(|verb| command.starts_with(verb))) {
            if command.contains("last.dat") {
                continue; // of the boot before
            }
            if web.is_none() && command.contains("web") {
                continue; // no cgroups that can be made
            }
            let line = command
                .replace("rtrace ", concat!(env!("CARGO_BIN_EXE_rtrace"), " "))
                .replace("--duration 10s", "--duration 200ms")
                .replace("-- make", "-- sh -c 'ls -l /; sleep 0.01; ls /'")
                .replace("./server", "ls -l /")
                .replace("--cgroup /web", &format!("--cgroup {}", web.as_deref().unwrap_or_default()));
            let outcome = env.run("sh", &["-c", &line]);
            let redirected = command.contains(" > ");
            let records = command.starts_with("rtrace record");
            let said = records || redirected || !outcome.stdout().is_empty() || command.contains("nginx");
            // A machine whose files lie in memory has no requests to devices.
            if command.contains("io.dat") && outcome.stderr().contains("holds no whole requests") {
                continue;
            }
            if outcome.status() != Some(0) || !said {
                wrong.push_str(&format!("{question}\n{line}\n{:?}: {}\n", outcome.status(), outcome.stderr()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// `rtrace help skill`: each line in order, in one folder.
#[test]
fn the_skill_runs_line_by_line() {
    let Some((_, _alone)) = kernel() else { return };
    let page = include_str!("../../docs/reference/skill.md");
    assert!(page.lines().count() <= 300);
    let env = TestEnvironment::new();
    let commands = commands(page);
    assert!(commands.len() > 30, "{commands:?}");
    let mut wrong = String::new();
    for command in commands {
        let load = "-- sh -c 'ls -R /etc | sort >/dev/null; cat /nosuch; sleep 0.05; sync; ls /'";
        let line = command
            .replace("rtrace ", concat!(env!("CARGO_BIN_EXE_rtrace"), " "))
            .replace("--duration 10s", "--duration 200ms")
            .replace("-- make", load)
            .replace("run(make)", "run(ls)")
            .replace("wait(make)", "wait(ls)")
            .replace("--comm make", "--comm ls");
        let outcome = env.run("sh", &["-c", &line]);
        // A machine whose files lie in memory has no requests to devices.
        if command.contains("io.dat") && outcome.stderr().contains("holds no whole requests") {
            continue;
        }
        let writes = ["record", "convert", "baseline save"];
        let writes = writes.iter().any(|verb| command.starts_with(&format!("rtrace {verb}")));
        let answers = writes || !outcome.stdout().is_empty();
        // The page itself says that a verdict may be 3 or 4: a busy machine is late.
        let verdict = ["check", "diff", "baseline"].iter().any(|verb| command.starts_with(&format!("rtrace {verb}")));
        let ended = outcome.status();
        if !(ended == Some(0) || verdict && matches!(ended, Some(3 | 4))) || !answers {
            wrong.push_str(&format!("{line}\n{ended:?}: {}\n", outcome.stderr()));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// `rtrace help questions`: one recording of a small load, and each question to it.
#[test]
fn ten_questions_to_one_recording_are_answered() {
    let Some((_, _alone)) = kernel() else { return };
    let page = include_str!("../../docs/reference/questions.md");
    let (first, _) = page.split_once("\n## ").expect("questions");
    assert_eq!(page.matches("\n## ").count(), 10);
    let env = TestEnvironment::new();
    let program = concat!(env!("CARGO_BIN_EXE_rtrace"), " ");
    let load = "-- sh -c 'ls -R /etc | sort; cat /nosuch; sleep 0.6; ls /'";
    for command in commands(first) {
        let line = command.replace("rtrace ", program).replace("-- make", load);
        env.run("sh", &["-c", &line]);
    }
    let questions = commands(page.split_once("\n## ").map_or("", |(_, questions)| questions));
    assert_eq!(questions.len(), 12, "{questions:?}");
    for command in questions {
        let outcome = env.run("sh", &["-c", &command.replace("rtrace ", program)]);
        let lines = outcome.exits(0).stdout().lines().count();
        assert!(lines >= 3, "{command}: {}", outcome.stdout());
    }
}
