//! `--html`: the page of the new side, with the comparison above.

use super::report::Report;
use super::text;
use crate::cli::exit::Failure;
use crate::cli::named_files::write_file;
use crate::cli::page::{answered, text_section};
use crate::cli::query::QueryEvents;
use crate::cli::terminal::Painted;
use crate::cli::trace_file::mode_like;
use rtrace::internal::page::RecordingPage;
use rtrace::internal::safe_file::PRIVATE;
use std::path::Path;

/// A page that is being made while the sides are read.
pub(super) struct ComparisonPage<'p> {
    path: &'p Path,
    /// The first recording of the new side, and the mode of a file made of it.
    first: Option<(RecordingPage, u32)>,
}

impl<'p> ComparisonPage<'p> {
    pub(super) fn new(path: &'p Path) -> Self {
        ComparisonPage { path, first: None }
    }

    /// Takes the answers about the first recording.
    pub(super) fn look(&mut self, events: &QueryEvents<'_>) -> Result<(), Failure> {
        if self.first.is_none() {
            self.first = Some((answered(events)?.page, mode_like(&events.inputs[0].path)));
        }
        Ok(())
    }

    /// Writes it. Of a side that is only saved summaries the comparison is all there is.
    pub(super) fn write(self, report: &Report<'_>) -> Result<(), Failure> {
        let (mut page, mode) = self.first.unwrap_or_else(|| {
            let title = report.new.runs.first().map_or_else(String::new, |run| run.file.clone());
            let notes = vec!["the new side is a saved summary, which has no events to show".to_owned()];
            (RecordingPage { title, notes, ..RecordingPage::default() }, PRIVATE)
        });
        if report.new.runs.len() > 1 {
            let all = report.new.runs.len();
            page.notes
                .push(format!("the comparison is of all {all} new runs, all else on this page of {}", page.title));
        }
        let mut words = Painted::default();
        text::write(report, None, &mut words)?;
        page.sections.insert(0, text_section("Comparison", &words.into_text()));
        write_file(self.path, &page.html(), mode)
    }
}
