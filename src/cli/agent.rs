//! `rtrace agent`: records what a controller on another machine asks for.

use super::args::TracefsArgs;
use super::exit::{Exit, Failure};
use super::record_error::{explain, failure};
use super::server::MessageLog;
use super::terminal::note;
use super::{record, server};
use anyhow::{Context, anyhow};
use rtrace::internal::network::agent::{AGENT_PORT, Agent, AgentJob, AgentNotice};
use rtrace::internal::network::{Address, Network};
use rtrace::record::{Beside, Live, Observer, RecordSummary, Signals, record_beside};
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

/// Serve recording requests from `record -A` on another machine
///
/// The controller (rtrace or trace-cmd 3.x) sends options of `record`, and gets the events over the network; there is no file here.
/// One controller at a time; what it had set in tracefs is put back when it says so, or is gone. Ctrl-C ends the agent.
///
/// In a guest it listens over vsock to its host; with -N, --allow or --bind over TCP.
///
/// Nothing is encrypted, and a controller may record everything that happens on this machine: -N names the only one that may.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct AgentArgs {
    /// Listen on PORT (0: one that is free, and print it)
    #[arg(short, long, value_name = "PORT", default_value_t = AGENT_PORT)]
    port: u16,
    /// Serve this controller only, over TCP: a name or an address
    #[arg(short = 'N', long, value_name = "CLIENT")]
    client: Vec<String>,
    /// Listen on this address of the machine; without it on loopback if CLIENT is this machine, else on all
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<IpAddr>,
    /// Take connections from this address or network too (10.0.0.0/8), or over vsock from this machine (@1); may be repeated
    #[arg(long, value_name = "CIDR|@CID")]
    allow: Vec<Network>,
    /// Let controllers also set what concerns more than their recording: --top, --poll, --priority, -D, --cmdlines-size and the like
    ///
    /// Refused without: the top-level buffer is others' too, a poller or a real-time recorder can keep each CPU busy, and of some
    /// settings the machine has one (--threshold, --max-graph-depth, those of hwlat, osnoise and timerlat, blk's devices).
    #[arg(long)]
    whole_machine: bool,
    /// Go to the background once it listens
    #[arg(short = 'D', long)]
    daemonize: bool,
    /// Write what happens to FILE instead of standard error
    #[arg(short, long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// A line of JSON for each event, on standard output or in the log FILE
    #[arg(long)]
    json: bool,
    /// Show each write to tracefs as a line of shell
    #[arg(long)]
    verbose: bool,
    /// On a host: serve the guest CID, and it alone, whose `record --proxy` asks for the host's events
    #[arg(short = 'P', long, value_name = "CID", conflicts_with_all = ["client", "bind", "allow"])]
    proxy: Option<u32>,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

const EXAMPLES: &str = "\
Examples:
  In a guest, for its host, over vsock:
    rtrace agent
  The same over TCP:
    rtrace agent -N 10.0.2.2
  On the host, which records both at once:
    rtrace record -e sched -A 10.0.2.15 -e sched -e irq -- sleep 10
    rtrace report trace.dat trace-10.0.2.15.dat
  Through a tunnel (data ports are 1500 and following, one per CPU):
    rtrace agent --bind 127.0.0.1 -p 8230";

impl AgentArgs {
    /// The machines that may connect, and the address to listen on.
    fn peers(&self) -> Result<(Vec<Network>, Address), Failure> {
        let over_vsock = Address::Vsock { cid: Address::ANY, port: self.port.into() };
        if let Some(cid) = self.proxy {
            return Ok((vec![Network::of_cid(cid)], over_vsock));
        }
        let mut allow = self.allow.clone();
        for client in &self.client {
            let found = (client.as_str(), 0).to_socket_addrs();
            let found = found.with_context(|| format!("failed to find the controller {client}"))?;
            allow.extend(found.map(|address| Network::of(address.ip())));
        }
        let over_ip = self.bind.is_some() || allow.iter().any(|network| !network.is_vsock());
        if over_ip && allow.iter().any(Network::is_vsock) {
            let error = anyhow!("an agent listens over TCP or over vsock, not both");
            return Err(Failure::new(Exit::Usage, error).hint("two agents, each on its own, do."));
        }
        if !over_ip {
            allow.push(Network::of_cid(Address::HOST));
            return Ok((allow, over_vsock));
        }
        let address = match self.bind {
            Some(address) => address,
            None if allow.iter().all(Network::is_loopback) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            None => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        Ok((allow, Address::Ip(SocketAddr::new(address, self.port))))
    }

    /// Records what a controller asks for.
    fn record(&self, job: AgentJob<'_>, log: &MessageLog) -> Result<String, String> {
        let mut plan = record::plan_for_controller(job.args, self.whole_machine)?;
        plan.guests.extend(job.guest);
        plan.output = PathBuf::from(job.remote.place());
        let tracefs = self.tracefs.open_quietly().map_err(|failure| failure.text())?;
        let journal = self.tracefs.journal(&tracefs, self.verbose);
        let beside = Beside { remote: Some(job.remote), stop: Some(job.stop), ..Beside::default() };
        match record_beside(&plan, beside, journal, &mut Warnings(log)) {
            Ok(RecordSummary { error: Some(error), .. }) => Err(failure(error, |exit| exit).text()),
            Ok(summary) => Ok(summary.text().trim_end().to_owned()),
            Err(error) => Err(explain(&tracefs, &error).unwrap_or_else(|| failure(error, |exit| exit)).text()),
        }
    }
}

/// Warnings of a recording, in the agent's log.
struct Warnings<'a>(&'a MessageLog);

impl Observer for Warnings<'_> {
    fn warn(&mut self, text: &str) {
        self.0.event(&format!("warning: {text}"), json!({"event": "warning", "text": text}));
    }

    fn started(&mut self, _buffers: &[(String, Option<u64>)]) {}

    fn live_every(&self) -> Option<Duration> {
        None
    }

    fn live(&mut self, _live: &Live) {}
}

/// An event of schema `rtrace.agent`, version 1.
fn facts(notice: &AgentNotice) -> Value {
    match notice {
        AgentNotice::Refused { peer, why } => json!({"event": "refused", "peer": peer.to_string(), "why": why}),
        AgentNotice::Asked { peer, args } => json!({"event": "asked", "peer": peer.to_string(), "args": args}),
        AgentNotice::Ended { peer, what } => json!({"event": "ended", "peer": peer.to_string(), "outcome": what}),
        other => json!({"event": "other", "text": other.to_string()}),
    }
}

/// Serves until a signal ends it.
pub(crate) fn run(args: &AgentArgs) -> Result<Exit, Failure> {
    let (allow, address) = args.peers()?;
    // An error of each recording is an error now.
    let tracefs = args.tracefs.open()?;
    let open_to_all = allow.is_empty() && !matches!(address, Address::Ip(address) if address.ip().is_loopback());
    let agent = Agent::bind(address, allow).with_context(|| format!("failed to listen on {address}"))?;
    let agent = if args.proxy.is_some() { agent.as_proxy() } else { agent };
    let address = agent.address().context("failed to listen")?;
    let log = MessageLog::open(args.log.as_deref(), args.json)?;
    if open_to_all {
        note!("rtrace: warning: everybody who reaches {address} can record this machine (-N says who may)");
    }
    // Before anybody can know that it listens.
    let signals = Signals::block().context("failed to wait for signals")?;
    note!("rtrace: agent on {address}");
    if args.json {
        let address = address.to_string();
        log.event("", json!({"schema": "rtrace.agent", "version": 1, "event": "listening", "address": address}));
    }
    if args.daemonize {
        // Before the first thread.
        if let Some(exit) = server::go()? {
            return Ok(exit);
        }
    }
    let tell = |notice: &AgentNotice| log.event(&notice.to_string(), facts(notice));
    let journal = || args.tracefs.journal(&tracefs, args.verbose);
    agent.run(signals.as_fd(), &journal, &|job| args.record(job, &log), &tell);
    Ok(Exit::Success)
}
