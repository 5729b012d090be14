//! `rtrace listen`: a file for each machine that sends a recording.

use super::exit::{Exit, Failure};
use super::server;
use super::server::MessageLog;
use super::terminal::note;
use anyhow::{Context, anyhow};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rtrace::internal::network::listen::{ListenNotice, ListenOptions, Listener};
use rtrace::internal::network::{Address, Network};
use rtrace::record::Signals;
use rtrace::units::{ByteSize, parse_duration};
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

/// Take recordings from other machines
///
/// Writes a file for each sender: `rtrace record -N`, or trace-cmd's `record -N` (2.8 and newer; TCP and UDP data). Each file
/// is called NAME.HOST:PORT.dat after its sender, and `rtrace report` reads it while it grows. Ctrl-C ends the listener.
///
/// Nothing is encrypted and no sender is asked who it is: without --bind only this machine is listened to. Senders elsewhere
/// reach it best through a tunnel (`ssh -R 12345:localhost:12345 HOST`).
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ListenArgs {
    /// Listen on PORT (0: one that is free, and print it)
    #[arg(short, long, value_name = "PORT")]
    port: u16,
    /// Listen on this address of the machine; 0.0.0.0 or :: for all of them [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS", conflicts_with = "vsock")]
    bind: Option<IpAddr>,
    /// Take connections from this address or network only (10.0.0.0/8), or over vsock from this machine (@3); may be repeated
    #[arg(long, value_name = "CIDR|@CID")]
    allow: Vec<Network>,
    /// Listen over vsock: to guests of this machine, or in a guest to its host
    #[arg(short = 'V', long)]
    vsock: bool,
    /// Go to the background once it listens
    #[arg(short = 'D', long)]
    daemonize: bool,
    /// Write the files to DIR
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Begin the files' names with NAME
    #[arg(short, long, value_name = "NAME", default_value = "trace", value_parser = file_name)]
    output: String,
    /// Write what happens to FILE instead of standard error
    #[arg(short, long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Say how each sender sends, too: its rings, and the ports of its data
    ///
    /// With trace-cmd's levels: `info` and beyond say it, and so does --verbose alone.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "all",
          value_parser = says_all)]
    verbose: Option<bool>,
    /// A line of JSON for each event, on standard output or in the log FILE
    #[arg(long)]
    json: bool,
    /// Limit of one recording: what comes after it is not taken
    #[arg(long, value_name = "SIZE")]
    max_size: Option<ByteSize>,
    /// Limit of the recordings at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    max_sessions: u16,
    /// Time that an interrupted `rtrace record -N` gets to come back; then its file is completed with what came
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    wait: Duration,
}

const EXAMPLES: &str = "\
Examples:
  Recordings of this machine's containers and guests with forwarded ports:
    rtrace listen -p 12345 -d recordings
  Of one network, at most 2 GiB each:
    rtrace listen -p 12345 --bind 0.0.0.0 --allow 10.1.0.0/16 --max-size 2G
  On the other machine:
    rtrace record -N 10.1.2.3:12345 -e sched -- ./server --once";

fn file_name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a name is needed".to_owned()),
        text if text.starts_with('.') || text.contains('/') => {
            Err("a name without directory is needed; -d chooses the directory".to_owned())
        }
        text => Ok(text.to_owned()),
    }
}

/// Levels of trace-cmd's log, by name and number: true from `info` on.
fn says_all(level: &str) -> Result<bool, String> {
    match level {
        "none" | "crit" | "err" | "warn" | "0" | "1" | "2" | "3" => Ok(false),
        "info" | "debug" | "all" | "4" | "5" | "6" => Ok(true),
        _ => Err("the levels are none, crit, err, warn, info, debug and all, or 0 to 6".to_owned()),
    }
}

/// An event of schema `rtrace.listen`, version 1.
fn facts(notice: &ListenNotice) -> Value {
    match notice {
        ListenNotice::Refused { peer, why } => json!({"event": "refused", "peer": peer.to_string(), "why": why}),
        ListenNotice::Began { peer, protocol, file, again } => json!({
            "event": if *again { "resumed" } else { "began" }, "peer": peer.to_string(),
            "protocol": protocol.to_string(), "file": file,
        }),
        ListenNotice::Agreed { peer, rings, data, datagrams } => json!({
            "event": "agreed", "peer": peer.to_string(), "rings": rings, "datagrams": datagrams,
            "sub_buffer": data.as_ref().map(|data| data.0), "ports": data.as_ref().map(|data| &data.1),
        }),
        ListenNotice::Interrupted { file, why } => json!({"event": "interrupted", "file": file, "why": why}),
        ListenNotice::Ended(ended) => json!({
            "event": "ended", "file": ended.file, "size": ended.size, "events": ended.events,
            "incomplete": ended.incomplete,
        }),
        other => json!({"event": "other", "text": other.to_string()}),
    }
}

/// Raises the limit of open files to that which the administrator set: each ring of a sender is one.
fn as_many_files_as_allowed() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard); // with less there is room for less
    }
}

/// Serves until a signal ends it.
pub(crate) fn run(args: &ListenArgs) -> Result<Exit, Failure> {
    if args.allow.iter().any(|network| network.is_vsock() != args.vsock) {
        let error = anyhow!("--allow names a peer that cannot connect");
        return Err(
            Failure::new(Exit::Usage, error).hint("over vsock (-V) peers are @CID, else addresses and networks.")
        );
    }
    if args.max_size == Some(ByteSize(0)) {
        return Err(Failure::new(Exit::Usage, anyhow!("--max-size 0 leaves no room for any recording")));
    }
    if !args.dir.is_dir() {
        let error = anyhow!("failed to listen: {} is not a directory", args.dir.display());
        return Err(Failure::new(Exit::Usage, error));
    }
    let options = ListenOptions {
        dir: args.dir.canonicalize().with_context(|| format!("failed to look at {}", args.dir.display()))?,
        name: args.output.clone(),
        max_size: args.max_size,
        max_sessions: args.max_sessions.into(),
        allow: args.allow.clone(),
        wait: args.wait,
    };
    let bind = args.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let address = match args.vsock {
        true => Address::Vsock { cid: Address::ANY, port: args.port.into() },
        false => Address::Ip(SocketAddr::new(bind, args.port)),
    };
    as_many_files_as_allowed();
    let listener = Listener::bind(address, options).with_context(|| format!("failed to listen on {address}"))?;
    let address = listener.address().context("failed to listen")?;
    let log = MessageLog::open(args.log.as_deref(), args.json)?;
    if (args.vsock || !bind.is_loopback()) && args.allow.is_empty() {
        note!("rtrace: warning: everybody who reaches {address} can send recordings here (--allow says who may)");
    }
    // Before anybody can know that it listens.
    let signals = Signals::block().context("failed to wait for signals")?;
    note!("rtrace: listening on {address}; files go to {}", args.dir.display());
    if args.json {
        log.event(
            "",
            json!({
                "schema": "rtrace.listen", "version": 1, "event": "listening", "address": address.to_string(),
                "dir": args.dir.to_string_lossy(),
            }),
        );
    }
    if args.daemonize {
        // Before the first thread.
        if let Some(exit) = server::go()? {
            return Ok(exit);
        }
    }
    let verbose = args.verbose == Some(true);
    let tell = |notice: &ListenNotice| {
        if verbose || !matches!(notice, ListenNotice::Agreed { .. }) {
            log.event(&notice.to_string(), facts(notice));
        }
    };
    match listener.run(signals.as_fd(), &tell) {
        0 => Ok(Exit::Success),
        1 => Err(Failure::new(Exit::Incomplete, anyhow!("one recording is incomplete"))),
        some => Err(Failure::new(Exit::Incomplete, anyhow!("{some} recordings are incomplete"))),
    }
}
