//! Slots of a cache, several per CPU: CPUs that alternate do not evict each other's entries.

/// Values by CPU and hash. It grows with the CPUs that are seen.
#[derive(Clone, Debug)]
pub(super) struct Slots<T> {
    /// None yet, or a power of two: those of a CPU lie together.
    slots: Vec<T>,
    /// A CPU has two to the power of this.
    bits: u32,
}

/// The fewest slots of all CPUs together, and of one CPU.
const LEAST: usize = 512;
const LEAST_OF_CPU: usize = 16;
/// CPUs beyond these share slots: an absurd number must not fill the memory.
const MOST_CPUS: usize = 1024;

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { slots: Vec::new(), bits: 0 }
    }
}

impl<T: Copy> Slots<T> {
    /// The slot of a CPU and a hash, of which the lowest bits count, if the CPU has been seen.
    #[inline(always)]
    pub(super) fn get(&self, cpu: u32, hash: usize) -> Option<&T> {
        self.slots.get(self.at(cpu, hash))
    }

    /// Puts `value` there; slots that are made for that are `empty`.
    pub(super) fn put(&mut self, cpu: u32, hash: usize, value: T, empty: T) {
        if self.at(cpu, hash) >= self.slots.len() {
            let cpus = (cpu as usize % MOST_CPUS).saturating_add(1).next_power_of_two();
            let of_cpu = LEAST.checked_div(cpus).unwrap_or_default().max(LEAST_OF_CPU);
            self.bits = of_cpu.ilog2();
            self.slots.clear();
            self.slots.resize(cpus.saturating_mul(of_cpu), empty);
        }
        let at = self.at(cpu, hash);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = value;
        }
    }

    /// All of them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut()
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    #[inline(always)]
    fn at(&self, cpu: u32, hash: usize) -> usize {
        let first = (cpu as usize % MOST_CPUS) << self.bits;
        first | hash & !(usize::MAX << self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_do_not_share_slots_until_they_are_absurdly_many() {
        let mut slots = Slots::<usize>::default();
        assert_eq!(slots.get(0, 0), None);
        for cpus in [1, 2, 3, 8, 100, MOST_CPUS] {
            slots.put(cpus as u32 - 1, 7, 0, 0); // grows at once, which empties it
            let hashes = (LEAST / cpus.next_power_of_two()).max(LEAST_OF_CPU);
            let all = || (0..cpus).flat_map(|cpu| (0..hashes).map(move |hash| (cpu as u32, hash)));
            all().for_each(|(cpu, hash)| slots.put(cpu, hash, 1 + cpu as usize * 1000 + hash, 0));
            assert!(all().all(|(cpu, hash)| slots.get(cpu, hash) == Some(&(1 + cpu as usize * 1000 + hash))), "{cpus}");
        }
        slots.put(u32::MAX, usize::MAX, 9, 0);
        assert_eq!(slots.get(MOST_CPUS as u32 - 1, LEAST_OF_CPU - 1), Some(&9));
        assert_eq!(slots.iter_mut().count(), MOST_CPUS * LEAST_OF_CPU);
        slots.clear();
        assert_eq!(slots.get(0, 0), None);
    }
}
