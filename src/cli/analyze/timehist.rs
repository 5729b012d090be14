//! `rtrace analyze sched --timehist`: rows are written while the events are read.

use super::answers::{AnswerPlace, Form, Question, lacking};
use super::sched::{AnalyzeSchedArgs, SchedRowArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{ClockUnit, QueryInput};
use rtrace::analysis::{CpuStay, LossSpellFinder, TimeHistory};
use rtrace::internal::answers::{ALL_COLUMNS, quoted};
use serde_json::json;
use std::io::Write;
use std::ops::ControlFlow;

/// Characters of a line with all columns.
const WIDTH: usize = 94;

const COLUMNS: &str = "buffer,time,cpu,comm,tid,pid,wait,delay,run,preempted";

pub(super) fn run(args: &AnalyzeSchedArgs) -> Result<Exit, Failure> {
    let form = args.shown().form();
    let is_narrow = args.shown().style(ClockUnit::Ticks).width.is_some_and(|width| width < WIDTH);
    let _pager = args.shown().pager.start();
    args.shown().file.print(|events, out| {
        let input = &events.inputs[0];
        let history = TimeHistory::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        if !history.has_events() {
            return Err(lacking::<AnalyzeSchedArgs>(input));
        }
        let sources = events.query.sources();
        let mut lines = TimehistLines { rows: &args.rows, form, input, is_narrow, written: 0, of_buffer: 0 };
        let mut stays = 0u64;
        for source in sources {
            let place = AnswerPlace::of(events, source)?;
            let query = events.query.clone().of_sources(vec![source.clone()]);
            // Rows are written before a later event tells that others were lost.
            let (spells, _) =
                query.analyse(LossSpellFinder).map_err(|error| Failure::from(anyhow::Error::new(error)))?;
            let mut history = history.clone().covering(&place.limits.coverage).losing(spells);
            lines.of_buffer = 0;
            let mut resolved = query.resolve().map_err(|error| Failure::from(anyhow::Error::new(error)))?;
            resolved.walk(|current| {
                if let Some(stay) = history.record(&current.record()) {
                    stays += 1;
                    lines.row(&place, &stay, out)?;
                }
                Ok::<_, Failure>(ControlFlow::Continue(()))
            })?;
            if form == Form::Json && lines.of_buffer > 0 {
                write!(out, "]}}")?;
            }
        }
        if stays == 0 {
            return Err(args.nothing(input));
        }
        lines.end(&input.path.to_string_lossy(), out)
    })
}

/// The rows that are written.
struct TimehistLines<'a> {
    rows: &'a SchedRowArgs,
    input: &'a QueryInput,
    form: Form,
    /// True if lines have no room for the delay.
    is_narrow: bool,
    /// Number of rows, in all and of this buffer.
    written: u64,
    of_buffer: u64,
}

impl TimehistLines<'_> {
    fn row(&mut self, place: &AnswerPlace<'_>, stay: &CpuStay<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        let comm = match (stay.pid.0, stay.comm) {
            (0, _) => "<idle>".to_owned(),
            (_, []) => place.comm(stay.pid).unwrap_or_default(),
            (_, comm) => String::from_utf8_lossy(comm).into_owned(),
        };
        if !self.rows.chooses(stay.pid, || comm.clone()) {
            return Ok(());
        }
        let process = self.input.recording.tgid(stay.pid);
        let CpuStay { at, cpu, pid, wait, delay, run, preempted, .. } = *stay;
        match self.form {
            Form::Text | Form::Markdown => {
                if self.of_buffer == 0 {
                    self.heading(place, out)?;
                }
                let time = |time: Option<u64>| time.map_or_else(|| "-".to_owned(), |time| place.unit.long(time));
                let process =
                    process.filter(|process| *process != pid).map_or_else(String::new, |pid| format!("/{pid}"));
                let task = if pid.0 == 0 { comm } else { format!("{comm}[{pid}{process}]") };
                let (wait, run) = (time(wait), time(run));
                let (at, delay) = (place.unit.point(at), self.delay_cell(&time(delay)));
                writeln!(out, "{at:>19}  {:>3}  {task:<24}  {wait:>11}{delay}  {run:>11}", cpu.0)?;
            }
            Form::Csv => {
                if self.written == 0 {
                    writeln!(out, "{COLUMNS}")?;
                }
                let time = |time: Option<u64>| time.map_or_else(String::new, |time| time.to_string());
                let preempted = preempted.map_or("", |preempted| if preempted { "true" } else { "false" });
                let (buffer, comm) = (quoted(place.buffer), quoted(&comm));
                let process = process.map_or_else(String::new, |process| process.to_string());
                let (wait, delay, run) = (time(wait), time(delay), time(run));
                writeln!(out, "{buffer},{at},{},{comm},{pid},{process},{wait},{delay},{run},{preempted}", cpu.0)?;
            }
            Form::Json => {
                if self.of_buffer == 0 {
                    let before = if self.written == 0 { OPENING } else { ",\n" };
                    let [buffer, clock, unit] = [place.buffer, place.clock, place.unit.name()].map(|text| json!(text));
                    write!(out, "{before}{{\"buffer\": {buffer}, \"clock\": {clock}, \"unit\": {unit}, \"rows\": [")?;
                }
                let row = json!({
                    "time": at,
                    "cpu": cpu.0,
                    "comm": comm,
                    "tid": pid.0,
                    "pid": process.map(|process| process.0),
                    "wait": wait,
                    "delay": delay,
                    "run": run,
                    "preempted": preempted,
                });
                write!(out, "{}\n{row}", if self.of_buffer == 0 { "" } else { "," })?;
            }
        }
        self.written += 1;
        self.of_buffer += 1;
        Ok(())
    }

    fn heading(&self, place: &AnswerPlace<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        if self.written > 0 {
            writeln!(out)?;
        }
        if !place.buffer.is_empty() {
            writeln!(out, "Instance: {}", place.buffer)?;
        }
        if self.is_narrow {
            writeln!(out, "(sch delay left out; {ALL_COLUMNS})")?;
        }
        for limit in place.limits.sentences(|event| event.system == "sched") {
            writeln!(out, "Note: {limit}")?;
        }
        let unit = place.unit.long_name();
        let [wait, delay, run] = ["wait", "sch delay", "run"].map(|name| format!("{name} {unit}"));
        let delay = self.delay_cell(&delay);
        Ok(writeln!(out, "{:>19}  {:>3}  {:<24}  {wait:>11}{delay}  {run:>11}", "TIME", "CPU", "TASK[tid/pid]")?)
    }

    /// The delay of a line, where there is room for it.
    fn delay_cell(&self, delay: &str) -> String {
        if self.is_narrow { String::new() } else { format!("  {delay:>11}") }
    }

    /// Ends the document; without rows it is one all the same.
    fn end(&self, path: &str, out: &mut dyn Write) -> Result<(), Failure> {
        match self.form {
            Form::Json => {
                let opening = if self.written == 0 { OPENING } else { "" };
                writeln!(out, "{opening}\n], \"file\": {}}}", json!(path))?;
            }
            Form::Csv if self.written == 0 => writeln!(out, "{COLUMNS}")?,
            Form::Csv | Form::Text | Form::Markdown => {}
        }
        Ok(())
    }
}

const OPENING: &str = "{\"schema\": \"rtrace.analyze.timehist\", \"version\": 1, \"buffers\": [\n";
