//! FIFOs between a host and its guest: a virtio-serial port per CPU, by which data gets to the host without any network.
//!
//! On the host a pair of FIFOs per CPU, `DIR/GUEST/trace-pipe-cpuN.in` and `.out`, which the emulator keeps open; in the guest
//! the port `/dev/virtio-ports/trace-pipe-cpuN`, which it connects with them. Names are trace-cmd's.
//!
//! As the emulator keeps them open, a FIFO has no end, and holds what a session that was killed has left. Between two of ours
//! the data begins with a [mark](super::wire::FifoMark), and the agent says at the end how much it has sent. An agent of
//! trace-cmd's does neither: there all that is in the FIFOs when it answers is dropped, and the end is
//! that nothing comes any more once it has answered CLOSE.

mod host;

pub(super) use host::FifoReader;
pub use host::PORT_FOLDER;
pub use host::{FIFO_FOLDER, GuestFifos};
pub(super) use host::{GuestPort, open_ports};
