//! `rtrace analyze all`.

use super::answers::{self, Question};
use super::{FileArgs, io, irq, sched, syscalls};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use anyhow::anyhow;
use rtrace::analysis::{Both, Perhaps};
use serde_json::{Map, Value, json};

/// All analyses of what was recorded, in one pass: sched, irq, syscalls, io
///
/// What `analyze sched`, `irq`, `syscalls` and `io` say, one after the other; what was not recorded is named.
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
    let io = io::Args::default();
    args.file.print(|events, out| {
        let input = &events.inputs[0];
        let tasks = Both(Perhaps(sched.analysis(input)), Perhaps(irq.analysis(input)));
        let calls = Both(Perhaps(syscalls.analysis(input)), Perhaps(io.analysis(input)));
        let (mut of_sched, mut of_irq, mut of_syscalls, mut of_io) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (place, ((a, b), (c, d))) in answers::answers(events, Both(tasks, calls))? {
            of_sched.extend(a.map(|found| (place, found)));
            of_irq.extend(b.map(|found| (place, found)));
            of_syscalls.extend(c.map(|found| (place, found)));
            of_io.extend(d.map(|found| (place, found)));
        }
        let answers = [
            args.answer(&sched, input, answers::found(&sched, input, of_sched))?,
            args.answer(&irq, input, answers::found(&irq, input, of_irq))?,
            args.answer(&syscalls, input, answers::found(&syscalls, input, of_syscalls))?,
            args.answer(&io, input, answers::found(&io, input, of_io))?,
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
    fn answer<Q: Question>(&self, question: &Q, input: &Input, found: Vec<Q::Found<'_>>) -> Result<Answer, Failure> {
        let content = match (found.as_slice(), self.json) {
            ([], _) => None,
            (found, true) => Some(Content::Json(question.document(input, found))),
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
fn document(input: &Input, answers: [Answer; 4]) -> Value {
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
