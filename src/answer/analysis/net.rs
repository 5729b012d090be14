//! Network devices: packets, polls and queues; the tasks that packets wake; TCP segments that are sent again.
//!
//! ```text
//! netif_receive_skb: dev=eth0 skbaddr=00000000c1d7a2f5 len=52     napi_poll: napi poll on napi struct ... for device eth0 work 3 budget 64
//! net_dev_queue: dev=eth0 skbaddr=0000000098ab1200 len=118        net_dev_xmit: dev=eth0 skbaddr=0000000098ab1200 len=118 rc=0
//! ```

use super::by_event::{ByEvent, RecordNumber, RecordText};
use super::interface::Map;
use super::{Durations, InOrder, Needs};
use crate::answer::analysis::by_event::KnownEvents;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The events that its numbers need, by the names of `rtrace analyze net --json`.
pub const NET_NEEDS: &[Needs] = &[
    Needs::seen(&["devices.received", "devices.received_bytes"], &["net:netif_receive_skb"]),
    Needs::seen(&["devices.polls", "devices.work", "devices.exhausted"], &["napi:napi_poll"]),
    Needs::seen(&["devices.sent", "devices.sent_bytes", "devices.refused"], &["net:net_dev_xmit"]),
    Needs::between(&["devices.queued"], &["net:net_dev_queue", "net:net_dev_xmit", "skb:kfree_skb"]),
    // A packet that was left out gives its wakeup to the one before.
    Needs::between(&["woken.delays"], &["net:netif_receive_skb", "napi:napi_poll", "sched:sched_wak*"]),
    Needs::seen(&["retransmits.count"], &["tcp:tcp_retransmit_skb"]),
];

/// Network devices; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Net {
    events: ByEvent<NetEvent>,
    window: Option<(u64, u64)>,
    devices: BTreeMap<Vec<u8>, NetDevice>,
    /// Packets in a queue, by address: their length, and since when.
    queued: Map<u64, (u64, u64)>,
    cpus: BTreeMap<CpuId, PolledPacket>,
    woken: Map<(Pid, Vec<u8>), Durations>,
    retransmits: BTreeMap<TcpPair, u64>,
    losses: u64,
}

#[derive(Clone, Copy, Debug)]
enum NetEvent {
    Receive { device: RecordText, len: RecordNumber },
    Poll { device: RecordText, work: Option<(RecordNumber, RecordNumber)> },
    Queue { packet: RecordNumber, len: RecordNumber },
    Free { packet: RecordNumber },
    Send { device: RecordText, packet: RecordNumber, len: RecordNumber, result: RecordNumber },
    Wake { task: RecordNumber },
    Switch,
    Retransmit(TcpFields),
}

/// Fields of `tcp_retransmit_skb`.
#[derive(Clone, Copy, Debug)]
struct TcpFields {
    ports: [RecordNumber; 2],
    v4: [usize; 2],
    v6: [usize; 2],
}

/// The packet that a CPU takes in, and the tasks that it has woken.
#[derive(Clone, Debug, Default)]
struct PolledPacket {
    packet: Option<(Vec<u8>, u64)>,
    /// Wakeups that count when the poll's end is seen: task, device and delay.
    woken: Vec<(Pid, Vec<u8>, u64)>,
}

/// One device. Those of one name in several network namespaces are one.
#[derive(Clone, Debug, Default)]
pub struct NetDevice {
    /// Packets that it handed to the network stack (`netif_receive_skb`).
    pub received: u64,
    /// Bytes of these packets.
    pub received_bytes: u64,
    /// Polls (`napi_poll`).
    pub polls: u64,
    /// Packets that these took, of kernels that say so (since Linux 4.8).
    pub work: u64,
    /// Polls that took as many as they may: more may have waited.
    pub exhausted: u64,
    /// Packets that the driver took to send (`net_dev_xmit` with rc 0).
    pub sent: u64,
    /// Bytes of these packets.
    pub sent_bytes: u64,
    /// Times that it did not take one.
    pub refused: u64,
    /// From `net_dev_queue` to the `net_dev_xmit` that took the packet.
    pub queued: Durations,
}

/// A TCP connection by its ends: ours, the other.
pub type TcpPair = ((IpAddr, u16), (IpAddr, u16));

/// Network devices of one buffer. All times are in the clock's unit.
#[derive(Clone, Debug, Default)]
pub struct NetReport {
    /// The first and the last event of the network: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// By name.
    pub devices: Vec<(Vec<u8>, NetDevice)>,
    /// By task and device: from `netif_receive_skb` to a wakeup that the soft interrupt made while it took the packet in.
    pub woken: Vec<((Pid, Vec<u8>), Durations)>,
    /// Segments sent again, by connection, the most first.
    pub retransmits: Vec<(TcpPair, u64)>,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// Bits of `common_flags` (`TRACE_FLAG_*`, include/linux/trace_events.h).
const HARD_IRQ_OR_NMI: u8 = 0x48;
const SOFT_IRQ: u8 = 0x10;

impl NetEvent {
    fn of(format: &EventFormat) -> Option<Self> {
        let (number, text) = (|field| RecordNumber::of(format, field), |field| RecordText::of(format, field));
        let offset = |field| format.field(field).map(|field| field.offset);
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("net", "netif_receive_skb") => NetEvent::Receive { device: text("name")?, len: number("len")? },
            ("napi", "napi_poll") => {
                NetEvent::Poll { device: text("dev_name")?, work: number("work").zip(number("budget")) }
            }
            ("net", "net_dev_queue") => NetEvent::Queue { packet: number("skbaddr")?, len: number("len")? },
            ("skb", "kfree_skb") => NetEvent::Free { packet: number("skbaddr")? },
            ("net", "net_dev_xmit") => NetEvent::Send {
                device: text("name")?,
                packet: number("skbaddr")?,
                len: number("len")?,
                result: number("rc")?,
            },
            ("sched", "sched_waking" | "sched_wakeup") => NetEvent::Wake { task: number("pid")? },
            ("sched", "sched_switch") => NetEvent::Switch,
            ("tcp", "tcp_retransmit_skb") => NetEvent::Retransmit(TcpFields {
                ports: [number("sport")?, number("dport")?],
                v4: [offset("saddr")?, offset("daddr")?],
                v6: [offset("saddr_v6")?, offset("daddr_v6")?],
            }),
            _ => return None,
        })
    }

    /// True if it is about the network.
    fn is_of_net(self) -> bool {
        !matches!(self, NetEvent::Wake { .. } | NetEvent::Switch | NetEvent::Free { .. })
    }
}

impl TcpFields {
    fn read(&self, abi: Abi, data: &[u8]) -> Option<TcpPair> {
        let end = |at: usize| {
            let v6 = <[u8; 16]>::try_from(data.get(self.v6[at]..)?.get(..16)?).ok()?;
            let v4 = <[u8; 4]>::try_from(data.get(self.v4[at]..)?.get(..4)?).ok()?;
            // An IPv4 socket has its address there too, mapped; kernels before 4.15 leave it empty.
            let v6 = std::net::Ipv6Addr::from(v6);
            let is_v4 = v6.is_unspecified() || v6.to_ipv4_mapped().is_some();
            let address = if is_v4 { IpAddr::from(v4) } else { IpAddr::from(v6) };
            Some((address, self.ports[at].read(abi, data) as u16))
        };
        Some((end(0)?, end(1)?))
    }
}

impl Net {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Net {
            events: ByEvent::new(formats, abi, NetEvent::of),
            window: None,
            devices: BTreeMap::new(),
            queued: Map::default(),
            cpus: BTreeMap::new(),
            woken: Map::default(),
            retransmits: BTreeMap::new(),
            losses: 0,
        }
    }

    /// True if the formats have events of the network.
    pub fn has_events(&self) -> bool {
        self.events.all().any(|event| event.is_of_net())
    }

    fn device(&mut self, name: &[u8]) -> &mut NetDevice {
        self.devices.entry(name.to_vec()).or_default()
    }

    fn lose(&mut self) {
        self.losses += 1;
        self.queued.clear();
        self.cpus.clear();
    }

    fn poll(&mut self, cpu: CpuId, name: &[u8], work: Option<(u64, u64)>) {
        let device = self.device(name);
        device.polls = device.polls.saturating_add(1);
        if let Some((work, budget)) = work {
            device.work = device.work.saturating_add(work);
            device.exhausted = device.exhausted.saturating_add(u64::from(work >= budget));
        }
        for (task, device, delay) in self.cpus.remove(&cpu).map(|cpu| cpu.woken).unwrap_or_default() {
            self.woken.entry((task, device)).or_default().add(delay);
        }
    }

    /// A wakeup by a soft interrupt on `cpu`.
    fn wake(&mut self, cpu: CpuId, task: Pid, at: u64) {
        let Some(polled) = self.cpus.get_mut(&cpu) else { return };
        let Some((device, received)) = &polled.packet else { return };
        // sched_waking and sched_wakeup are one.
        if !polled.woken.iter().any(|(woken, ..)| *woken == task) {
            polled.woken.push((task, device.clone(), at.saturating_sub(*received)));
        }
    }
}

impl InOrder for Net {
    type Finding = NetReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.lose();
        }
        let Some(&event) = self.events.of(record) else { return };
        let (at, abi, data, cpu) = (record.timestamp.0, self.events.abi, record.data, record.cpu);
        if event.is_of_net() {
            let begin = self.window.map_or(at, |window| window.0);
            self.window = Some((begin, at));
        }
        match event {
            NetEvent::Receive { device: name, len } => {
                let (name, len) = (name.read(abi, data), len.read(abi, data));
                let device = self.device(name);
                device.received = device.received.saturating_add(1);
                device.received_bytes = device.received_bytes.saturating_add(len);
                self.cpus.entry(cpu).or_default().packet = Some((name.to_vec(), at));
            }
            NetEvent::Poll { device, work } => {
                let work = work.map(|(work, budget)| (work.read(abi, data), budget.read(abi, data)));
                self.poll(cpu, device.read(abi, data), work);
            }
            NetEvent::Queue { packet, len } => {
                self.queued.insert(packet.read(abi, data), (len.read(abi, data), at));
            }
            // A queue dropped it; its address may be another's soon.
            NetEvent::Free { packet } => {
                self.queued.remove(&packet.read(abi, data));
            }
            NetEvent::Send { device, packet, len, result } => {
                let (len, taken) = (len.read(abi, data), result.read(abi, data) == 0);
                let queued = if taken { self.queued.remove(&packet.read(abi, data)) } else { None };
                let device = self.device(device.read(abi, data));
                if taken {
                    device.sent = device.sent.saturating_add(1);
                    device.sent_bytes = device.sent_bytes.saturating_add(len);
                } else {
                    device.refused = device.refused.saturating_add(1);
                }
                // The parts of a packet that was cut up are shorter, and were never queued.
                if let Some((_, since)) = queued.filter(|(queued, _)| *queued == len) {
                    device.queued.add(at.saturating_sub(since));
                }
            }
            NetEvent::Wake { task } => {
                let flags = self.events.flags(record);
                if flags & SOFT_IRQ != 0 && flags & HARD_IRQ_OR_NMI == 0 {
                    self.wake(cpu, Pid(task.read(abi, data) as i32), at);
                }
            }
            // No poll lasts beyond a switch of its CPU: the poll's end was not recorded.
            NetEvent::Switch => {
                self.cpus.remove(&cpu);
            }
            NetEvent::Retransmit(fields) => {
                if let Some(pair) = fields.read(abi, data) {
                    let count = self.retransmits.entry(pair).or_default();
                    *count = count.saturating_add(1);
                }
            }
        }
    }

    fn finish(self) -> NetReport {
        let mut woken: Vec<_> = self.woken.into_iter().collect();
        woken.sort_by(|a, b| (Reverse(a.1.count()), &a.0).cmp(&(Reverse(b.1.count()), &b.0)));
        let mut retransmits: Vec<_> = self.retransmits.into_iter().collect();
        retransmits.sort_by_key(|(pair, count)| (Reverse(*count), *pair));
        NetReport {
            window: self.window,
            devices: self.devices.into_iter().collect(),
            woken,
            retransmits,
            losses: self.losses,
        }
    }
}
