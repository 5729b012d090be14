//! `rtrace analyze all`.

use super::answers::{self, AnalysisDocument, AnswerArgs, DocumentSize, Found, Question};
use super::cgroups::AnalyzeCgroupsArgs;
use super::faults::AnalyzeFaultsArgs;
use super::file::FileArgs;
use super::functions::AnalyzeFunctionsArgs;
use super::idle::AnalyzeIdleArgs;
use super::io::AnalyzeIoArgs;
use super::irq::AnalyzeIrqArgs;
use super::locks::AnalyzeLocksArgs;
use super::map::AnalyzeMapArgs;
use super::memory::AnalyzeMemoryArgs;
use super::migrations::AnalyzeMigrationsArgs;
use super::net::AnalyzeNetArgs;
use super::osnoise::AnalyzeOsnoiseArgs;
use super::reclaim::AnalyzeReclaimArgs;
use super::requests::AnalyzeRequestsArgs;
use super::sched::AnalyzeSchedArgs;
use super::syscalls::AnalyzeSyscallsArgs;
use super::timerlat::AnalyzeTimerlatArgs;
use super::wakers::AnalyzeWakersArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page_args::{PageArgs, WritePage};
use crate::cli::query::{QueryEvents, QueryInput};
use crate::cli::terminal::PagerArgs;
use anyhow::anyhow;
use rtrace::analysis::Together;
use rtrace::internal::table::ColumnDefinition;
use rtrace::internal::trace_dat::Coverage;
use serde_json::{Map, Value, json};

/// All analyses of what was recorded, in one pass
///
/// Everything that the others of `analyze` say, one after the other, but for wakers, migrations, map and requests; what was not
/// recorded is named.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeAllArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Number of rows in a table; 0 for all [default: 20; with --json as many as 24 KB hold]
    #[arg(long, alias = "limit", value_name = "N")]
    top: Option<usize>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Markdown instead of text, all columns, for a pull request
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// All columns, also where the terminal is too narrow for them
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    wide: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    pager: PagerArgs,
}

/// The answer of one analysis, ready to be written.
struct AnalysisSection {
    name: &'static str,
    /// `None` if it was not recorded.
    content: Option<AnalysisSectionContent>,
}

/// The form of all answers.
#[derive(Clone, Copy)]
enum SectionForm {
    Text,
    Json,
    Html,
}

enum AnalysisSectionContent {
    Text(Vec<u8>),
    Json(AnalysisDocument),
    Html(String),
}

/// Asks all questions in one pass: for each of them its arguments, a name for it, and one for its findings.
macro_rules! ask {
    ($args:ident, $events:ident: $($args_of:ident $question:ident $found:ident),*) => {{
        let input = &$events.inputs[0];
        $(let (mut $question, mut $found) = ($args_of::default(), Vec::new());
        $question.shown = AnswerArgs::with_top($args.0.top, ($args.0.markdown, $args.0.wide));)*
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
        vec![$(AnalysisSection::of($args, &$question, input, answers::found::<$args_of>(input, $found))?),*]
    }};
}

/// The columns of each analysis, by the name of the analysis.
pub(crate) fn definitions() -> Vec<(&'static str, Vec<ColumnDefinition>)> {
    fn of<Q: Question>() -> (&'static str, Vec<ColumnDefinition>) {
        (Q::PURPOSE, Q::definitions())
    }
    vec![
        of::<AnalyzeSchedArgs>(),
        of::<AnalyzeWakersArgs>(),
        of::<AnalyzeMigrationsArgs>(),
        of::<AnalyzeMapArgs>(),
        of::<AnalyzeCgroupsArgs>(),
        of::<AnalyzeIrqArgs>(),
        of::<AnalyzeSyscallsArgs>(),
        of::<AnalyzeIoArgs>(),
        of::<AnalyzeFunctionsArgs>(),
        of::<AnalyzeLocksArgs>(),
        of::<AnalyzeMemoryArgs>(),
        of::<AnalyzeFaultsArgs>(),
        of::<AnalyzeReclaimArgs>(),
        of::<AnalyzeRequestsArgs>(),
        of::<AnalyzeIdleArgs>(),
        of::<AnalyzeNetArgs>(),
        of::<AnalyzeOsnoiseArgs>(),
        of::<AnalyzeTimerlatArgs>(),
    ]
}

/// The answers of all analyses, each in the form that `args` ask for.
fn ask_all(
    args: &AnalyzeAllArgs,
    form: SectionForm,
    events: &QueryEvents<'_>,
) -> Result<Vec<AnalysisSection>, Failure> {
    let args = (args, form);
    Ok(ask! {
        args, events:
        AnalyzeSchedArgs sched of_sched,
        AnalyzeIrqArgs irq of_irq,
        AnalyzeSyscallsArgs syscalls of_syscalls,
        AnalyzeIoArgs io of_io,
        AnalyzeFunctionsArgs functions of_functions,
        AnalyzeLocksArgs locks of_locks,
        AnalyzeMemoryArgs memory of_memory,
        AnalyzeFaultsArgs faults of_faults,
        AnalyzeReclaimArgs reclaim of_reclaim,
        AnalyzeIdleArgs idle of_idle,
        AnalyzeNetArgs net of_net,
        AnalyzeOsnoiseArgs osnoise of_osnoise,
        AnalyzeTimerlatArgs timerlat of_timerlat
    })
}

/// The answers of the analyses whose events were recorded, by name, as HTML.
pub(crate) fn html_sections(events: &QueryEvents<'_>) -> Result<Vec<(&'static str, String)>, Failure> {
    /// Rows of a table, which the reader may sort.
    const ROWS: usize = 200;
    let args = AnalyzeAllArgs { top: Some(ROWS), wide: true, ..AnalyzeAllArgs::default() };
    let html = |answer: AnalysisSection| match answer.content {
        Some(AnalysisSectionContent::Html(html)) => Some((answer.name, html)),
        _ => None,
    };
    Ok(ask_all(&args, SectionForm::Html, events)?.into_iter().filter_map(html).collect())
}

pub(super) fn run(args: &AnalyzeAllArgs, write_page: WritePage<'_>) -> Result<Exit, Failure> {
    args.page.check()?;
    let _pager = args.pager.start();
    args.file.print(|events, out| {
        let input = &events.inputs[0];
        let form = if args.json { SectionForm::Json } else { SectionForm::Text };
        let answers = ask_all(args, form, events)?;
        if answers.iter().all(|answer| answer.content.is_none()) {
            let error = anyhow!("{} holds nothing to analyse in this window", input.path.display());
            let hint = "`rtrace record --for sched,irq,syscalls,io` records what is needed.";
            return Err(Failure::new(Exit::Failed, error).hint(hint));
        }
        if let Some(path) = args.page.path() {
            write_page(path, events, None)?;
        }
        if args.json {
            let text = answers::bounded(args.top, |size| document(input, &answers, size));
            return Ok(out.write_all(text.as_bytes())?);
        }
        for (number, answer) in answers.into_iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            let name = answer.name;
            match answer.content {
                Some(AnalysisSectionContent::Text(text)) => {
                    if !args.markdown {
                        writeln!(out, "== {name}")?;
                    }
                    out.write_all(&text)?;
                }
                _ if args.markdown => writeln!(out, "### rtrace analyze {name}: not recorded")?,
                _ => writeln!(out, "== {name}: not recorded (`rtrace record --for {name}`)")?,
            }
        }
        Ok(())
    })
}

impl AnalysisSection {
    fn of<Q: Question>(
        (args, form): (&AnalyzeAllArgs, SectionForm),
        question: &Q,
        input: &QueryInput,
        found: Found<'_, Q>,
    ) -> Result<AnalysisSection, Failure> {
        let content = match (found.as_slice(), form) {
            ([], _) => None,
            (found, SectionForm::Json) => {
                Some(AnalysisSectionContent::Json(AnalysisDocument::of(question, input, found, args.top)))
            }
            (found, SectionForm::Html) => Some(AnalysisSectionContent::Html(answers::html(question, found))),
            (found, SectionForm::Text) => {
                let mut text = Vec::new();
                answers::text(question, found, &mut text)?;
                Some(AnalysisSectionContent::Text(text))
            }
        };
        Ok(AnalysisSection { name: Q::PURPOSE, content })
    }
}

/// The documents of the analyses by name; null for what was not recorded.
fn document(input: &QueryInput, answers: &[AnalysisSection], size: DocumentSize) -> Value {
    let document = |answer: &AnalysisSection| match &answer.content {
        Some(AnalysisSectionContent::Json(document)) => (answer.name.to_owned(), document.json(size)),
        _ => (answer.name.to_owned(), Value::Null),
    };
    let analyses: Map<String, Value> = answers.iter().map(document).collect();
    let truncated = analyses.values().any(|one| one["truncated"] == true);
    let mut document = json!({
        "schema": "rtrace.analyze.all",
        "version": 1,
        "file": input.path.to_string_lossy(),
        "analyses": analyses,
        "truncated": truncated,
    });
    if truncated {
        document["more"] = json!("--top 0");
    }
    document
}
