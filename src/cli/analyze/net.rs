//! `rtrace analyze net`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question, Row, rows};
use super::words::many;
use crate::cli::query::QueryInput;
use rtrace::analysis::{Durations, NET_NEEDS, Needs, Net, NetDevice, NetReport, TcpPair};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::Pid;
use std::net::SocketAddr;

/// Network: packets, polls and queues by device, tasks that packets wake, TCP segments sent again
///
/// From netif_receive_skb, napi_poll, net_dev_queue, net_dev_xmit, kfree_skb, tcp_retransmit_skb and sched_waking. Times of
/// NET_RX and NET_TX are those of `analyze irq`. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeNetArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
}

impl Question for AnalyzeNetArgs {
    type Analysis = Net;
    const PURPOSE: &'static str = "net";
    const LACKING: &'static str = "events of the network";
    const NEEDS: &'static [Needs] = NET_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn analysis(&self, input: &QueryInput) -> Option<Net> {
        let net = Net::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi);
        net.has_events().then_some(net)
    }

    fn outline(report: &NetReport) -> Option<Outline> {
        let packets = report.devices.iter().map(|(_, of)| of.received.saturating_add(of.sent)).sum();
        let lost = (report.losses > 0).then(|| format!("events were lost at {}", many(report.losses, "place")));
        report.window.is_some().then(|| Outline {
            window: report.window,
            extent: vec![many(report.devices.len() as u64, "device"), many(packets, "packet")],
            lost: report.losses > 0,
            notes: lost.into_iter().collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, NetReport>, top: usize) -> Answer {
        let (unit, report, known) = (found.place.unit, &found.report, &found.known());
        let us = unit.short_name();
        let woken = woken().grid(rows(found, &report.woken), top, known);
        let retransmits = retransmits().grid(rows(found, &report.retransmits), top, known);
        Answer::of([
            counts().grid([report], 0, known).into(),
            devices().grid(rows(found, &report.devices), top, known).part(format!("Devices (queued: {us})")).into(),
            woken.part(format!("From packet to the wakeup that it made ({us})")).into(),
            retransmits.part("TCP segments sent again").into(),
        ])
    }

    fn definitions() -> Vec<ColumnDefinition> {
        let tables = [counts().definitions(), devices().definitions()];
        [tables.concat(), woken().definitions(), retransmits().definitions()].concat()
    }
}

fn counts<'a>() -> Table<&'a NetReport> {
    type Of<'a> = Column<&'a NetReport>;
    Table::new("", vec![Of::new("losses", Kind::Count, "Places where events were lost.", |of| of.losses.into())])
}

type DeviceRow<'a> = Row<'a, NetReport, &'a (Vec<u8>, NetDevice)>;
type WokenRow<'a> = Row<'a, NetReport, &'a ((Pid, Vec<u8>), Durations)>;
type RetransmitRow<'a> = Row<'a, NetReport, &'a (TcpPair, u64)>;

fn text(name: &[u8]) -> Cell {
    String::from_utf8_lossy(name).into_owned().into()
}

fn devices<'a>() -> Table<DeviceRow<'a>> {
    type Of<'a> = Column<DeviceRow<'a>>;
    Table::new(
        "devices",
        vec![
            Of::new("device", Kind::Text, "Name of the device.", |row| text(&row.of.0)).text("DEVICE").csv("device"),
            Of::new("received", Kind::Count, "Packets handed to the network stack.", |row| row.of.1.received.into())
                .text("received")
                .csv("received"),
            Of::new("received_bytes", Kind::Size, "Their bytes.", |row| row.of.1.received_bytes.into())
                .text("bytes")
                .csv("received_bytes"),
            Of::new("polls", Kind::Count, "Polls (napi_poll).", |row| row.of.1.polls.into()).text("polls").csv("polls"),
            Of::new("work", Kind::Count, "Packets that polls took.", |row| row.of.1.work.into())
                .text("work")
                .csv("work")
                .minor(1),
            Of::new("exhausted", Kind::Count, "Polls that took all that they may: more may have waited.", |row| {
                row.of.1.exhausted.into()
            })
            .text("exhausted")
            .csv("exhausted"),
            Of::new("sent", Kind::Count, "Packets that the driver took.", |row| row.of.1.sent.into())
                .text("sent")
                .csv("sent"),
            Of::new("sent_bytes", Kind::Size, "Their bytes.", |row| row.of.1.sent_bytes.into())
                .text("bytes")
                .csv("sent_bytes"),
            Of::new("refused", Kind::Count, "Times that the driver took none (rc is not 0).", |row| {
                row.of.1.refused.into()
            })
            .text("refused")
            .csv("refused")
            .minor(1),
            Of::new("queued", Kind::Distribution, "From net_dev_queue to net_dev_xmit of the same packet.", |row| {
                (&row.of.1.queued).into()
            })
            .text("queued: ")
            .csv("queued_"),
        ],
    )
    .csv(true)
}

fn woken<'a>() -> Table<WokenRow<'a>> {
    type Of<'a> = Column<WokenRow<'a>>;
    let comm = |row: &WokenRow<'a>| row.found.place.comm(row.of.0.0).into();
    Table::new(
        "woken",
        vec![
            Of::new("", Kind::Text, "Name and number of the task.", |row| row.found.place.task(row.of.0.0).into())
                .text("TASK")
                .no_json(),
            Of::new("comm", Kind::Text, "Name of the task.", comm),
            Of::new("pid", Kind::Count, "Number of the task.", |row| row.of.0.0.0.into()),
            Of::new("device", Kind::Text, "Device of the packet.", |row| text(&row.of.0.1)).text("DEVICE"),
            Of::new("delays.count", Kind::Count, "Wakeups.", |row| row.of.1.count().into()).text("wakeups").no_json(),
            Of::new("delays", Kind::Distribution, "From netif_receive_skb to the wakeup.", |row| (&row.of.1).into())
                .text(""),
        ],
    )
}

fn retransmits<'a>() -> Table<RetransmitRow<'a>> {
    type Of<'a> = Column<RetransmitRow<'a>>;
    Table::new(
        "retransmits",
        vec![
            Of::new("local", Kind::Text, "Our address and port.", |row| {
                SocketAddr::from(row.of.0.0).to_string().into()
            })
            .text("FROM"),
            Of::new("remote", Kind::Text, "The other address and port.", |row| {
                SocketAddr::from(row.of.0.1).to_string().into()
            })
            .text("TO"),
            Of::new("count", Kind::Count, "Segments sent again (tcp_retransmit_skb).", |row| row.of.1.into())
                .text("segments"),
        ],
    )
}
