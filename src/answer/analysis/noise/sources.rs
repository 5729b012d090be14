//! Interferences by their cause, and the latest ones of a CPU.

use super::events::{Noise, NoiseSource};
use crate::answer::analysis::map::Map;
use crate::answer::analysis::{Durations, KnownPart, Needs};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The events that the numbers of osnoise and timerlat need, by the names of `rtrace analyze osnoise --json` and of `timerlat`'s.
pub const NOISE_NEEDS: &[Needs] = &[
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::seen(
            &["cpus.periods", "cpus.runtime_us", "cpus.noise_us", "cpus.max_noise_us", "cpus.max_single_us"],
            &["ftrace:osnoise", "osnoise:osnoise_sample"],
        )
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::seen(
            &["cpus.hw", "cpus.nmi", "cpus.irq", "cpus.softirq", "cpus.thread"],
            &["ftrace:osnoise", "osnoise:osnoise_sample"],
        )
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::between(&["cpus.available_percent"], &["ftrace:osnoise", "osnoise:osnoise_sample"])
    },
    Needs {
        tasks: KnownPart::Whole,
        ..Needs::seen(&["cpus.contexts", "cpus.unfinished"], &["ftrace:timerlat", "osnoise:timerlat_sample"])
    },
    Needs { tasks: KnownPart::Whole, ..Needs::seen(&["interferences.times"], &["osnoise:*_noise"]) },
];

/// Durations by cause.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceDurations(Map<NoiseSource, Durations>);

impl SourceDurations {
    pub(super) fn add(&mut self, noise: &Noise) {
        match self.0.get_mut(&noise.source) {
            Some(durations) => durations.add(noise.duration),
            None => self.0.entry(noise.source.clone()).or_default().add(noise.duration),
        }
    }

    /// The most time first.
    pub(super) fn sorted(self) -> Vec<(NoiseSource, Durations)> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by(|(a, of_a), (b, of_b)| (Reverse(of_a.total()), a).cmp(&(Reverse(of_b.total()), b)));
        all
    }
}

/// Interferences of a CPU since a moment, the latest [`KEPT`] of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Since {
    pub(super) kept: VecDeque<Noise>,
    /// True if there were more, or events were lost.
    pub(super) partial: bool,
}

/// Interferences kept of a CPU.
const KEPT: usize = 4096;

impl Since {
    pub(super) fn push(&mut self, noise: Noise) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
            self.partial = true;
        }
        self.kept.push_back(noise);
    }

    pub(super) fn lose(&mut self) {
        self.partial = true;
    }
}
