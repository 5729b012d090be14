//! The controller's side of `kvm` against an agent that is bytes: no machine with KVM is needed.

use super::{Answerer, Comparing};
use crate::control::network::transport::{Address, Stream};
use crate::control::tracefs::KvmFolders;
use crate::file::trace_dat::{ClockComparison, ClockSample};
use crossbeam_channel::unbounded;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use std::{fs, thread};

/// A TIME_SYNC message: header, name of the protocol, number, body.
fn message(protocol: &[u8; 4], number: u8, body: &[u8]) -> Vec<u8> {
    let size = (32 + body.len()) as u8;
    let header = [0, 0, 0, size, 0, 0, 0, 9, 0, 0, 0, 20];
    [&header[..], protocol, &[0; 12], &[0, 0, 0, number], body].concat()
}

fn numbers(numbers: [i64; 4]) -> Vec<u8> {
    numbers.map(i64::to_ne_bytes).concat()
}

#[track_caller]
fn expect(stream: &mut TcpStream, bytes: &[u8]) {
    let mut came = vec![0; bytes.len()];
    stream.read_exact(&mut came).unwrap();
    assert_eq!(came, bytes);
}

/// A host with a guest that has CID 3, and the offsets of its CPUs.
fn host(offsets: &[i64]) -> (tempfile::TempDir, KvmFolders) {
    let dir = tempfile::tempdir().unwrap();
    let put = |file: &str, text: &str| {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("proc/42/cmdline", "qemu-system-x86_64\0-device\0vhost-vsock-pci,guest-cid=3\0");
    for (cpu, offset) in offsets.iter().enumerate() {
        put(&format!("kvm/42-12/vcpu{cpu}/tsc-offset"), &format!("{offset}\n"));
    }
    let folders = KvmFolders { guests: dir.path().join("kvm"), processes: dir.path().join("proc") };
    (dir, folders)
}

#[test]
fn kvm_says_the_offset_of_each_cpu() {
    let (_dir, folders) = host(&[-1000, -1007]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Ip(listener.local_addr().unwrap());
    let agent = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for (round, time) in [(0, 500), (1, 90_000)] {
            for (cpu, offset) in [(0u16, 1000), (1, 1007)] {
                expect(&mut stream, &message(b"none", 1, &cpu.to_ne_bytes()));
                let time = time + i64::from(cpu);
                stream.write_all(&message(b"kvm\0", 1, &numbers([time, 0, 0, 0]))).unwrap();
                expect(&mut stream, &message(b"kvm\0", 2, &numbers([time, offset, 1, 0])));
            }
            assert!(round < 2);
        }
        expect(&mut stream, &message(b"none", 2, &[]));
    });
    let stream = Stream::connect(&address, Duration::from_secs(10)).unwrap();
    let comparing = Comparing::Kvm(folders.guest(3).unwrap(), "x86-tsc".to_owned());
    let mut answerer = Answerer::new(stream, comparing, 2).unwrap();
    answerer.round(&mut || Ok(())).unwrap();
    let (closing, closed) = unbounded();
    closing.send(()).unwrap();
    let compared = answerer.run(Duration::ZERO, &closed, 77);
    agent.join().unwrap();
    assert_eq!((compared.failed.clone(), compared.offset()), (None, Some(1000)));
    let shift = compared.shift.unwrap();
    let sample = ClockSample::new;
    let cpus = vec![vec![sample(500, 1000), sample(90_000, 1000)], vec![sample(501, 1007), sample(90_001, 1007)]];
    assert_eq!((shift.peer, shift.interpolate, shift.cpus), (77, false, cpus));
    let comparison = ClockComparison::Compared { host: "x86-tsc".to_owned(), error: Some(0), rounds: 2 };
    assert_eq!(compared.comparison, comparison);
}

#[test]
fn an_agent_with_more_cpus_than_kvm_knows_is_not_compared() {
    let (_dir, folders) = host(&[-1000]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Ip(listener.local_addr().unwrap());
    let agent = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for answer in [message(b"kvm\0", 1, &numbers([5, 0, 0, 0])), message(b"kvm\0", 1, &numbers([6, 0, 0, 0]))] {
            stream.write_all(&answer).unwrap();
        }
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let stream = Stream::connect(&address, Duration::from_secs(10)).unwrap();
    let comparing = Comparing::Kvm(folders.guest(3).unwrap(), "x86-tsc".to_owned());
    let mut answerer = Answerer::new(stream, comparing, 2).unwrap();
    let error = answerer.round(&mut || Ok(())).unwrap_err().to_string();
    assert!(error.contains("no CPU 1 of the guest"), "{error}");
    drop(answerer);
    agent.join().unwrap();
}
