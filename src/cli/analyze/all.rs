//! `rtrace analyze all`.

use super::answers::{self, Finding, Found, Question};
use super::{FileArgs, faults, functions, io, irq, locks, memory, osnoise, sched, syscalls, timerlat};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::Input;
use anyhow::anyhow;
use rtrace::analysis::Together;
use serde_json::{Map, Value, json};

/// All analyses of what was recorded, in one pass
///
/// Everything that the others of `analyze` say, one after the other; what was not recorded is named.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// Number of rows in a table; 0 for all [default: 20; all with --json]
    #[arg(long, alias = "limit", value_name = "N")]
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

/// Asks all questions in one pass: for each of them its module, and a name for its findings.
macro_rules! ask {
    ($args:ident, $events:ident: $($question:ident $found:ident),*) => {{
        let input = &$events.inputs[0];
        $(let ($question, mut $found) = ($question::Args::with_top($args.top), Vec::new());)*
        let all = ($($question.analysis(input),)*);
        let all = Together::new(input.trace.formats(), input.trace.abi, all);
        for (place, findings) in answers::answers($events, all)? {
            let ($($question,)*) = findings;
            $($found.extend($question.map(|finding| (place, finding)));)*
        }
        vec![$($args.answer(&$question, input, answers::found::<$question::Args>(input, $found))?),*]
    }};
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    args.file.print(|events, out| {
        let input = &events.inputs[0];
        let answers = ask! {
            args, events:
            sched of_sched,
            irq of_irq,
            syscalls of_syscalls,
            io of_io,
            functions of_functions,
            locks of_locks,
            memory of_memory,
            faults of_faults,
            osnoise of_osnoise,
            timerlat of_timerlat
        };
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
fn document(input: &Input, answers: Vec<Answer>) -> Value {
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
