//! `rtrace analyze all`.

use super::FileArgs;
use super::answers::{self, AnalysisAnswer, Question, QuestionFinding};
use super::faults::AnalyzeFaultsArgs;
use super::functions::AnalyzeFunctionsArgs;
use super::io::AnalyzeIoArgs;
use super::irq::AnalyzeIrqArgs;
use super::locks::AnalyzeLocksArgs;
use super::memory::AnalyzeMemoryArgs;
use super::osnoise::AnalyzeOsnoiseArgs;
use super::sched::AnalyzeSchedArgs;
use super::syscalls::AnalyzeSyscallsArgs;
use super::timerlat::AnalyzeTimerlatArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use anyhow::anyhow;
use rtrace::analysis::Together;
use rtrace::internal::trace_dat::Coverage;
use serde_json::{Map, Value, json};

/// All analyses of what was recorded, in one pass
///
/// Everything that the others of `analyze` say, one after the other; what was not recorded is named.
#[derive(clap::Args)]
pub(super) struct AnalyzeAllArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Number of rows in a table; 0 for all [default: 20; all with --json]
    #[arg(long, alias = "limit", value_name = "N")]
    top: Option<usize>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// The answer of one analysis, ready to be written.
struct AnalysisSection {
    name: &'static str,
    /// `None` if it was not recorded.
    content: Option<AnalysisSectionContent>,
}

enum AnalysisSectionContent {
    Text(Vec<u8>),
    Json(Value),
}

/// Asks all questions in one pass: for each of them its arguments, a name for it, and one for its findings.
macro_rules! ask {
    ($args:ident, $events:ident: $($args_of:ident $question:ident $found:ident),*) => {{
        let input = &$events.inputs[0];
        $(let ($question, mut $found) = ($args_of::with_top($args.top), Vec::new());)*
        let all = ($($question.analysis(input),)*);
        let all = |coverage: &Coverage| {
            let ($($question,)*) = all.clone();
            let covering = ($($question.map(|one| $args_of::covering(one, coverage)),)*);
            Together::new(input.trace.formats(), input.trace.abi, covering)
        };
        for (place, findings) in answers::answers($events, all)? {
            let ($($question,)*) = findings;
            $($found.extend($question.map(|finding| (place.clone(), finding)));)*
        }
        vec![$($args.answer(&$question, input, answers::found::<$args_of>(input, $found))?),*]
    }};
}

pub(super) fn run(args: &AnalyzeAllArgs) -> Result<Exit, Failure> {
    args.file.print(|events, out| {
        let input = &events.inputs[0];
        let answers = ask! {
            args, events:
            AnalyzeSchedArgs sched of_sched,
            AnalyzeIrqArgs irq of_irq,
            AnalyzeSyscallsArgs syscalls of_syscalls,
            AnalyzeIoArgs io of_io,
            AnalyzeFunctionsArgs functions of_functions,
            AnalyzeLocksArgs locks of_locks,
            AnalyzeMemoryArgs memory of_memory,
            AnalyzeFaultsArgs faults of_faults,
            AnalyzeOsnoiseArgs osnoise of_osnoise,
            AnalyzeTimerlatArgs timerlat of_timerlat
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
                Some(AnalysisSectionContent::Text(text)) => {
                    writeln!(out, "== {name}")?;
                    out.write_all(&text)?;
                }
                _ => writeln!(out, "== {name}: not recorded (`rtrace record --for {name}`)")?,
            }
        }
        Ok(())
    })
}

impl AnalyzeAllArgs {
    fn answer<Q: Question>(
        &self,
        question: &Q,
        input: &QueryInput,
        found: Vec<AnalysisAnswer<'_, QuestionFinding<Q>>>,
    ) -> Result<AnalysisSection, Failure> {
        let content = match (found.as_slice(), self.json) {
            ([], _) => None,
            (found, true) => Some(AnalysisSectionContent::Json(answers::document(question, input, found))),
            (found, false) => {
                let mut text = Vec::new();
                answers::each(question, found, &mut text)?;
                Some(AnalysisSectionContent::Text(text))
            }
        };
        Ok(AnalysisSection { name: Q::PURPOSE, content })
    }
}

/// The documents of the analyses by name; null for what was not recorded.
fn document(input: &QueryInput, answers: Vec<AnalysisSection>) -> Value {
    let document = |answer: AnalysisSection| match answer.content {
        Some(AnalysisSectionContent::Json(document)) => (answer.name.to_owned(), document),
        _ => (answer.name.to_owned(), Value::Null),
    };
    json!({
        "schema": "rtrace.analyze.all",
        "version": 1,
        "file": input.path.to_string_lossy(),
        "analyses": answers.into_iter().map(document).collect::<Map<_, _>>(),
    })
}
