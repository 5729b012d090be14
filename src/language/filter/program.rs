//! A boolean expression over tests, compiled to jumps.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::Subject;
use super::test::ProgramTest;
use crate::base::abi::Abi;

/// A compiled filter: decides over one event without allocating or looking anything up by name.
#[derive(Debug)]
pub struct FilterProgram {
    abi: Abi,
    entry: JumpTarget,
    steps: Vec<FilterStep>,
}

#[derive(Debug)]
struct FilterStep {
    test: ProgramTest,
    yes: JumpTarget,
    no: JumpTarget,
}

/// The next step, or an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JumpTarget {
    Step(u32),
    Match,
    Drop,
}

/// A boolean expression over tests.
#[derive(Debug)]
pub(super) enum ProgramTree {
    And(Vec<ProgramTree>),
    Or(Vec<ProgramTree>),
    Not(Box<ProgramTree>),
    Test(ProgramTest),
    Const(bool),
}

impl FilterProgram {
    pub(super) fn new(tree: ProgramTree, abi: Abi) -> Self {
        let mut steps = Vec::new();
        let entry = emit(tree, JumpTarget::Match, JumpTarget::Drop, &mut steps);
        FilterProgram { abi, entry, steps }
    }

    /// True if the event passes. A field beyond the end of its record compares as false.
    #[inline]
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        let mut at = self.entry;
        loop {
            match at {
                JumpTarget::Match => return true,
                JumpTarget::Drop => return false,
                // Every target was made from a step's place in `steps`, and a step leads only to earlier ones.
                JumpTarget::Step(i) => {
                    let Some(step) = self.steps.get(i as usize) else { return false };
                    at = if step.test.holds(subject, self.abi) { step.yes } else { step.no };
                }
            }
        }
    }

    /// True if it looks at [`Subject::comm`].
    pub fn needs_comm(&self) -> bool {
        self.steps.iter().any(|step| step.test.needs_comm())
    }
}

/// Emits `tree` from the back: each part is given where to go when it holds and when it does not.
fn emit(tree: ProgramTree, yes: JumpTarget, no: JumpTarget, steps: &mut Vec<FilterStep>) -> JumpTarget {
    match tree {
        ProgramTree::Const(true) => yes,
        ProgramTree::Const(false) => no,
        ProgramTree::Not(inner) => emit(*inner, no, yes, steps),
        ProgramTree::And(parts) => parts.into_iter().rev().fold(yes, |next, part| emit(part, next, no, steps)),
        ProgramTree::Or(parts) => parts.into_iter().rev().fold(no, |next, part| emit(part, yes, next, steps)),
        ProgramTree::Test(_) if yes == no => yes,
        ProgramTree::Test(test) => {
            let place = steps.len() as u32;
            steps.push(FilterStep { test, yes, no });
            JumpTarget::Step(place)
        }
    }
}
