//! `rtrace flame`.

use super::analyze::words;
use super::coverage;
use super::damage::DamageReport;
use super::exit::{Exit, Failure, print};
use super::query::{QueryArgs, QueryEvents, QueryInput, SelectArgs, stack_buffers};
use super::terminal::{note, stdout, stdout_is_terminal};
use super::trace_file::{OutputFile, Overwrite, mode_like};
use super::user_symbols;
use anyhow::{Context, anyhow};
use rtrace::events::EventName;
use rtrace::export::{FlameGraph, FlameUnit, Folded, OffCpu};
use rtrace::recording::{Notice, OutputDependence};
use rtrace::units::{Pid, counted};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Endings of files that are no picture of ours.
const OTHER_FORMS: [&str; 8] = ["pdf", "png", "jpg", "jpeg", "gif", "json", "html", "txt"];

/// Draw a flame graph of call stacks: time in functions, samples, or time off the CPU
///
/// A picture (SVG) that browsers open: a click on a frame zooms in, "search" marks names. With function_graph each frame is
/// as wide as its time; without, as the number of its stack traces. `rtrace help convert` says what its lines are.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace record -p function_graph -e sched:sched_switch --duration 2; rtrace flame
  rtrace record --for offcpu -- make; rtrace flame --off-cpu --wakers --comm make
  rtrace flame run.dat -o make.svg --comm make --since -1s
  rtrace flame run.dat -o run.folded                       the lines, for other programs")]
pub(crate) struct FlameArgs {
    /// Recordings; several are merged by time [default: trace.dat]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Picture to write, or folded lines if it ends in .folded; `-` is standard output [default: FILE's name with .svg]
    #[arg(short, long, value_name = "OUT", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Time off the CPU, from sched:sched_switch and the stacks right after it
    #[arg(long)]
    off_cpu: bool,
    /// Join the stack of who woke the task, after `--`
    #[arg(long, requires = "off_cpu")]
    wakers: bool,
    /// Look for the programs and libraries that name stacks of user space below DIR
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, hide_short_help = true)]
    symfs: Option<PathBuf>,
    /// Words above the picture [default: of what and which file it is]
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    title: Option<String>,
    /// Say what was drawn as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    events: QueryArgs,
}

impl FlameArgs {
    /// The file to write.
    fn output(&self, first: &Path) -> PathBuf {
        match &self.output {
            Some(output) => output.clone(),
            // Where it is, the directory may be one that nothing is to be put into.
            None => PathBuf::from(first.with_extension("svg").file_name().unwrap_or_default()),
        }
    }

    /// The choice of events, for the time off the CPU one of all tasks.
    fn query(&self) -> Result<QueryArgs, Failure> {
        if !self.off_cpu {
            return Ok(self.events.clone());
        }
        let (events, _) = self.events.of_all_tasks();
        if events.by_content() {
            let error = anyhow!("time off the CPU needs all switches and the stacks right after them");
            return Err(
                Failure::new(Exit::Usage, error).hint("--comm and --pid choose tasks, --since and --until a time.")
            );
        }
        Ok(events)
    }

    fn draw(&self, events: &QueryEvents<'_>, output: &Path) -> Result<Picture, Failure> {
        let lines = match self.off_cpu {
            true => FoldedLines::off_cpu(events, self.events.of_all_tasks().1, self.wakers)?,
            false => FoldedLines::folded(events)?,
        };
        if lines.are_of_nothing()
            && let Some(reason) = self.events.nothing(events.inputs)?
        {
            return Err(Failure::new(Exit::Failed, anyhow!(reason)));
        }
        if lines.text.is_empty() {
            return Err(lines.nothing(has_switches(events)));
        }
        if matches!(lines.unit, FlameUnit::Count(_)) && has_switches(events) {
            note!(
                "rtrace: frames are as wide as the number of stacks; `--off-cpu` draws the time that tasks were off the CPU"
            );
        }
        if !lines.has_stacks {
            note!(
                "rtrace: no stack was recorded: each task is a bar of its time off the CPU\n  \
                 Hint: `rtrace record --for offcpu` records the stacks that tasks leave the CPU with."
            );
        }
        if output.extension().is_some_and(|ending| ending == "folded") {
            let (stacks, words) = (lines.stacks(), format!("{} lines", lines.count()));
            return Ok(Picture { bytes: lines.text, subject: lines.subject, stacks, words, left_out: lines.left_out });
        }
        let names: Vec<String> = events.inputs.iter().map(QueryInput::label).collect();
        let title = self.title.clone().unwrap_or_else(|| format!("{} of {}", lines.subject, names.join(", ")));
        let (mut svg, mut left_out) = (String::new(), lines.left_out.clone());
        let drawn = FlameGraph { title, unit: lines.unit }.draw(&lines.text, &mut svg);
        if drawn.narrow > 0 {
            left_out.push(format!("{} narrower than a tenth of a pixel", counted(drawn.narrow, "frame")));
        }
        let words = match lines.has_stacks {
            true => format!("{} of {}", lines.subject, counted(lines.count(), "stack")),
            false => format!("{} by task, without stacks", lines.subject),
        };
        Ok(Picture { bytes: svg.into_bytes(), subject: lines.subject, stacks: lines.stacks(), words, left_out })
    }
}

pub(crate) fn run(args: &FlameArgs) -> Result<Exit, Failure> {
    let default = [PathBuf::from("trace.dat")];
    let paths = if args.files.is_empty() { &default[..] } else { &args.files };
    let output = args.output(&paths[0]);
    let to_stdout = output == Path::new("-");
    if to_stdout && args.json {
        let failure = Failure::new(Exit::Usage, anyhow!("the picture and `--json` cannot both go to standard output"));
        return Err(failure.hint("`-o FILE` names a file."));
    }
    if let Some(ending) = output.extension().and_then(|ending| ending.to_str()).filter(|one| OTHER_FORMS.contains(one))
    {
        let failure = Failure::new(Exit::Usage, anyhow!("a flame graph is not written as .{ending}"));
        return Err(failure.hint(
            "`-o NAME.svg` is a picture, `-o NAME.folded` its lines; `rtrace convert --to speedscope` and `--to html` make others.",
        ));
    }
    if !to_stdout {
        args.overwrite.check(&output)?;
    } else if stdout_is_terminal() {
        let failure = Failure::new(Exit::Usage, anyhow!("a picture is not written to a terminal"));
        return Err(failure.hint("`-o FILE` names a file."));
    }
    let mut inputs = paths.iter().map(|path| QueryInput::open(path, None, false)).collect::<Result<Vec<_>, _>>()?;
    let damage = DamageReport::default();
    for input in &mut inputs {
        damage.opened(&input.path, &input.trace);
        user_symbols::add(input, args.symfs.clone(), &damage);
    }
    let done = write(args, &inputs, &output, to_stdout, &damage);
    for input in &inputs {
        damage.late(&input.path, &input.recording);
        user_symbols::tell(input);
    }
    damage.outcome(done)
}

fn write(
    args: &FlameArgs,
    inputs: &[QueryInput],
    output: &Path,
    to_stdout: bool,
    damage: &DamageReport,
) -> Result<(), Failure> {
    let notice = |notice: Notice<'_>| damage.notice(|recording| &inputs[recording].path, &notice);
    let query = args.query()?;
    let events = QueryEvents::new(inputs, query.query(inputs, OutputDependence::Needless, &notice)?)?;
    let picture = args.draw(&events, output)?;
    if to_stdout {
        let mut out = stdout();
        out.write_all(&picture.bytes)?;
        out.flush()?;
        note!("rtrace: {}", picture.summary("standard output"));
        return Ok(());
    }
    let mode = inputs.iter().map(|input| mode_like(&input.path)).fold(0o666, |mode, of| mode & of);
    let (made, mut file) = OutputFile::new(output, mode, args.overwrite)?;
    file.write_all(&picture.bytes).with_context(|| format!("failed to write {}", output.display()))?;
    made.keep()?;
    if args.json {
        return print(&format!("{:#}\n", picture.json(output))).map(drop);
    }
    if args.output.is_none() && !stdout_is_terminal() {
        note!(
            "rtrace: the picture is in {}; `-o -` writes it to standard output, `rtrace convert --to folded FILE -o -` its lines",
            output.display()
        );
    }
    print(&format!("{}\n", picture.summary(&output.display().to_string()))).map(drop)
}

/// The flame graph of the events' call stacks, and its name; `None` without any.
pub(crate) fn picture(events: &QueryEvents<'_>) -> Result<Option<(String, String)>, Failure> {
    let lines = FoldedLines::folded(events)?;
    if lines.text.is_empty() {
        return Ok(None);
    }
    let title = format!("Flame graph: {}", lines.subject);
    let mut svg = String::new();
    FlameGraph { title: title.clone(), unit: lines.unit }.draw(&lines.text, &mut svg);
    Ok(Some((title, svg)))
}

/// Folded lines.
pub(crate) struct FoldedLines {
    pub(crate) text: Vec<u8>,
    pub(crate) unit: FlameUnit,
    /// The subject of their numbers, as `time`.
    pub(crate) subject: &'static str,
    left_out: Vec<String>,
    off_cpu: bool,
    of_some_tasks: bool,
    has_stacks: bool,
}

impl FoldedLines {
    /// The time of functions; without function_graph, the number of stack traces.
    pub(crate) fn folded(events: &QueryEvents<'_>) -> Result<Self, Failure> {
        let mut text = Vec::new();
        let (state, _) = events.export(&Folded::new(stack_buffers(events)), &mut text)?;
        let unfolded = state.unfolded();
        let left_out = words::left_out(&[
            (unfolded.others, "event", "that say nothing of call stacks"),
            (unfolded.stacks, "stack trace", "beside function_graph's times"),
            (unfolded.returns, "return", "from functions that were entered before"),
        ]);
        let (unit, subject) = match state.is_time() {
            true => (FlameUnit::Time, "time in functions"),
            false => (FlameUnit::Count("stacks"), "stack traces"),
        };
        Ok(FoldedLines { text, unit, subject, left_out, off_cpu: false, of_some_tasks: false, has_stacks: true })
    }

    /// The time off the CPU.
    fn off_cpu(events: &QueryEvents<'_>, of: &SelectArgs, wakers: bool) -> Result<Self, Failure> {
        let mut text = Vec::new();
        let pids = of.pids().iter().copied().map(Pid).collect();
        let exporter = OffCpu::new(stack_buffers(events)).of_tasks(pids, of.comms().to_vec());
        let exporter = if wakers { exporter.with_wakers() } else { exporter };
        let (state, _) = events.export(&exporter, &mut text)?;
        let uncounted = state.uncounted();
        let left_out = words::left_out(&[
            (uncounted.others, "event", "that are neither switches nor their stacks"),
            (uncounted.across_losses, "time", "off the CPU across lost events"),
            (uncounted.unended, "time", "off the CPU that had not ended"),
            (uncounted.without_waker, "waker", "of whom no event tells"),
        ]);
        let limits = limits(events, wakers).into_iter().map(|limit| format!("what was not recorded ({limit})"));
        let left_out = left_out.into_iter().chain(limits).collect();
        let (unit, subject, has_stacks) = (FlameUnit::Time, "time off the CPU", state.has_stacks());
        let of_some_tasks = !of.pids().is_empty() || !of.comms().is_empty();
        Ok(FoldedLines { text, unit, subject, left_out, off_cpu: true, of_some_tasks, has_stacks })
    }

    /// Number of lines.
    fn count(&self) -> u64 {
        self.text.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Number of stacks.
    fn stacks(&self) -> u64 {
        if self.has_stacks { self.count() } else { 0 }
    }

    /// True if no event was selected at all.
    fn are_of_nothing(&self) -> bool {
        self.text.is_empty() && self.left_out.is_empty()
    }

    /// The failure if there are none.
    fn nothing(&self, has_switches: bool) -> Failure {
        if self.off_cpu {
            let failure = Failure::new(Exit::Failed, anyhow!("no task leaves its CPU and comes back in these events"));
            if self.of_some_tasks {
                return failure
                    .hint("no task that --comm or --pid choose does; `rtrace analyze sched` lists the tasks.");
            }
            return failure
                .hint("`rtrace record -e sched:sched_switch -R stacktrace` records switches with their stacks.");
        }
        no_stacks(has_switches)
    }
}

/// The failure if events hold no call stacks; with switches of tasks another picture can be drawn.
pub(crate) fn no_stacks(has_switches: bool) -> Failure {
    let failure = Failure::new(Exit::Failed, anyhow!("these events hold no call stacks"));
    let failure = match has_switches {
        true => failure.hint(
            "`rtrace flame --off-cpu FILE -o OUT.svg` draws how long each task was off the CPU, which needs no stacks.",
        ),
        false => failure,
    };
    failure
            .hint(
                "`rtrace record --for offcpu`, then `rtrace flame --off-cpu`, shows where tasks wait, on every kernel.",
            )
            .hint("stacks of user space are drawn by their names: `rtrace record -e EVENT -O userstacktrace --proc-map` stores the maps.")
            .hint("`rtrace record -p function_graph` records the time of functions, if `rtrace list -t` has it.")
            .hint("`rtrace record -e EVENT -R stacktrace` records a stack at each EVENT.")
}

/// The limits of recordings that matter to times off the CPU, and to `wakers` with them; each once.
fn limits(events: &QueryEvents<'_>, wakers: bool) -> BTreeSet<String> {
    let reads = |event: &EventName| {
        event.system == "sched" && (event.name == "sched_switch" || wakers && event.name == "sched_waking")
    };
    let buffers =
        events.inputs.iter().flat_map(|input| input.trace.buffers.iter().map(|buffer| (&input.trace, buffer)));
    buffers.flat_map(|(trace, buffer)| coverage::limits(trace, &buffer.name, reads)).collect()
}

/// True if tasks that leave their CPUs were recorded.
pub(crate) fn has_switches(events: &QueryEvents<'_>) -> bool {
    let switch = EventName::new("sched", "sched_switch");
    events.inputs.iter().any(|input| {
        let mut enabled = input.trace.buffers.iter().filter_map(|buffer| input.trace.coverage(buffer).events);
        enabled.any(|enabled| enabled.events.iter().any(|(event, _)| *event == switch))
    })
}

/// The bytes to write, and what is said of them.
struct Picture {
    bytes: Vec<u8>,
    /// The quantity that the frames are as wide as.
    subject: &'static str,
    /// Number of different stacks.
    stacks: u64,
    words: String,
    left_out: Vec<String>,
}

impl Picture {
    fn summary(&self, name: &str) -> String {
        let left_out = if self.left_out.is_empty() { "nothing".to_owned() } else { self.left_out.join(", ") };
        format!("{name}: {}; left out: {left_out}", self.words)
    }

    /// Schema `rtrace.flame`, version 1.
    fn json(&self, output: &Path) -> Value {
        json!({
            "schema": "rtrace.flame", "version": 1, "output": output.to_string_lossy(), "subject": self.subject,
            "stacks": self.stacks, "bytes": self.bytes.len(), "left_out": self.left_out,
        })
    }
}
