//! `rtrace analyze all`.

use super::answers::{self, Finding, Found, Question};
use super::{FileArgs, faults, functions, io, irq, locks, memory, sched, syscalls};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use anyhow::anyhow;
use rtrace::analysis::{Both, Perhaps};
use serde_json::{Map, Value, json};

/// All analyses of what was recorded, in one pass
///
/// What `analyze sched`, `irq`, `syscalls`, `io`, `functions`, `locks`, `memory` and `faults` say, one after the other; what was
/// not recorded is named.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// Number of rows in a table; 0 for all [default: 20; all with --json]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// The answer to a question, ready to be written.
struct Answer {
    name: &'static str,
    /// `None` if it was not recorded.
    content: Option<Content>,
}

enum Content {
    Text(Vec<u8>),
    Json(Value),
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let sched = sched::Args::with_top(args.top);
    let irq = irq::Args::with_top(args.top);
    let syscalls = syscalls::Args::with_top(args.top);
    let io = io::Args::with_top(args.top);
    let functions = functions::Args::with_top(args.top);
    let locks = locks::Args::with_top(args.top);
    let memory = memory::Args::with_top(args.top);
    let faults = faults::Args::with_top(args.top);
    args.file.print(|events, out| {
        let input = &events.inputs[0];
        let tasks = Both(Perhaps(sched.analysis(input)), Perhaps(irq.analysis(input)));
        let calls = Both(Perhaps(syscalls.analysis(input)), Perhaps(io.analysis(input)));
        let kernel = Both(Perhaps(functions.analysis(input)), Perhaps(locks.analysis(input)));
        let pages = Both(Perhaps(memory.analysis(input)), Perhaps(faults.analysis(input)));
        let (mut of_sched, mut of_irq, mut of_syscalls, mut of_io) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut of_functions, mut of_locks) = (Vec::new(), Vec::new());
        let (mut of_memory, mut of_faults) = (Vec::new(), Vec::new());
        let all = Both(Both(tasks, calls), Both(kernel, pages));
        for (place, (((a, b), (c, d)), ((e, f), (g, h)))) in answers::answers(events, all)? {
            of_sched.extend(a.map(|found| (place, found)));
            of_irq.extend(b.map(|found| (place, found)));
            of_syscalls.extend(c.map(|found| (place, found)));
            of_io.extend(d.map(|found| (place, found)));
            of_functions.extend(e.map(|found| (place, found)));
            of_locks.extend(f.map(|found| (place, found)));
            of_memory.extend(g.map(|found| (place, found)));
            of_faults.extend(h.map(|found| (place, found)));
        }
        let answers = [
            args.answer(&sched, input, answers::found::<sched::Args>(input, of_sched))?,
            args.answer(&irq, input, answers::found::<irq::Args>(input, of_irq))?,
            args.answer(&syscalls, input, answers::found::<syscalls::Args>(input, of_syscalls))?,
            args.answer(&io, input, answers::found::<io::Args>(input, of_io))?,
            args.answer(&functions, input, answers::found::<functions::Args>(input, of_functions))?,
            args.answer(&locks, input, answers::found::<locks::Args>(input, of_locks))?,
            args.answer(&memory, input, answers::found::<memory::Args>(input, of_memory))?,
            args.answer(&faults, input, answers::found::<faults::Args>(input, of_faults))?,
        ];
        if answers.iter().all(|answer| answer.content.is_none()) {
            let error = anyhow!("{} holds nothing to analyse in this window", input.path.display());
            let hint = "`rtrace record --for sched,irq,syscalls,io` records what is needed.";
            return Err(Failure::new(Exit::Failed, error).hint(hint));
        }
        if args.json {
            return Ok(writeln!(out, "{:#}", document(input, answers))?);
        }
        for (number, answer) in answers.into_iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            let name = answer.name;
            match answer.content {
                Some(Content::Text(text)) => {
                    writeln!(out, "== {name}")?;
                    out.write_all(&text)?;
                }
                _ => writeln!(out, "== {name}: not recorded (`rtrace record --for {name}`)")?,
            }
        }
        Ok(())
    })
}

impl Args {
    fn answer<Q: Question>(
        &self,
        question: &Q,
        input: &Input,
        found: Vec<Found<'_, Finding<Q>>>,
    ) -> Result<Answer, Failure> {
        let content = match (found.as_slice(), self.json) {
            ([], _) => None,
            (found, true) => Some(Content::Json(answers::document(question, input, found))),
            (found, false) => {
                let mut text = Vec::new();
                answers::each(question, found, &mut text)?;
                Some(Content::Text(text))
            }
        };
        Ok(Answer { name: Q::PURPOSE, content })
    }
}

/// The documents of the analyses by name; null for what was not recorded.
fn document(input: &Input, answers: [Answer; 8]) -> Value {
    let document = |answer: Answer| match answer.content {
        Some(Content::Json(document)) => (answer.name.to_owned(), document),
        _ => (answer.name.to_owned(), Value::Null),
    };
    json!({
        "schema": "rtrace.analyze.all",
        "version": 1,
        "file": input.path.to_string_lossy(),
        "analyses": answers.into_iter().map(document).collect::<Map<_, _>>(),
    })
}
