//! Any bytes as what a peer sends: an error, or a message, frame, greeting or stamp of a datagram that reads back as itself from what it prints.

use rtrace::internal::network::wire::{
    DatagramStamp, Frame, FrameHeader, Greeting, HEADER, Message, MessageHeader, V1, version_answer,
};

pub(crate) fn run(data: &[u8]) {
    let _ = (Greeting::read(data), version_answer(data), V1::option_length(data), V1::sizes(data, data));
    if let Ok(ports) = V1::read_ports(data) {
        let printed = V1::print(&ports);
        assert_eq!(V1::read_ports(printed.strip_suffix(b"\0").unwrap()), Ok(ports));
    }
    match DatagramStamp::read(data) {
        Ok((stamp, sub_buffer)) => assert_eq!([&stamp.bytes()[..], sub_buffer].concat(), data),
        Err(_) => assert!(data.len() < DatagramStamp::SIZE),
    }
    if let Some((header, body)) = data.split_first_chunk::<HEADER>()
        && let Ok(header) = MessageHeader::read(header)
        && let Some(body) = body.get(..header.body)
        && let Ok(message) = Message::read(header, body)
    {
        assert_eq!(read_message(&message.bytes()), Some(message));
    }
    if let Some((header, body)) = data.split_first_chunk::<{ FrameHeader::SIZE }>()
        && let Ok(header) = FrameHeader::read(header)
    {
        let whole = body.get(..header.body).and_then(|body| Frame::read(header, body).ok());
        // A checksum that fits is hard to guess: the same body with its own.
        let summed = header.with_sum_of(body);
        for frame in whole.into_iter().chain(Frame::read(summed, body).ok()) {
            assert_eq!(read_frame(&frame.bytes()), Some(frame));
        }
    }
}

fn read_message(bytes: &[u8]) -> Option<Message> {
    let (header, body) = bytes.split_first_chunk::<HEADER>()?;
    Message::read(MessageHeader::read(header).ok()?, body).ok()
}

fn read_frame(bytes: &[u8]) -> Option<Frame> {
    let (header, body) = bytes.split_first_chunk::<{ FrameHeader::SIZE }>()?;
    Frame::read(FrameHeader::read(header).ok()?, body).ok()
}
