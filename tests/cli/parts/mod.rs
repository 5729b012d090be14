//! No answer from a part of what happened contradicts the whole: parts of whole recordings are made by every limit and by chance.

mod answers;
mod assertions;
mod copying;
mod making;
mod rows;

use crate::common::corpus::{corpus, own};
use crate::common::environment::TestEnvironment;
use answers::Tally;
use making::{PartKind, PartMaker};
use rtrace::internal::trace_dat::Trace;
use std::fs::File;
use std::path::PathBuf;

/// Recordings of guests, without losses, that hold much of what analyses read.
fn wholes() -> Vec<PathBuf> {
    let ours = ["i386/events-v6.dat", "s390x/inst.dat"].map(|name| own().join(name));
    let others = [
        "vm-6.12/events-all",
        "vm-6.12/inst",
        "vm-6.12/events-316",
        "vm-6.1/events-316",
        "vm-6.1/inst",
        "vm-6.1/graph-events",
        "arm64/events",
        "arm64/inst",
        "s390x/events",
        "s390x/events-v6",
        "i386/events",
        "i386/inst",
        "all-tracers/osnoise",
        "all-tracers/timerlat",
    ];
    let corpus = corpus().into_iter();
    let others = corpus.flat_map(|corpus| others.map(|name| corpus.join(name).with_extension("dat")));
    ours.into_iter().chain(others).filter(|path| path.exists()).collect()
}

#[test]
fn no_answer_of_a_part_contradicts_the_whole() {
    let env = TestEnvironment::new();
    // `12` parts of each whole and kind, `12:Losses` of one kind.
    let asked = std::env::var("RTRACE_PARTS").unwrap_or_default();
    let (many, of_kind) = asked.split_once(':').unwrap_or((&asked, ""));
    let many: u64 = many.parse().unwrap_or(1);
    let (wholes, least) = if many > 1 { (wholes(), 10_000) } else { (wholes()[..2].to_vec(), 500) };
    let mut tally = Tally::default();
    for seed in 0..many {
        for whole in &wholes {
            let trace = Trace::open(File::open(whole).expect("the whole"))
                .unwrap_or_else(|error| panic!("{}: {error}", whole.display()));
            for kind in PartKind::ALL.into_iter().filter(|kind| format!("{kind:?}").starts_with(of_kind)) {
                let part = env.path().join("part.dat");
                let Some(limit) = PartMaker::new(&trace, whole, seed).make(kind, &part) else { continue };
                tally.compare(&env, whole, &part, kind, &limit);
                let pids: Vec<String> = limit.tasks.iter().take(3).cloned().collect();
                let (compared, window) = assertions::compare(&env, whole, &part, &pids);
                tally.add(kind, compared);
                if let Some(window) = window {
                    tally.add(kind, rows::compare_stays(&env, whole, &part, (kind, &window)));
                    tally.add(kind, rows::compare_maps(&env, whole, &part, (kind, &window)));
                }
                tally.add(kind, rows::compare_profiles(&env, whole, &part, kind));
            }
        }
    }
    println!("{}", tally.summary());
    assert!(tally.contradictions.is_empty(), "{}\n{}", tally.summary(), tally.contradictions.join("\n"));
    assert!(tally.compared() >= least, "{}", tally.summary());
    assert_eq!(tally.unknown_of_all(), 0, "{}", tally.summary());
}
