//! A recording's answers as one page for a browser: HTML with its style and script in it, which asks for no other file.
//! The page's parts, and their HTML.

use crate::answer::analysis::{TimelineFinding, TimelineSlice};
use crate::export::answers::put_html;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A page. Its texts are plain ones; what comes from a recording is escaped when the page is made.
#[derive(Clone, Debug, Default)]
pub struct RecordingPage {
    /// The words above it, and the name of the browser's tab.
    pub title: String,
    /// Facts about the recording: names and values.
    pub facts: Vec<(String, String)>,
    /// What the numbers are not of.
    pub notes: Vec<String>,
    /// The picture of the CPUs over time.
    pub timeline: Option<PageTimeline>,
    /// Waits: a line each, the text about it, and begin and length in the timeline's unit.
    pub waits: Vec<PageWait>,
    /// Tables: the name of each section, and its HTML, as [`answer_html`](crate::export::answers::answer_html) writes it.
    pub sections: Vec<(String, String)>,
    /// A flame graph: its name, and the picture (SVG).
    pub flame: Option<(String, String)>,
}

/// The slices of a [`TimelineFinding`] between two times.
#[derive(Clone, Debug)]
pub struct PageTimeline {
    /// The slices.
    pub found: TimelineFinding,
    /// Begin and end, in the clock's unit.
    pub window: (u64, u64),
    /// The begin as it is printed.
    pub begin: String,
    /// `ns` or `ticks`.
    pub unit: &'static str,
}

/// A long wait.
#[derive(Clone, Debug)]
pub struct PageWait {
    /// The line about it.
    pub title: String,
    /// Its reasons, a line each.
    pub lines: Vec<String>,
    /// Begin and length, in the clock's unit.
    pub place: (u64, u64),
}

impl RecordingPage {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let mut out = String::new();
        out.push_str("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n");
        // Whatever a name of the recording may be, nothing is fetched and nothing is sent.
        out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; frame-src 'self'\">\n<title>");
        put_html(&self.title, &mut out);
        let _ = write!(out, "</title>\n<style>\n{}</style></head><body>\n<h1>", include_str!("page/page.css"));
        put_html(&self.title, &mut out);
        out.push_str("</h1>\n");
        self.put_contents(&mut out);
        out.push_str("<table><tbody>\n");
        for (name, value) in &self.facts {
            out.push_str("<tr><td class=\"left\">");
            put_html(name, &mut out);
            out.push_str("</td><td class=\"left\">");
            put_html(value, &mut out);
            out.push_str("</td></tr>\n");
        }
        out.push_str("</tbody></table>\n");
        for note in &self.notes {
            out.push_str("<p class=\"note\">Note: ");
            put_html(note, &mut out);
            out.push_str("</p>\n");
        }
        if let Some(timeline) = &self.timeline {
            timeline.put(&mut out);
        }
        self.put_waits(&mut out);
        for (number, (name, html)) in self.sections.iter().enumerate() {
            let _ = write!(out, "<h2 id=\"section{number}\">");
            put_html(name, &mut out);
            let _ = writeln!(out, "</h2>\n{html}");
        }
        if let Some((name, picture)) = &self.flame {
            out.push_str("<h2 id=\"flame\">");
            put_html(name, &mut out);
            out.push_str("</h2>\n<iframe title=\"flame graph\" sandbox=\"allow-scripts\" srcdoc=\"");
            put_html(picture, &mut out);
            out.push_str("\"></iframe>\n");
        }
        let _ = write!(out, "<script>\n{}</script>\n</body></html>\n", include_str!("page/page.js"));
        out
    }

    fn put_contents(&self, out: &mut String) {
        out.push_str("<nav>");
        let mut link = |id: &str, name: &str| {
            let _ = write!(out, "<a href=\"#{id}\">");
            put_html(name, out);
            out.push_str("</a>");
        };
        if self.timeline.is_some() {
            link("time", "Timeline");
        }
        if !self.waits.is_empty() {
            link("waits", "Longest waits");
        }
        self.sections.iter().enumerate().for_each(|(number, (name, _))| link(&format!("section{number}"), name));
        if let Some((name, _)) = &self.flame {
            link("flame", name);
        }
        out.push_str("</nav>\n");
    }

    fn put_waits(&self, out: &mut String) {
        if self.waits.is_empty() {
            return;
        }
        out.push_str("<h2 id=\"waits\">Longest waits for a CPU after a wakeup</h2>\n");
        let begin = self.timeline.as_ref().map(|timeline| timeline.window.0);
        for (number, wait) in self.waits.iter().enumerate() {
            let _ = write!(out, "<details{}><summary>", if number == 0 { " open" } else { "" });
            put_html(&wait.title, out);
            out.push_str("</summary>\n");
            if let Some(begin) = begin {
                let from = wait.place.0.saturating_sub(begin);
                let _ = writeln!(
                    out,
                    "<button data-from=\"{from}\" data-time=\"{}\">show in the timeline</button>",
                    wait.place.1
                );
            }
            out.push_str("<pre>");
            put_html(&wait.lines.join("\n"), out);
            out.push_str("</pre></details>\n");
        }
    }
}

impl PageTimeline {
    fn put(&self, out: &mut String) {
        out.push_str(
            "<h2 id=\"time\">Timeline</h2>\n<div class=\"bar\"><label>Task: <input id=\"search\" type=\"search\"></label></div>\n\
             <canvas id=\"timeline\" tabindex=\"0\" aria-label=\"tasks on each CPU over time\"></canvas>\n<div id=\"about\"></div>\n\
             <script type=\"application/json\" id=\"slices\">",
        );
        // In a script only its end tag is markup.
        out.push_str(&self.data().to_string().replace('<', "\\u003c"));
        out.push_str("</script>\n");
    }

    /// The slices as the script reads them: for each its distance from the one before, its length, and its task.
    fn data(&self) -> Value {
        let (begin, end) = self.window;
        let packed = |slices: &[TimelineSlice]| {
            let mut numbers: Vec<Value> = Vec::with_capacity(slices.len().saturating_mul(3));
            let mut last = begin;
            for slice in slices {
                // One that began before the last one ended is cut there, as an interrupt within an interrupt.
                let (from, to) = (slice.at.max(last), slice.at.saturating_add(slice.time).min(end));
                if from > to {
                    continue;
                }
                let task = slice.task.map_or(-1, |task| i64::try_from(task).unwrap_or(-1));
                numbers.extend([json!(from - last), json!(to - from), json!(task)]);
                last = to;
            }
            numbers
        };
        let lanes: Vec<Value> = self
            .found
            .lanes
            .iter()
            .map(|(cpu, lane)| {
                json!({
                    "name": format!("cpu{cpu}"),
                    "tasks": packed(&lane.tasks),
                    "interrupts": packed(&lane.interrupts),
                    "losses": lane.losses.iter().map(|at| at.saturating_sub(begin)).collect::<Vec<_>>(),
                })
            })
            .collect();
        let name = |thread: &crate::answer::analysis::Thread| {
            format!("{} [{}]", String::from_utf8_lossy(&thread.name), thread.tid.0)
        };
        json!({
            "begin": self.begin,
            "span": end.saturating_sub(begin),
            "unit": self.unit,
            "least": self.found.least,
            "tasks": self.found.threads.iter().map(name).collect::<Vec<_>>(),
            "lanes": lanes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup_and_nothing_is_fetched() {
        let hostile = "</script><img src=x onerror=alert(1)>";
        let threads = vec![crate::answer::analysis::Thread {
            utid: 0,
            tid: crate::base::units::Pid(7),
            name: hostile.as_bytes().to_vec(),
        }];
        let slice = TimelineSlice { at: 5, time: 10, busy: 10, task: Some(0) };
        let lane = crate::answer::analysis::TimelineLane { tasks: vec![slice], ..Default::default() };
        let lanes = [(crate::base::units::CpuId(0), lane)].into_iter().collect();
        let found = TimelineFinding { lanes, threads, waits: Vec::new(), least: 0 };
        let page = RecordingPage {
            title: hostile.to_owned(),
            facts: vec![(hostile.to_owned(), hostile.to_owned())],
            notes: vec![hostile.to_owned()],
            timeline: Some(PageTimeline { found, window: (0, 20), begin: "0".to_owned(), unit: "ns" }),
            waits: vec![PageWait { title: hostile.to_owned(), lines: vec![hostile.to_owned()], place: (5, 10) }],
            sections: vec![(hostile.to_owned(), "<table></table>".to_owned())],
            flame: Some((hostile.to_owned(), format!("<svg>{hostile}</svg>"))),
        };
        let html = page.html();
        assert!(!html.contains("<img"), "{html}");
        assert_eq!(html.matches("</script>").count(), 2, "the page's own");
        assert!(!html.contains("http://") && !html.contains("https://"));
        assert!(html.contains(r#""tasks":[5,10,0]"#), "{html}");
    }
}
