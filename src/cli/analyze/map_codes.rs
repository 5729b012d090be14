//! Codes of tasks, and lines of them: what all CPUs run at a moment.

use rtrace::units::{CpuId, Pid};
use std::collections::HashMap;

/// A short name for each task, in the order in which they come.
pub(super) struct CodeTable {
    tasks: Vec<Pid>,
    places: HashMap<Pid, usize>,
}

impl CodeTable {
    pub(super) fn of(tasks: impl IntoIterator<Item = Pid>) -> Self {
        let mut table = CodeTable { tasks: Vec::new(), places: HashMap::new() };
        for task in tasks.into_iter().filter(|task| task.0 != 0) {
            let CodeTable { tasks, places } = &mut table;
            places.entry(task).or_insert_with(|| {
                tasks.push(task);
                tasks.len() - 1
            });
        }
        table
    }

    /// The tasks in the order of their codes.
    pub(super) fn tasks(&self) -> impl Iterator<Item = Pid> + '_ {
        self.tasks.iter().copied()
    }

    /// `A0` to `Z0`, then `A1` and so on; `.` of an idle task, `?` of an unknown one.
    pub(super) fn code(&self, task: Option<Pid>) -> String {
        match task {
            None => "?".to_owned(),
            Some(task) => self.places.get(&task).map_or_else(|| ".".to_owned(), |place| code_of(*place)),
        }
    }

    /// Characters of the longest code.
    pub(super) fn width(&self) -> usize {
        self.tasks.len().checked_sub(1).map_or(1, |last| code_of(last).len())
    }
}

fn code_of(place: usize) -> String {
    format!("{}{}", char::from(b'A' + (place % 26) as u8), place / 26)
}

/// Tasks that the CPUs run, a column each.
pub(super) struct MapLine {
    cpus: Vec<(CpuId, String)>,
    width: usize,
}

impl MapLine {
    /// Of CPUs in order; what they run is unknown. Codes have `width` characters at most.
    pub(super) fn of(cpus: impl IntoIterator<Item = CpuId>, width: usize) -> Self {
        let cpus: Vec<_> = cpus.into_iter().map(|cpu| (cpu, "?".to_owned())).collect();
        let numbers = cpus.iter().map(|(cpu, _)| cpu.0.to_string().len()).max().unwrap_or(1);
        MapLine { cpus, width: width.max(numbers) }
    }

    /// The CPUs' numbers above their columns.
    pub(super) fn heading(&self) -> String {
        let numbers = self.cpus.iter().map(|(cpu, _)| format!(" {:<width$}", cpu.0, width = self.width));
        numbers.collect::<Vec<_>>().join(" ").trim_end().to_owned()
    }

    /// From now on the CPU runs the task of this code.
    pub(super) fn change(&mut self, cpu: CpuId, code: String) {
        if let Ok(place) = self.cpus.binary_search_by_key(&cpu, |(cpu, _)| *cpu) {
            self.cpus[place].1 = code;
        }
    }

    /// The line, in which `changed` has changed.
    pub(super) fn draw(&self, changed: CpuId) -> String {
        let column = |(cpu, code): &(CpuId, String)| {
            let mark = if *cpu == changed { '*' } else { ' ' };
            format!("{mark}{code:<width$}", width = self.width)
        };
        self.cpus.iter().map(column).collect::<Vec<_>>().join(" ").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_has_a_code_of_its_own() {
        let table = CodeTable::of((0..600).chain(0..600).map(Pid));
        let codes: std::collections::HashSet<String> = (1..600).map(|pid| table.code(Some(Pid(pid)))).collect();
        assert_eq!(codes.len(), 599);
        let of = |pid| table.code(Some(Pid(pid)));
        assert_eq!([of(0), of(1), of(26), of(27), of(599)].concat(), ".A0Z0A1A23");
        assert_eq!((table.code(None), table.width(), table.tasks().count()), ("?".to_owned(), 3, 599));
    }

    #[test]
    fn columns_stand_below_their_cpus() {
        let mut line = MapLine::of([CpuId(0), CpuId(9), CpuId(10)], 2);
        line.change(CpuId(9), "A0".to_owned());
        line.change(CpuId(4), "B0".to_owned());
        assert_eq!(line.heading(), " 0   9   10");
        assert_eq!(line.draw(CpuId(9)), " ?  *A0  ?");
    }
}
