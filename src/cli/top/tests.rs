use super::command::{TopOrder, TopTable, draw};
use super::readings::TopLayout;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rtrace::analysis::{CpuLoad, LoadPeriod, TaskLoad};
use rtrace::units::{CpuId, Pid};
use std::collections::BTreeMap;
use std::time::Duration;

fn period() -> LoadPeriod {
    let task = |comm: &str, run, wait, longest| TaskLoad { comm: comm.as_bytes().to_vec(), run, wait, longest };
    LoadPeriod {
        window: Some((1_000_000_000, 2_000_000_000)),
        events: BTreeMap::from([(1, 1000), (2, 40)]),
        tasks: BTreeMap::from([
            (Pid(7), task("busy", 900_000_000, 1_000_000, 500_000)),
            (Pid(8), task("late\x1b[2J", 1_000_000, 30_000_000, 20_000_000)),
        ]),
        cpus: BTreeMap::from([(CpuId(0), CpuLoad { known: 1_000_000_000, busy: 910_000_000 })]),
        lost: 12,
        gaps: 0,
    }
}

fn shown(table: &TopTable, order: TopOrder, width: u16, height: u16) -> Vec<String> {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(table, order, area, &mut buffer);
    let rows = buffer.content.chunks(width.into());
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect()
}

#[test]
fn a_table_has_rates_tasks_and_losses() {
    let mut table = TopTable::new(&[]);
    table.read(period());
    let rows = shown(&table, TopOrder::Run, 80, 24);
    assert_eq!(rows[0], "rtrace top  1,040 events/s  1,040 in all  lost 12");
    assert_eq!(rows[1], "longest wait for a CPU lately: 20.000 ms, late\\x1b[2J-8");
    assert_eq!(rows[2], "cpu0  91%");
    let place = |rows: &[String], of: &str| rows.iter().position(|row| row.ends_with(of)).unwrap_or(99);
    assert!(place(&rows, "  busy-7") < place(&rows, "  late\\x1b[2J-8"), "{rows:#?}");
    let late = shown(&table, TopOrder::Wait, 80, 24);
    assert!(place(&late, "  busy-7") > place(&late, "  late\\x1b[2J-8"), "{late:#?}");
    assert!(rows.iter().any(|row| row == "      90%        1.000        0.500  busy-7"), "{rows:#?}");
}

#[test]
fn any_size_is_drawn() {
    let mut table = TopTable::new(&[]);
    for round in 0..20 {
        for (width, height) in [(1, 1), (3, 2), (20, 5), (80, 24), (200, 60)] {
            assert_eq!(shown(&table, TopOrder::default(), width, height).len(), usize::from(height));
        }
        if round > 0 {
            table.read(period());
        }
    }
}

#[test]
fn a_line_has_all_of_a_reading() {
    let line = TopLayout::new(&[], "ns").document(&period(), Duration::from_millis(5));
    assert_eq!((&line["schema"], &line["time_ms"]), (&"rtrace.top".into(), &5.into()));
    assert_eq!(
        (&line["window"]["end"], &line["lost"], &line["gaps"]),
        (&2_000_000_000u64.into(), &12.into(), &0.into())
    );
    assert_eq!(line["events"][1], serde_json::json!({"event": null, "id": 2, "count": 40}));
    let late = serde_json::json!({"pid": 8, "comm": "late\u{1b}[2J", "run": 1_000_000, "wait": 30_000_000, "longest_wait": 20_000_000});
    assert_eq!(line["tasks"][1], late, "the one that ran more is before");
    assert_eq!(line["cpus"][0]["busy"], 910_000_000);
    assert!(!line.to_string().contains(['\n', '\u{1b}']), "one line, nothing to obey");
}
