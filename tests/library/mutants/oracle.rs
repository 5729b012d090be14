//! The same output, or 4 and the place.

use super::layout::Layout;
use super::mutation::{Mutation, damaged};
use super::recordings::{Sound, recordings};
use super::verbs::{Said, VERBS, run};
use crate::common::synthetic::Random;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Number of damaged files that each run makes, and of verbs that read each of them, besides `report`.
const MUTANTS: usize = 500;
const VERBS_EACH: usize = 2;

/// Progress lines of a long run: number of damaged files for one.
const PROGRESS: usize = 500;

/// The fate of a damaged file under one verb.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
enum Verdict {
    /// The output of the whole file.
    Same,
    /// Exit 4 and the place.
    Reported,
    /// Not a trace.dat any more, and said so.
    Foreign,
    /// Other output, of bytes that nothing vouches for.
    Unvouched,
    /// Anything else.
    Wrong,
}

/// A sound recording, its layout, and what verbs say of it.
struct Subject {
    sound: Sound,
    layout: Layout,
    whole: Mutex<HashMap<usize, Said>>,
}

impl Subject {
    fn whole(&self, verb: usize, dir: &Path) -> Said {
        if let Some(said) = self.whole.lock().expect("no panic").get(&verb) {
            return said.clone();
        }
        let said = run(line(verb), &written(dir, "whole", &self.sound.bytes));
        assert!(said.status != Some(4), "{}, whole: {}", self.sound.name, said.stderr);
        self.whole.lock().expect("no panic").insert(verb, said.clone());
        said
    }
}

/// A folder in `dir` in which `trace.dat` has these bytes.
fn written(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let dir = dir.join(name);
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join("trace.dat"), bytes).expect("a file");
    dir
}

fn line(verb: usize) -> &'static str {
    VERBS.get(verb).unwrap_or(&"report")
}

/// The changes to the bytes of `file`: the range of those that differ, if none moved.
fn changed(file: &[u8], to: &[u8]) -> Option<std::ops::Range<usize>> {
    let differs = |(a, b): (&u8, &u8)| a != b;
    let first = file.iter().zip(to).position(differs)?;
    let last = file.len() - file.iter().rev().zip(to.iter().rev()).position(differs)?;
    (file.len() == to.len()).then_some(first..last)
}

fn names_a_place(stderr: &str) -> bool {
    ["0x", "cpu ", "spool "].iter().any(|word| stderr.contains(word))
}

/// A line to standard error at once: the test runner keeps back what `eprintln!` prints until the test has ended.
fn tell(line: &str) {
    writeln!(io::stderr(), "{line}").expect("standard error takes it");
}

/// Damages a recording as its number has it, and judges what verbs say; what is wrong is printed, and goes to `wrong`.
fn judge(
    number: usize,
    subjects: &[Subject],
    dir: &Path,
    wrong: &mut Vec<String>,
    counts: &mut HashMap<Verdict, usize>,
) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(number as u64 + 1));
    let _ = [random.below(2), random.below(2)];
    let subject = &subjects[number % subjects.len()];
    let (file, layout) = (&subject.sound.bytes, &subject.layout);
    let (mutation, mutant) = loop {
        let mutation = Mutation::new(file, layout, &mut random);
        let mutant = damaged(file, layout, &mutation);
        if mutant != *file {
            break (mutation, mutant);
        }
    };
    let changed = changed(file, &mutant);
    let unvouched = changed.as_ref().is_some_and(|changed| layout.is_unvouched(changed));
    let in_magic = mutant.len() < 12 || mutant[..12] != file[..12];
    let first = random.below(VERBS.len());
    let verbs = [VERBS.len()].into_iter().chain((0..VERBS_EACH).map(|step| (first + step * 17) % VERBS.len()));
    let place = written(dir, "damaged", &mutant);
    for verb in verbs {
        let whole = subject.whole(verb, dir);
        let said = run(line(verb), &place);
        let verdict = match said.status {
            Some(4) if names_a_place(&said.stderr) => Verdict::Reported,
            Some(1) if in_magic && said.stderr.contains("trace.dat") => Verdict::Foreign,
            status if status == whole.status && said.output == whole.output => Verdict::Same,
            Some(0 | 1) if unvouched && said.status == whole.status => Verdict::Unvouched,
            _ => Verdict::Wrong,
        };
        *counts.entry(verdict).or_default() += 1;
        if verdict == Verdict::Wrong {
            let line = format!(
                "{number} `{}`: {:?}, {} bytes for {:?}, {}; {}: {mutation}; {}",
                line(verb),
                said.status,
                said.len,
                whole.status,
                whole.len,
                subject.sound.name,
                said.stderr.lines().take(3).collect::<Vec<_>>().join(" | ")
            );
            tell(&line);
            wrong.push(line);
        }
    }
    if std::env::var_os("RTRACE_MUTANT").is_some() {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant-{number}.dat"));
        std::fs::write(&kept, &mutant).expect("a file");
        println!("{}: {} with {mutation}, unvouched: {unvouched}", kept.display(), subject.sound.name);
    }
}

#[test]
fn a_file_that_lost_something_never_ends_with_0() {
    let number = |name| std::env::var(name).ok().map(|value| value.parse::<usize>().expect("a number"));
    let mutants = number("RTRACE_MUTANTS").unwrap_or(MUTANTS);
    let one = number("RTRACE_MUTANT");
    let since = Instant::now();
    let subject = |sound: Sound| Subject { layout: Layout::of(&sound.bytes), sound, whole: Mutex::default() };
    let subjects: Vec<Subject> = recordings(mutants > MUTANTS).into_iter().map(subject).collect();
    let next = AtomicUsize::new(one.or_else(|| number("RTRACE_MUTANT_FROM")).unwrap_or(0));
    let end = one.map_or(mutants, |one| one + 1);
    let all = Mutex::new((Vec::new(), HashMap::<Verdict, usize>::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let dir = tempfile::tempdir().expect("a folder");
                let (mut wrong, mut counts) = (Vec::new(), HashMap::new());
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end {
                        break;
                    }
                    judge(number, &subjects, dir.path(), &mut wrong, &mut counts);
                    if (number + 1).is_multiple_of(PROGRESS) && mutants > MUTANTS {
                        tell(&format!("mutant {} of {end}, {:.0?}", number + 1, since.elapsed()));
                    }
                }
                let mut all = all.lock().expect("no panic");
                all.0.append(&mut wrong);
                counts.into_iter().for_each(|(verdict, count)| *all.1.entry(verdict).or_default() += count);
            });
        }
    });
    let (mut wrong, counts) = all.into_inner().expect("no panic");
    wrong.sort();
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort();
    println!("{mutants} mutants of {} recordings: {counts:?}", subjects.len());
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}
