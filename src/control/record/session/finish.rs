//! The end of a recording: its file, and its summary.

use super::{SessionRun, ThreadResults};
use crate::control::record::child::Child;
use crate::control::record::comms::with_saved;
use crate::control::record::ending::{GiveUpAtSignal, end_of, pass_on, restore_beside};
use crate::control::record::error::{RecordError, in_full};
use crate::control::record::limits::Reached;
use crate::control::record::metadata::{AtTheEnd, cgroup_options, mark_offline, marks};
use crate::control::record::proc_maps::ProcMaps;
use crate::control::record::summary::{BufferSummary, CpuSummary, RecordSummary};
use crate::control::record::symbols::{SymbolThread, SymbolizedFile};
use crate::control::record::worker::{Drained, thread_time};
use crate::file::trace_dat::{LatencyResult, UnsavedEvents};
use std::path::Path;

impl SessionRun<'_> {
    /// Notes what was changed of them.
    pub(super) fn note_changes(&mut self) {
        let Some(settings) = self.settings.take() else { return };
        let changes = settings.changes();
        self.buffers.iter_mut().zip(changes).for_each(|(buffer, changes)| buffer.coverage.changes = changes);
    }

    /// The file and, at the same time, tracefs as it was: removing an instance takes the kernel as long as reading its
    /// symbols. Then the command's end. An error does not keep the rest from being done and counted.
    pub(super) fn finish(
        mut self,
        mut child: Option<Child>,
        brought: ThreadResults,
        symbols: SymbolThread,
    ) -> RecordSummary {
        let ThreadResults {
            mut drained,
            comms,
            maps: followed,
            kept,
            mut failures,
            mut timed_out,
            mut threads,
            limit,
            cut_short,
            stopped,
            saves,
            cgroups,
        } = brought;
        let mut error = None;
        self.warn_of_markers();
        // Those that are there were for the recording, and its command.
        pass_on(&self.signals, child.as_mut(), |_| false);
        let watch = self.output.other_end().map(|remote| GiveUpAtSignal::start(&self.signals, remote));
        let removed = self.output.was_removed();
        for drained in drained.iter_mut().flatten() {
            drained.forget_removed(removed, &mut failures);
        }
        let offline = mark_offline(&mut drained, self.online.as_ref());
        let mut buffers = self.summaries(&drained, &mut failures);
        // A limit that the user set is no loss, but for one that others' use of the disk reaches.
        let is_cut = cut_short && limit != Some(Reached::MaxSize) && stopped.is_none()
            || drained.iter().flatten().any(|drained| drained.error.is_some());
        let lost: Vec<UnsavedEvents> = (buffers.iter().zip(&drained))
            .flat_map(|(buffer, drained)| buffer.cpus.iter().zip(drained).map(|found| (&buffer.name, found)))
            .flat_map(|(buffer, (cpu, drained))| marks(buffer, drained, cpu.unread, is_cut))
            .collect();
        for (buffer, drained) in self.buffers.iter_mut().zip(&drained) {
            let shortened = drained.iter().filter(|drained| drained.spool.dropped().bytes > 0);
            buffer.coverage.shortened = shortened.map(|drained| drained.cpu).collect();
        }
        let is_rest = drained.iter().flatten().any(|drained| drained.gone.bytes > 0);
        let spools: Vec<Vec<_>> = drained.into_iter().map(|cpus| cpus.into_iter().map(|d| d.spool).collect()).collect();
        let mut end = AtTheEnd::read(self.journal.tracefs(), &self.buffers, &offline);
        end.options.extend(cgroups.iter().flat_map(cgroup_options));
        let texts = self.buffers.iter().zip(&mut buffers).filter(|(buffer, _)| buffer.is_text).zip(&end.texts);
        for ((_, summary), text) in texts {
            summary.latency = text.as_ref().ok().and_then(|text| LatencyResult::parse(text));
        }
        let mut comms = with_saved(comms, &self.journal.tracefs().saved_cmdlines().unwrap_or_default());
        if let Some(kept) = kept {
            kept.retain(&mut comms);
        }
        self.maps.iter_mut().for_each(ProcMaps::update);
        let named: Vec<&ProcMaps> = self.maps.iter().chain(child.as_mut().and_then(Child::maps)).collect();
        let others = followed.others(&named.iter().map(|map| map.pid()).collect());
        let maps: Vec<&ProcMaps> = others.iter().chain(named).collect();
        if let Some(lack) = followed.lack() {
            self.observer.warn(&lack);
        }
        let renamed = self.output.renamed();
        if let Some(now) = &renamed {
            let then = self.plan.output.display();
            self.observer.warn(&format!("{then} was renamed while it was recorded to: it is {} now", now.display()));
        }
        let (former, mut file_size) = (self.output.former().map(Path::to_owned), 0);
        let (undone, restored) = restore_beside(self.journal, self.plan.keep, || {
            let written = symbols.written();
            if let Some(SymbolizedFile { writer, error, time }) = written {
                self.output.resume(writer);
                failures.extend(error.as_ref().map(|error| in_full(error)));
                threads.push(("symbols", time));
            }
            if removed {
                error = Some(RecordError::Removed(self.plan.output.clone()));
                self.output.give_up(spools.into_iter().flatten());
                return;
            }
            let finished = self.output.finish(&self.buffers, end, (spools, &lost), (&comms, &maps));
            let finished = match finished {
                Ok(_) if self.plan.version6 => self.output.rewrite_as_version6(),
                finished => finished,
            };
            file_size = finished.unwrap_or_else(|failed| {
                error = Some(failed);
                self.output.size()
            });
            if error.is_none()
                && let Some(owner) = self.plan.owner
            {
                failures.extend(self.output.give(owner).err().map(|error| in_full(&error)));
            }
        });
        threads.push(("restore", restored));
        if let Err(undo) = undone {
            match error {
                None => error = Some(undo.into()),
                Some(_) => failures.push(in_full(&undo)),
            }
        }
        for arrived in watch.and_then(Result::ok).map(GiveUpAtSignal::end).into_iter().flatten() {
            if let Some(child) = child.as_mut().filter(|_| arrived.is_for_the_command()) {
                child.send(arrived.number);
            }
        }
        let timeout = self.plan.timeout.map(|timeout| self.since + timeout);
        let command = child.as_mut().and_then(|child| end_of(child, &self.signals, timeout, &mut timed_out));
        threads.insert(0, ("main", thread_time()));
        let untraced = cut_short.then(|| self.since.elapsed().saturating_sub(self.tracing_on));
        RecordSummary {
            output: renamed.unwrap_or_else(|| self.plan.output.clone()),
            is_rest,
            former,
            file_size,
            buffers,
            offline,
            tracing_on: self.tracing_on,
            untraced,
            switched_off: self.switched_off,
            command,
            timed_out,
            limit,
            stopped,
            kept_newest: self.plan.is_ring(),
            saves,
            threads,
            failures,
            error,
        }
    }

    /// The events taken from each ring, and its counters.
    fn summaries(&self, drained: &[Vec<Drained>], failures: &mut Vec<String>) -> Vec<BufferSummary> {
        let mut buffers = Vec::new();
        for (buffer, drained) in self.buffers.iter().zip(drained) {
            let mut cpus = Vec::new();
            for ((cpu, before), drained) in buffer.cpus.iter().zip(drained) {
                let after = buffer.instance.cpu_stats(*cpu).map_err(|error| failures.push(in_full(&error))).ok();
                let ring = buffer.kib_per_cpu.unwrap_or(0) * 1024;
                cpus.push(CpuSummary::new(drained, ring, self.since, before, after.as_ref()));
                failures.extend(drained.error.as_ref().map(ToString::to_string));
            }
            let (name, kib_per_cpu, snapshots) = (buffer.name.clone(), buffer.kib_per_cpu, buffer.snapshots);
            let changes = buffer.coverage.changes.clone();
            buffers.push(BufferSummary { name, kib_per_cpu, cpus, latency: None, snapshots, changes });
        }
        buffers
    }
}
