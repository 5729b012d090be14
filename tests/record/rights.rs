//! Users other than root: the owner of a tracefs that was mounted for him records, and his journal lies in his own
//! directory; a group may only read.

use crate::common::environment::{Outcome, TestEnvironment};
use crate::common::knobs::Knobs;
use crate::common::not_run::not_run;
use crate::host::kernel;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// The user and group `nobody` of most systems.
const USER: &str = "65534";

/// Runs the shell words in a mount namespace where tracefs at $T has the mount options `options`, in a folder of the
/// user's with the program as $R; `u WORDS` runs words as the user. All is as it was afterwards.
fn with_tracefs(env: &TestEnvironment, options: &str, words: &str) -> Outcome {
    fs::set_permissions(env.path(), Permissions::from_mode(0o755)).expect("its mode");
    fs::copy(env!("CARGO_BIN_EXE_rtrace"), env.path().join("rtrace")).expect("the program");
    for dir in ["run", "work", "t"] {
        let path = env.path().join(dir);
        if !path.exists() {
            fs::create_dir(&path).expect("a folder");
            std::os::unix::fs::chown(&path, USER.parse().ok(), USER.parse().ok()).expect("its owner");
        }
    }
    // Mount options of tracefs hold for all its mounts.
    let script = format!(
        "mount --make-rprivate / && mount -t tracefs -o {options} none t || exit 9
         trap 'mount -o remount,uid=0,gid=0,mode=700 \"$T\"' EXIT
         T=$PWD/t R=$PWD/rtrace X=$PWD/run; cd work
         u() {{ XDG_RUNTIME_DIR=$X setpriv --reuid {USER} --regid {USER} --clear-groups --no-new-privs \"$@\"; }}
         {words}"
    );
    env.run("unshare", &["--mount", "bash", "-c", &script])
}

#[test]
fn the_owner_of_tracefs_records_and_recovers() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let instances = std::fs::read_dir(tracefs.root().join("instances")).expect("a directory");
    let others: Vec<std::ffi::OsString> = instances.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    let env = TestEnvironment::new();
    let outcome = with_tracefs(
        &env,
        &format!("uid={USER},mode=700"),
        "u $R record --tracefs $T -q -e sched:sched_process_exit -- sh -c '/bin/true; id -u; ls $XDG_RUNTIME_DIR/rtrace; exit 3'
         echo status $?; u $R report | grep -c sched_process_exit
         u sh -c \"$R record --tracefs $T -q -e sched -o k.dat -- sh -c 'sleep 0.2; kill -9 \\$PPID'\" 2>&1 || true
         ls $X/rtrace $T/instances; u $R recover --tracefs $T k.dat; echo recovered $?; ls $X/rtrace $T/instances",
    );
    if outcome.status() == Some(9) {
        return not_run("tracefs cannot be mounted with options here");
    }
    let printed = outcome.exits(0).stdout();
    let journals = printed.matches(".journal").count();
    assert_eq!(journals, 2, "one while each of the two recorded, in the user's own directory: {printed}");
    for wanted in [&format!("{USER}\n"), "status 3\n", "rtrace-", "recovered 0\n"] {
        assert!(printed.contains(wanted), "{wanted}: {printed}");
    }
    let rest = printed.split("recovered 0\n").nth(1).expect("the rest");
    let left = |name: &str| name.ends_with(".journal") || name.starts_with("rtrace-") && !others.contains(&name.into());
    assert!(!rest.lines().any(left), "left behind: {rest}");
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}

#[test]
fn a_recording_under_sudo_is_its_callers_where_the_directory_is_theirs() {
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let owned = |dir: &str, user: Option<u32>| {
        fs::create_dir(env.path().join(dir)).expect("a folder");
        std::os::unix::fs::chown(env.path().join(dir), user, user).expect("its owner");
    };
    owned("his", USER.parse().ok());
    owned("roots", Some(0));
    std::os::unix::fs::symlink(env.path().join("roots"), env.path().join("his/link")).expect("a link");
    let program = env!("CARGO_BIN_EXE_rtrace");
    let record = |options: &str, file: &str| {
        let line = format!("'{program}' record -q -e sched:sched_process_exit {options} -o {file} -- true");
        let sudo = format!("env SUDO_UID={USER} SUDO_GID={USER} {line}");
        env.run("sh", &["-c", &sudo]).exits(0);
        let metadata = fs::symlink_metadata(env.path().join(file)).expect("a recording");
        (metadata.uid().to_string(), metadata.gid().to_string(), metadata.mode() & 0o777)
    };
    let (his, roots) = ((USER.to_owned(), USER.to_owned(), 0o600), ("0".to_owned(), "0".to_owned(), 0o600));
    assert_eq!(record("", "his/new.dat"), his);
    assert_eq!(record("", "his/new.dat"), his, "also where one of his is in the way");
    assert_eq!(record("--file-version 6", "his/six.dat"), his);
    assert_eq!(record("", "roots/new.dat"), roots, "a directory that he cannot write to");
    assert_eq!(record("", "his/link/linked.dat"), roots);
    // One that was killed is his when it is recovered.
    let killed = format!(
        "export SUDO_UID={USER} SUDO_GID={USER}; cd his
         '{program}' record -q -e sched -o k.dat -- sh -c 'sleep 0.2; kill -9 $PPID'; stat -c %u k.dat
         '{program}' recover k.dat >/dev/null; stat -c %u k.dat; ls"
    );
    let outcome = env.run("bash", &["-c", &killed]);
    assert_eq!(outcome.exits(0).stdout(), format!("0\n{USER}\nk.dat\nlink\nnew.dat\nnew.dat.old\nsix.dat\n"));
}

#[test]
fn a_group_reads_and_learns_what_recording_needs() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    let outcome = with_tracefs(
        &env,
        &format!("gid={USER},mode=750"),
        "u $R list -e --tracefs $T | grep -c '^sched:sched_switch$'; u $R stat --tracefs $T >/dev/null; echo stat $?
         u $R record --tracefs $T -e sched -- true 2>&1; echo status $?; ls",
    );
    if outcome.status() == Some(9) {
        return not_run("tracefs cannot be mounted with options here");
    }
    let printed = outcome.exits(0).stdout();
    for wanted in ["1\nstat 0\n", "Permission denied", "uid=USER", "status 125\n"] {
        assert!(printed.contains(wanted), "{wanted}: {printed}");
    }
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}
