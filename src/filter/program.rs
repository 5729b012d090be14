//! A boolean expression over tests, compiled to jumps.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::Subject;
use super::test::Test;
use crate::abi::Abi;

/// A compiled filter: decides over one event without allocating or looking anything up by name.
#[derive(Debug)]
pub struct Program {
    abi: Abi,
    entry: Target,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    test: Test,
    yes: Target,
    no: Target,
}

/// The next step, or an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Step(u32),
    Match,
    Drop,
}

/// A boolean expression over tests.
#[derive(Debug)]
pub(super) enum Tree {
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Not(Box<Tree>),
    Test(Test),
    Const(bool),
}

impl Program {
    pub(super) fn new(tree: Tree, abi: Abi) -> Self {
        let mut steps = Vec::new();
        let entry = emit(tree, Target::Match, Target::Drop, &mut steps);
        Program { abi, entry, steps }
    }

    /// True if the event passes. What a record is too short to hold compares as false.
    #[inline]
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        let mut at = self.entry;
        loop {
            match at {
                Target::Match => return true,
                Target::Drop => return false,
                // Every target was made from a step's place in `steps`, and a step leads only to earlier ones.
                Target::Step(i) => {
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
fn emit(tree: Tree, yes: Target, no: Target, steps: &mut Vec<Step>) -> Target {
    match tree {
        Tree::Const(true) => yes,
        Tree::Const(false) => no,
        Tree::Not(inner) => emit(*inner, no, yes, steps),
        Tree::And(parts) => parts.into_iter().rev().fold(yes, |next, part| emit(part, next, no, steps)),
        Tree::Or(parts) => parts.into_iter().rev().fold(no, |next, part| emit(part, yes, next, steps)),
        Tree::Test(_) if yes == no => yes,
        Tree::Test(test) => {
            let place = steps.len() as u32;
            steps.push(Step { test, yes, no });
            Target::Step(place)
        }
    }
}
