//! Sockets.

use crate::export::syscalls::kind::Set;

/// Bits of a socket's type, and flags of accept4, signalfd4 and timerfd_create under their names there.
pub(super) const SETS: &[(&str, Set)] = &[
    (
        "family",
        Set::values(&[
            (0, "AF_UNSPEC"),
            (1, "AF_UNIX"),
            (2, "AF_INET"),
            (10, "AF_INET6"),
            (15, "AF_KEY"),
            (16, "AF_NETLINK"),
            (17, "AF_PACKET"),
            (29, "AF_CAN"),
            (30, "AF_TIPC"),
            (31, "AF_BLUETOOTH"),
            (38, "AF_ALG"),
            (40, "AF_VSOCK"),
            (44, "AF_XDP"),
        ]),
    ),
    (
        "socktype",
        Set {
            mask: 0xf,
            values: &[
                (1, "SOCK_STREAM"),
                (2, "SOCK_DGRAM"),
                (3, "SOCK_RAW"),
                (4, "SOCK_RDM"),
                (5, "SOCK_SEQPACKET"),
                (10, "SOCK_PACKET"),
            ],
            bits: &[(0o4_000, "SOCK_NONBLOCK"), (0o2_000_000, "SOCK_CLOEXEC")],
        },
    ),
    ("sock", Set::bits(&[(0o4_000, "SOCK_NONBLOCK"), (0o2_000_000, "SOCK_CLOEXEC")])),
    ("signalfd", Set::bits(&[(0o4_000, "SFD_NONBLOCK"), (0o2_000_000, "SFD_CLOEXEC")])),
    ("timerfd", Set::bits(&[(0o4_000, "TFD_NONBLOCK"), (0o2_000_000, "TFD_CLOEXEC")])),
    (
        "msg",
        Set::bits(&[
            (0x1, "MSG_OOB"),
            (0x2, "MSG_PEEK"),
            (0x4, "MSG_DONTROUTE"),
            (0x8, "MSG_CTRUNC"),
            (0x20, "MSG_TRUNC"),
            (0x40, "MSG_DONTWAIT"),
            (0x80, "MSG_EOR"),
            (0x100, "MSG_WAITALL"),
            (0x800, "MSG_CONFIRM"),
            (0x2000, "MSG_ERRQUEUE"),
            (0x4000, "MSG_NOSIGNAL"),
            (0x8000, "MSG_MORE"),
            (0x1_0000, "MSG_WAITFORONE"),
            (0x400_0000, "MSG_ZEROCOPY"),
            (0x2000_0000, "MSG_FASTOPEN"),
            (0x4000_0000, "MSG_CMSG_CLOEXEC"),
        ]),
    ),
    ("shutdown", Set::values(&[(0, "SHUT_RD"), (1, "SHUT_WR"), (2, "SHUT_RDWR")])),
    (
        "sol",
        Set::values(&[
            (0, "SOL_IP"),
            (1, "SOL_SOCKET"),
            (6, "SOL_TCP"),
            (17, "SOL_UDP"),
            (41, "SOL_IPV6"),
            (263, "SOL_PACKET"),
            (270, "SOL_NETLINK"),
        ]),
    ),
];

/// asm-generic/socket.h; sparc, parisc, mips and alpha have others.
const SOCKET: Set = Set::values(&[
    (1, "SO_DEBUG"),
    (2, "SO_REUSEADDR"),
    (3, "SO_TYPE"),
    (4, "SO_ERROR"),
    (5, "SO_DONTROUTE"),
    (6, "SO_BROADCAST"),
    (7, "SO_SNDBUF"),
    (8, "SO_RCVBUF"),
    (9, "SO_KEEPALIVE"),
    (10, "SO_OOBINLINE"),
    (12, "SO_PRIORITY"),
    (13, "SO_LINGER"),
    (15, "SO_REUSEPORT"),
    (16, "SO_PASSCRED"),
    (17, "SO_PEERCRED"),
    (20, "SO_RCVTIMEO_OLD"),
    (21, "SO_SNDTIMEO_OLD"),
    (25, "SO_BINDTODEVICE"),
    (26, "SO_ATTACH_FILTER"),
    (29, "SO_TIMESTAMP_OLD"),
    (30, "SO_ACCEPTCONN"),
    (31, "SO_PEERSEC"),
    (32, "SO_SNDBUFFORCE"),
    (33, "SO_RCVBUFFORCE"),
    (36, "SO_MARK"),
    (38, "SO_PROTOCOL"),
    (39, "SO_DOMAIN"),
    (46, "SO_BUSY_POLL"),
    (50, "SO_ATTACH_BPF"),
    (60, "SO_ZEROCOPY"),
]);

const TCP: Set = Set::values(&[
    (1, "TCP_NODELAY"),
    (2, "TCP_MAXSEG"),
    (3, "TCP_CORK"),
    (4, "TCP_KEEPIDLE"),
    (5, "TCP_KEEPINTVL"),
    (6, "TCP_KEEPCNT"),
    (7, "TCP_SYNCNT"),
    (9, "TCP_DEFER_ACCEPT"),
    (11, "TCP_INFO"),
    (12, "TCP_QUICKACK"),
    (13, "TCP_CONGESTION"),
    (18, "TCP_USER_TIMEOUT"),
    (23, "TCP_FASTOPEN"),
]);

const IP: Set = Set::values(&[
    (1, "IP_TOS"),
    (2, "IP_TTL"),
    (8, "IP_PKTINFO"),
    (10, "IP_MTU_DISCOVER"),
    (11, "IP_RECVERR"),
    (12, "IP_RECVTTL"),
    (32, "IP_MULTICAST_IF"),
    (33, "IP_MULTICAST_TTL"),
    (34, "IP_MULTICAST_LOOP"),
    (35, "IP_ADD_MEMBERSHIP"),
]);

const NUMBERS: Set = Set::values(&[]);

/// The options of a level.
pub(in crate::export::syscalls) fn socket_option(level: u64) -> Set {
    match level & 0xffff_ffff {
        0 => IP,
        1 => SOCKET,
        6 => TCP,
        _ => NUMBERS,
    }
}
