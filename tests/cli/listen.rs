//! `rtrace listen`, with senders that are made here, byte by byte: trace-cmd's messages, and invalid ones.

use crate::common::bounded;
use crate::common::environment::TestEnvironment;
use crate::common::listening::Listening;
use rtrace::internal::network::wire::{Frame, Message, TraceInit};
use rtrace::internal::trace_dat::Trace;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A recording of trace-cmd's, in the pieces that its sender would send.
struct Pieces {
    file: PathBuf,
    metadata: Vec<u8>,
    /// Length of V1's metadata, which ends before the number of CPUs.
    v1: usize,
    cpus: Vec<Vec<u8>>,
}

const PAGE: usize = 4096;

fn pieces() -> Pieces {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces/i386/events-v6.dat");
    let bytes = fs::read(&file).unwrap();
    let find = |what: &[u8]| bytes.windows(what.len()).position(|window| window == what).unwrap();
    let (metadata, v1) = (bytes[..find(b"flyrecord\0")].to_vec(), find(b"options  \0") - 4);
    let trace = Trace::open(fs::File::open(&file).unwrap()).unwrap();
    let cpus = &trace.buffers[0].cpus;
    let cpus = cpus.iter().map(|cpu| bytes[cpu.offset as usize..][..cpu.size as usize].to_vec()).collect();
    Pieces { file, metadata, v1, cpus }
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn read(stream: &mut TcpStream, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// A V3 session up to the listener's ports.
fn v3(port: u16, cpus: u32, options: &[&str]) -> (TcpStream, Vec<u16>) {
    let mut stream = connect(port);
    assert_eq!(read(&mut stream, 8), b"tracecmd");
    // A byte at a time is as good.
    for byte in b"-1V3\0" {
        stream.write_all(&[*byte]).unwrap();
    }
    assert_eq!(read(&mut stream, 3), b"V3\0");
    stream.write_all(b"766679\0\0").unwrap();
    assert_eq!(read(&mut stream, 2), b"OK");
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    stream.write_all(&Message::TraceInit(TraceInit { cpus, page_size: PAGE as u32, options }).bytes()).unwrap();
    let header = read(&mut stream, 12);
    let size = u32::from_be_bytes(header[..4].try_into().unwrap()) as usize;
    let body = read(&mut stream, size - 12);
    assert_eq!(u32::from_be_bytes(header[4..8].try_into().unwrap()), 2);
    let ports = body[4..].split(|byte| *byte == 0).filter(|text| !text.is_empty());
    let ports: Vec<u16> = ports.map(|text| std::str::from_utf8(text).unwrap().parse().unwrap()).collect();
    assert_eq!(ports.len(), cpus as usize);
    (stream, ports)
}

fn send_metadata(stream: &mut TcpStream, metadata: &[u8]) {
    Message::data(metadata).for_each(|message| stream.write_all(&message).unwrap());
    stream.write_all(&Message::EndOfData.bytes()).unwrap();
}

fn send_data(pieces: &Pieces, ports: &[u16]) {
    for (data, port) in pieces.cpus.iter().zip(ports) {
        TcpStream::connect(("127.0.0.1", *port)).unwrap().write_all(data).unwrap();
    }
}

/// The only recording in `dir`.
fn only_file(dir: &Path) -> PathBuf {
    let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

fn report(file: &Path) -> String {
    let output = bounded::output(Command::new(env!("CARGO_BIN_EXE_rtrace")).arg("report").arg(file)).unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_was_sent_is_what_is_reported() {
    let pieces = pieces();
    let expected = report(&pieces.file);
    for how in ["V3 tcp", "V3 udp", "V1 tcp"] {
        let env = TestEnvironment::new();
        let mut listening = Listening::start(env.path(), &[]);
        let cpus = pieces.cpus.len() as u32;
        match how {
            "V3 tcp" => {
                // An unknown option is ignored.
                let (mut stream, ports) = v3(listening.port, cpus, &["tcp", "no-such-option"]);
                send_metadata(&mut stream, &pieces.metadata);
                send_data(&pieces, &ports);
                stream.write_all(&Message::Close.bytes()).unwrap();
            }
            "V3 udp" => {
                let (mut stream, ports) = v3(listening.port, cpus, &[]);
                send_metadata(&mut stream, &pieces.metadata);
                listening.says("records to");
                let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                for (data, port) in pieces.cpus.iter().zip(&ports) {
                    // In small groups, so that loopback loses none.
                    for group in data.chunks(8 * PAGE) {
                        for page in group.chunks(PAGE) {
                            socket.send_to(page, ("127.0.0.1", *port)).unwrap();
                        }
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
                stream.write_all(&Message::Close.bytes()).unwrap();
            }
            _ => {
                let mut stream = connect(listening.port);
                assert_eq!(read(&mut stream, 8), b"tracecmd");
                stream.write_all(format!("{cpus}\0{PAGE}\0").as_bytes()).unwrap();
                stream.write_all(b"1\x004\0TCP\0").unwrap();
                let mut text = Vec::new();
                while text.last() != Some(&0) {
                    text.extend(read(&mut stream, 1));
                }
                let text = String::from_utf8(text).unwrap();
                let ports: Vec<u16> = text.trim_end_matches('\0').split(',').map(|p| p.parse().unwrap()).collect();
                stream.write_all(&pieces.metadata[..pieces.v1]).unwrap();
                send_data(&pieces, &ports);
            }
        }
        listening.says(", complete");
        let (code, said) = listening.end();
        assert_eq!(code, Some(0), "{how}: {said}");
        let file = only_file(env.path());
        assert!(file.file_name().unwrap().to_str().unwrap().starts_with("trace.localhost:"), "{file:?}");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        // V1's description ends before the options: it has no clock and no offsets to tell.
        assert_eq!(report(&file), expected, "{how}");
    }
}

#[test]
fn a_file_is_read_while_it_grows_and_recovered_after_a_kill() {
    let pieces = pieces();
    let env = TestEnvironment::new();
    let mut listening = Listening::start(env.path(), &["-o", "guest"]);
    let (mut stream, ports) = v3(listening.port, pieces.cpus.len() as u32, &["tcp"]);
    send_metadata(&mut stream, &pieces.metadata);
    let line = listening.says("records to");
    let file = env.path().join(line.rsplit(' ').next().unwrap());
    assert!(file.file_name().unwrap().to_str().unwrap().starts_with("guest.localhost:"));
    send_data(&pieces, &ports);
    let count = || env.rtrace(&["report", "--count", file.to_str().unwrap()]).stdout();
    let until = std::time::Instant::now() + Duration::from_secs(60);
    while !count().contains("2324 in all") {
        assert!(std::time::Instant::now() < until, "{}", count());
        std::thread::sleep(Duration::from_millis(100));
    }
    listening.kill();
    env.rtrace(&["recover", file.to_str().unwrap()]);
    assert_eq!(only_file(env.path()), file);
    // The sender may have had more.
    let recovered = env.rtrace(&["report", file.to_str().unwrap()]);
    recovered.exits(4).complains_with("its ring buffer and its recorder still held");
    assert_eq!(recovered.stdout(), report(&pieces.file));
}

#[test]
fn senders_that_go_away_are_distinguished_from_those_that_are_done() {
    let pieces = pieces();
    let env = TestEnvironment::new();
    let mut listening = Listening::start(env.path(), &[]);
    let (mut stream, ports) = v3(listening.port, pieces.cpus.len() as u32, &["tcp"]);
    send_metadata(&mut stream, &pieces.metadata);
    send_data(&pieces, &ports);
    drop(stream);
    listening.says("2,324 events, INCOMPLETE: the sender went away without CLOSE");
    let (code, said) = listening.end();
    assert_eq!(code, Some(4), "{said}");
    let file = only_file(env.path());
    env.rtrace(&["report", "--count", file.to_str().unwrap()]).exits(4);
}

#[test]
fn nothing_beyond_the_size_allowed_and_the_sender_hears_of_it() {
    let pieces = pieces();
    let env = TestEnvironment::new();
    let mut listening = Listening::start(env.path(), &["--max-size", "2M"]);
    let (mut stream, ports) = v3(listening.port, pieces.cpus.len() as u32, &["tcp"]);
    send_metadata(&mut stream, &pieces.metadata);
    let mut data = TcpStream::connect(("127.0.0.1", ports[0])).unwrap();
    // Random enough not to shrink.
    let mut noise = vec![0; 8 << 20];
    let mut state = 1u64;
    noise.iter_mut().for_each(|byte| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *byte = (state >> 56) as u8;
    });
    // More than the sockets' buffers take while the listener waits for a processor.
    let sent = (0..8).try_for_each(|_| noise.chunks(PAGE).try_for_each(|page| data.write_all(page)));
    assert!(sent.is_err(), "the data connection is closed");
    stream.write_all(&Message::Close.bytes()).unwrap();
    let answer = read(&mut stream, 12);
    assert_eq!(answer, Message::NotSupported.bytes());
    listening.says("INCOMPLETE: the file is as large as --max-size allows");
    assert_eq!(listening.end().0, Some(4));
    assert!(fs::metadata(only_file(env.path())).unwrap().len() < 4 << 20);
}

#[test]
fn hostile_peers_cost_their_session_only() {
    let pieces = pieces();
    let env = TestEnvironment::new();
    let mut listening = Listening::start(env.path(), &["--max-sessions", "8"]);
    let port = listening.port;
    let garbage: &[&[u8]] = &[
        b"GET / HTTP/1.1\r\n\r\n\0",
        b"-1\0",
        b"99999999999999999999\0",
        b"-1V7\0-1V7\0",
        b"2\x000\x000\0",
        b"2\x004096\x001\x00999999\0",
        b"2\x004096\x001\x003\x00SSL",
        &[b'x'; 4000],
        b"-1V3\x00000000000",
        b"-1V3\x00766679\0\0\xff\xff\xff\xff\0\0\0\x01\0\0\0\0",
        b"-1V3\x00766679\0\0\0\0\0\x0b\0\0\0\x01\0\0\0\0",
        b"-1V3\x00766679\0\0\0\0\0\x18\0\0\0\x01\0\0\0\x0c\x7f\xff\xff\xff\0\0\x10\0\0\0\0\0",
        b"-1V3+rtrace-1\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ];
    let open = |name: &str| {
        let ring = rtrace::internal::network::wire::RingId { buffer: "../../x".to_owned(), cpu: 0 };
        let open = Frame::Open { id: 7, chunked: true, name: name.to_owned(), rings: vec![ring.clone(), ring] };
        [&b"-1V3+rtrace-1\0"[..], &open.bytes()].concat()
    };
    let frames = [open(""), open("../../etc/passwd.dat"), open("trace.localhost:1.dat"), open("/etc/passwd")];
    let mut refused = 0;
    for bytes in garbage.iter().copied().chain(frames.iter().map(Vec::as_slice)) {
        let mut stream = connect(port);
        stream.write_all(bytes).unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        listening.says("refused");
        refused += 1;
    }
    assert_eq!(refused, garbage.len() + 4);
    // Half-open ones take the places there are; more are turned away, and the places come back.
    let held: Vec<TcpStream> = (0..8).map(|_| connect(port)).collect();
    let mut turned_away = Vec::new();
    connect(port).read_to_end(&mut turned_away).unwrap();
    assert_eq!(turned_away, b"");
    drop(held);
    (0..9).for_each(|_| drop(listening.says("refused")));
    assert_eq!(fs::read_dir(env.path()).unwrap().count(), 0, "nothing is left of them");
    // One that wants more than half of what there is gets nothing, before anything is made for it.
    let rings = (0..10_000).map(|cpu| rtrace::internal::network::wire::RingId { buffer: String::new(), cpu }).collect();
    let open = Frame::Open { id: 7, chunked: true, name: String::new(), rings };
    for bytes in [[&b"-1V3+rtrace-1\0"[..], &open.bytes()].concat(), b"4096\x004096\x000\0".to_vec()] {
        let mut greedy = connect(port);
        greedy.write_all(&bytes).unwrap();
        let why = listening.says("one machine gets");
        assert!(why.contains("it needs 1"), "{why}");
        assert_eq!(fs::read_dir(env.path()).unwrap().count(), 0);
        assert!(ports_of(listening.pid()) < 10);
    }
    // Of one that has sent nothing when it goes there is nothing left either.
    let rings = vec![rtrace::internal::network::wire::RingId { buffer: String::new(), cpu: 0 }];
    let open = Frame::Open { id: 7, chunked: true, name: String::new(), rings };
    let mut early = connect(port);
    early.write_all(&[&b"-1V3+rtrace-1\0"[..], &open.bytes()].concat()).unwrap();
    listening.says("records to");
    drop(early);
    listening.says("it had sent nothing, and the file is removed");
    assert_eq!(fs::read_dir(env.path()).unwrap().count(), 0);
    // A stranger's data connection is not the sender's; the session goes on.
    let (mut stream, ports) = v3(port, pieces.cpus.len() as u32, &["tcp"]);
    send_metadata(&mut stream, &pieces.metadata);
    send_data(&pieces, &ports);
    stream.write_all(&Message::Close.bytes()).unwrap();
    listening.says("2,324 events, complete");
    assert_eq!(listening.end().0, Some(4), "one recording lacks all");
}

/// Number of sockets that a process has open.
fn ports_of(pid: nix::unistd::Pid) -> usize {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    open.filter(|fd| fs::read_link(fd.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))).count()
}

#[test]
fn who_may_connect_and_where_is_said() {
    let env = TestEnvironment::new();
    let mut listening = Listening::start(env.path(), &["--allow", "10.0.0.0/8"]);
    let mut answer = Vec::new();
    connect(listening.port).read_to_end(&mut answer).unwrap();
    assert_eq!(answer, b"");
    listening.says("its address is not allowed");
    let port = listening.port.to_string();
    env.rtrace(&["listen", "-p", &port]).exits(1).complains_with("Address already in use");
    // A listener that ends can be started again at once.
    assert_eq!(listening.end().0, Some(0));
    let again = Listening::start(env.path(), &["-p", &port]);
    assert_eq!(again.end().0, Some(0));
    env.rtrace(&["listen", "-p", "0", "-d", "no-such-dir"]).exits(2);
    env.rtrace(&["listen", "-p", "0", "-o", "../x"]).exits(2);
    env.rtrace(&["listen", "-p", "0", "--max-size", "0"]).exits(2).complains_with("leaves no room");
    env.rtrace(&["listen", "-p", "0", "--allow", "10.0.0.0/33"]).exits(2);
    for mixed in [&["-V", "--allow", "10.0.0.0/8"][..], &["--allow", "@3"]] {
        let line = [&["listen", "-p", "0"], mixed].concat();
        env.rtrace(&line).exits(2).complains_with("--allow names a peer that cannot connect");
    }
}

#[test]
fn in_the_background_it_says_how_it_is_ended() {
    let env = TestEnvironment::new();
    let out = env.rtrace(&["listen", "-p", "0", "-D", "-l", "log"]);
    let said = out.exits(0).stderr();
    let number = |before: &str, after: char| {
        let rest = said.split_once(before).and_then(|(_, rest)| rest.split_once(after));
        rest.and_then(|(number, _)| number.parse::<u16>().ok()).unwrap_or_else(|| panic!("{said}"))
    };
    let pid =
        said.split_once("`kill ").and_then(|(_, rest)| rest.split_once('`')).and_then(|(pid, _)| pid.parse().ok());
    let pid = nix::unistd::Pid::from_raw(pid.unwrap_or_else(|| panic!("{said}")));
    connect(number("listening on 127.0.0.1:", ';')).write_all(b"no greeting\0").unwrap();
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
    // Its new parent may not have taken its status yet.
    let is_over = || fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "));
    let since = std::time::Instant::now();
    while !is_over() {
        assert!(since.elapsed() < std::time::Duration::from_secs(60), "{pid} still runs");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(env.path().join("log").exists());
}

#[test]
fn a_script_reads_events_as_json_lines() {
    let pieces = pieces();
    let env = TestEnvironment::new();
    let log = env.path().join("log");
    let files = env.path().join("files");
    fs::create_dir(&files).unwrap();
    let listening = Listening::start(&files, &["--json", "-l", log.to_str().unwrap()]);
    connect(listening.port).write_all(b"GET / HTTP/1.1\r\n\0").unwrap();
    let (mut stream, ports) = v3(listening.port, pieces.cpus.len() as u32, &["tcp"]);
    send_metadata(&mut stream, &pieces.metadata);
    send_data(&pieces, &ports);
    stream.write_all(&Message::Close.bytes()).unwrap();
    let events = || {
        let text = fs::read_to_string(&log).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
    };
    let since = std::time::Instant::now();
    while !events().iter().any(|event| event["event"] == "ended") || events().len() < 4 {
        assert!(since.elapsed() < Duration::from_secs(60), "{:?}", events());
        std::thread::sleep(Duration::from_millis(10));
    }
    let address = format!("127.0.0.1:{}", listening.port);
    assert_eq!(listening.end().0, Some(0));
    let events = events();
    assert_eq!((&events[0]["schema"], &events[0]["address"]), (&"rtrace.listen".into(), &address.into()));
    assert!(events.iter().all(|event| event["time_ms"].is_u64()), "{events:?}");
    let one = |name: &str| events.iter().find(|event| event["event"] == name).unwrap_or_else(|| panic!("{events:?}"));
    assert!(one("refused")["why"].is_string());
    let (began, ended) = (one("began"), one("ended"));
    assert_eq!((&began["protocol"], &ended["events"]), (&"V3".into(), &2324.into()));
    assert_eq!((&began["file"], &ended["incomplete"]), (&ended["file"], &serde_json::Value::Null));
    assert_eq!(ended["size"], fs::metadata(only_file(&files)).unwrap().len());
}
