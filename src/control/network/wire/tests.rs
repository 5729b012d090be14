use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn header(bytes: &[u8]) -> Result<MessageHeader, WireError> {
    MessageHeader::read(bytes[..HEADER].try_into().unwrap())
}

fn read(bytes: &[u8]) -> Result<Message, WireError> {
    let header = header(bytes)?;
    Message::read(header, bytes.get(HEADER..HEADER + header.body).ok_or(WireError::Cut("a message"))?)
}

fn read_frame(bytes: &[u8]) -> Result<Frame, WireError> {
    Frame::read(FrameHeader::read(bytes[..16].try_into().unwrap())?, &bytes[16..])
}

/// As a trace-cmd 3.1.6 with two CPUs and TCP sent and received them.
#[test]
fn messages_seen_on_the_wire() {
    let hex = |text: &str| -> Vec<u8> {
        let text: String = text.split_whitespace().collect();
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let tinit = hex("0000001c 00000001 0000000c 00000002 00001000 00000001 74637000");
    let init = TraceInit { cpus: 2, page_size: 4096, options: vec!["tcp".to_owned()] };
    assert!(init.is_tcp());
    let rinit = hex("0000001a 00000002 00000004 00000002 3135303000 3135303100");
    for (message, bytes) in [
        (Message::TraceInit(init), tinit),
        (Message::Ports(vec![1500, 1501]), rinit),
        (Message::EndOfData, hex("0000000c 00000004 00000000")),
        (Message::Close, hex("0000000c 00000000 00000000")),
        (Message::NotSupported, hex("0000000c 00000005 00000000")),
    ] {
        assert_eq!(message.bytes(), bytes);
        assert_eq!(read(&bytes), Ok(message));
    }
    assert_eq!(Message::data(&[7; 8181]).map(|m| m.len()).collect::<Vec<_>>(), [8192, 13]);
}

#[test]
fn impossible_messages_are_refused() {
    let message = |size: u32, command: u32, fixed: u32, rest: &[u8]| {
        read(&[&size.to_be_bytes(), &command.to_be_bytes(), &fixed.to_be_bytes(), rest].concat())
    };
    for size in [0, 11, 8193, u32::MAX] {
        assert_eq!(message(size, 0, 0, &[]), Err(WireError::Size(size)));
    }
    assert_eq!(message(12, 0, 1, &[]), Err(WireError::FixedSize { size: 12, fixed: 1 }));
    assert_eq!(message(12, 77, 0, &[]), Ok(Message::Other(WireCommand(77))));
    let tinit = |cpus: u32, page: u32, options: u32, rest: &[u8]| {
        let numbers: Vec<u8> = [cpus, page, options].iter().flat_map(|n| n.to_be_bytes()).collect();
        message(24 + rest.len() as u32, 1, 12, &[&numbers, rest].concat())
    };
    assert!(tinit(1, 4096, 0, b"").is_ok());
    for (cpus, page, options, rest) in [
        (0, 4096, 0, &b""[..]),
        (i32::MAX as u32, 4096, 0, b""),
        (1, 0, 0, b""),
        (1, 4096, 1, b"tcp"),
        (1, 4096, 9, b"\0"),
    ] {
        assert!(tinit(cpus, page, options, rest).is_err(), "{cpus} {page} {options}");
    }
    for ports in [&b"1500"[..], b"0\0", b"-1\0", b"99999999999\0", b"65536\0", b"\0"] {
        assert!(message(16 + ports.len() as u32, 2, 4, &[&1u32.to_be_bytes(), ports].concat()).is_err(), "{ports:?}");
    }
    // A fixed part that is longer than known is skipped, a shorter one is filled up.
    assert_eq!(message(20, 2, 8, &[0; 8]), Ok(Message::Ports(vec![])));
    assert_eq!(message(12, 2, 0, &[]), Ok(Message::Ports(vec![])));
}

#[test]
fn impossible_requests_are_refused() {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let request = |values: &[u8]| {
        let size = 12 + 16 + values.len() as u32;
        read(&[&words(&[size, 6, 16, 0, 0, 0, 9])[..], values].concat())
    };
    assert_eq!(request(b""), Ok(Message::TraceRequest(TraceRequest { id: 9, ..TraceRequest::default() })));
    assert!(request(&words(&[77, 0])).is_ok(), "an unknown value is skipped");
    for values in [
        words(&[0, 5, 1]),                                  // longer than what there is
        words(&[0, 4, u32::MAX]),                           // more options than fit
        [&words(&[0, 6, 1])[..], b"-e"].concat(),           // no NUL
        [&words(&[1, 4])[..], b"ptp\0"].concat(),           // no end of the names
        [&words(&[0, 8, 1])[..], b"\xff\xfe\0\0"].concat(), // no text
    ] {
        assert!(request(&values).is_err(), "{values:?}");
    }
    let response = |cpus: u32, page: u32, ports: &[u8]| {
        let size = 12 + 40 + ports.len() as u32;
        read(&[&words(&[size, 7, 40, 0, cpus, page, 0, 9, 0, 0, 0, 0, 1500])[..], ports].concat())
    };
    assert!(response(1, 4096, b"1501\0").is_ok());
    for (cpus, page, ports) in [(0, 4096, &b""[..]), (1, 0, b"1\0"), (2, 4096, b"1\0"), (u32::MAX, 4096, b"1\0")] {
        assert!(response(cpus, page, ports).is_err(), "{cpus} {page} {ports:?}");
    }
    let probes = |count: u32| {
        let body = [&words(&[1, count])[..], &[0; 12 * 340]].concat();
        let size = 12 + 20 + body.len() as u32;
        read(&[&words(&[size, 9, 20])[..], b"ptp\0\0\0\0\0\0\0\0\0\0\0\0\0", &words(&[3]), &body].concat())
    };
    assert!(probes(339).is_ok() && probes(340).is_err() && probes(u32::MAX).is_err());
}

#[test]
fn greetings() {
    assert_eq!(Greeting::read(b"-1V3"), Ok(Greeting::V3));
    assert_eq!(Greeting::read(b"-1V3+rtrace-1"), Ok(Greeting::Ours));
    assert_eq!(Greeting::read(b"-1V3+rtrace-udp-1"), Ok(Greeting::Counted));
    assert_eq!(Greeting::read(b"-1V2"), Ok(Greeting::Unknown));
    assert_eq!(Greeting::read(b"-1V3+rtrace-2"), Ok(Greeting::Unknown));
    assert_eq!(Greeting::read(b"16"), Ok(Greeting::V1(16)));
    for wrong in [&b""[..], b"-1", b"0", b"8193", b"99999999999999999999", b"GET / HTTP/1.1", b"1 ", b"\xff"] {
        assert!(Greeting::read(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(version_answer(b"V3\0"), Ok(VersionAnswer::V3));
    assert_eq!(version_answer(OURS), Ok(VersionAnswer::Ours));
    assert_eq!(version_answer(COUNTED), Ok(VersionAnswer::Counted));
    assert_eq!(version_answer(b""), Ok(VersionAnswer::None));
    assert!(version_answer(b"V2\0").is_err());
}

#[test]
fn texts_of_v1() {
    assert_eq!(V1::print(&[1502, 1503]), b"1502,1503\0");
    assert_eq!(V1::read_ports(b"1502,1503"), Ok(vec![1502, 1503]));
    assert!(V1::read_ports(b"1502,").is_err());
    assert_eq!(V1::sizes(b"4096", b"1"), Ok((4096, 1)));
    assert!(V1::sizes(b"0", b"1").is_err() && V1::sizes(b"4096", b"-1").is_err());
    assert_eq!(V1::option_length(b"4"), Ok(4));
    assert!(V1::option_length(b"4097").is_err());
    assert!(V1::init(2, 4096, &[b"TCP\0".to_vec()]).unwrap().is_tcp());
    assert!(V1::init(2, 4096, &[b"SSL".to_vec()]).is_err());
}

#[test]
fn a_flipped_bit_in_a_frame_is_noticed() {
    let bytes = Frame::Chunk { ring: 3, at: 4, data: b"abcd".to_vec() }.bytes();
    for at in 8..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(matches!(read_frame(&damaged), Err(WireError::Checksum(_))), "{at}");
    }
    assert!(matches!(FrameHeader::read(&[0xff; 16]), Err(WireError::FrameSize(u32::MAX))));
}

fn sizes() -> impl Strategy<Value = RingSizes> {
    (any::<u64>(), vec(any::<u64>(), 0..5)).prop_map(|(file, rings)| RingSizes { file, rings })
}

fn frames() -> impl Strategy<Value = Frame> {
    let ring = ("[a-z/]{0,9}", any::<u32>()).prop_map(|(buffer, cpu)| RingId { buffer, cpu });
    prop_oneof![
        (any::<u64>(), any::<bool>(), "[^\0]{0,20}", vec(ring, 0..4))
            .prop_map(|(id, chunked, name, rings)| Frame::Open { id, chunked, name, rings }),
        (any::<u64>(), vec(any::<u8>(), 0..99)).prop_map(|(at, data)| Frame::File { at, data }),
        (any::<u32>(), any::<u64>(), vec(any::<u8>(), 0..99)).prop_map(|(ring, at, data)| Frame::Chunk {
            ring,
            at,
            data
        }),
        sizes().prop_map(Frame::End),
        Just(Frame::Alive),
        ("[^\0]{0,20}", sizes()).prop_map(|(name, sizes)| Frame::Opened { name, sizes }),
        sizes().prop_map(Frame::Stored),
        any::<u64>().prop_map(Frame::Done),
        ".{0,30}".prop_map(Frame::Failed),
    ]
}

fn kvm_clock([time, offset, scaling, fraction]: [i64; 4]) -> KvmClock {
    KvmClock { time, offset, scaling, fraction }
}

fn requests() -> impl Strategy<Value = Message> {
    let word = || "[a-z:*]{1,9}";
    let args = vec(word(), 0..9);
    let request = (any::<u32>(), any::<u64>(), args, vec(word(), 0..3), any::<bool>()).prop_map(
        |(flags, id, args, protocols, ours)| {
            let fifos = (id % 2 == 0).then_some(flags);
            TraceRequest { flags, id, args, protocols, ours, fifos }
        },
    );
    let response = (any::<u32>(), 1u32..1 << 20, any::<u64>(), "[a-z]{0,16}", any::<u32>(), vec(any::<u32>(), 1..99))
        .prop_map(|(flags, page_size, id, protocol, sync_port, ports)| {
            Message::TraceResponse(TraceResponse { flags, page_size, id, protocol, sync_port, ports })
        });
    let stamp = (any::<u64>(), any::<u32>()).prop_map(|(time, number)| ProbeStamp { time, number });
    let sync = prop_oneof![
        any::<u16>().prop_map(TimeSync::Measure),
        Just(TimeSync::Stop),
        (any::<u32>(), any::<u32>()).prop_map(|(series, flags)| TimeSync::Start { series, flags }),
        any::<u32>().prop_map(TimeSync::Probe),
        (any::<u32>(), vec(stamp, 0..=MAX_PROBES)).prop_map(|(series, stamps)| TimeSync::Probes { series, stamps }),
        (any::<u64>(), any::<i64>(), any::<Option<u64>>()).prop_map(|(time, offset, error)| TimeSync::Offset {
            time,
            offset,
            error
        }),
        Just(TimeSync::End),
        any::<[i64; 4]>().prop_map(|numbers| TimeSync::KvmRequest(kvm_clock(numbers))),
        any::<[i64; 4]>().prop_map(|numbers| TimeSync::KvmResponse(kvm_clock(numbers))),
    ];
    let refused = "[a-z]{1,99}".prop_map(Message::Refused);
    let proxy = (request.clone(), 0u32..8192, any::<u32>())
        .prop_map(|(request, cpus, siblings)| Message::TraceProxy(TraceProxy { request, cpus, siblings }));
    prop_oneof![
        request.prop_map(Message::TraceRequest),
        proxy,
        Just(Message::Continue),
        response,
        sync.prop_map(Message::TimeSync),
        refused
    ]
}

proptest! {
    #[test]
    fn requests_read_back(message in requests()) {
        prop_assert_eq!(read(&message.bytes()), Ok(message));
    }

    #[test]
    fn counts_read_back(cpu: u32, sub_buffers: u64, events: u64) {
        let count = Message::Count(RingCount { cpu, sub_buffers, events });
        prop_assert_eq!(read(&count.bytes()), Ok(count));
        let stamp = DatagramStamp { number: sub_buffers, events };
        let datagram = [&stamp.bytes()[..], b"sub-buffer"].concat();
        prop_assert_eq!(DatagramStamp::read(&datagram), Ok((stamp, &b"sub-buffer"[..])));
        prop_assert!(DatagramStamp::read(&datagram[..15]).is_err());
    }

    #[test]
    fn frames_read_back(frame in frames()) {
        prop_assert_eq!(read_frame(&frame.bytes()), Ok(frame));
    }

    #[test]
    fn messages_read_back(cpus in 1u32..8192, page_size in 1u32..1 << 20, options in vec("[a-z]{0,9}", 0..4), ports in vec(1u16.., 0..99)) {
        let init = Message::TraceInit(TraceInit { cpus, page_size, options });
        prop_assert_eq!(read(&init.bytes()), Ok(init));
        let ports = Message::Ports(ports);
        prop_assert_eq!(read(&ports.bytes()), Ok(ports));
    }

    #[test]
    fn any_bytes_have_an_answer(bytes in vec(any::<u8>(), 12..200)) {
        if let Ok(header) = header(&bytes) {
            let body = &bytes[HEADER..];
            let _ = Message::read(header, &body[..body.len().min(header.body)]);
        }
        let _ = Greeting::read(&bytes);
    }
}
