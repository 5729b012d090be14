//! `rtrace setup-guest`.

use super::exit::{Exit, Failure, print};
use super::helper_programs::HelperPath;
use anyhow::{Context, anyhow};
use nix::unistd::Group;
use rtrace::internal::network::{FIFO_FOLDER, GuestFifos};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Output;

/// Ports of a virtio-serial device beside its own.
const PORTS: u32 = 30;

/// Create virtio-serial FIFOs for tracing a guest without a network
///
/// A pair of FIFOs for each of its CPUs, which `record -A` finds by the guest's name (trace-cmd's, too). The guest gets a
/// virtio-serial port for each: by the options of QEMU that are printed, or with -a in its configuration of libvirt.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace setup-guest -c 2 vm                        FIFOs, and the options of QEMU for them
  rtrace setup-guest -a vm                          also in libvirt's configuration, by virsh
  rtrace record -e sched -A vm@3 -e sched           data of the guest's CPUs through them")]
pub(crate) struct SetupGuestArgs {
    /// Name of the guest
    #[arg(value_name = "GUEST")]
    guest: String,
    /// Number of its CPUs [default: the most that virsh says it can have]
    #[arg(short, long, value_name = "CPUS", value_parser = clap::value_parser!(u32).range(1..=4096))]
    cpus: Option<u32>,
    /// Permissions of the FIFOs, in octal digits
    #[arg(short, long, value_name = "PERM", default_value = "660", value_parser = permissions)]
    permissions: u32,
    /// Group of the FIFOs, of which the emulator is to be
    #[arg(short, long, value_name = "GROUP")]
    group: Option<String>,
    /// Add the ports to the guest's configuration, by virsh; they are there when it is started again
    #[arg(short, long)]
    attach: bool,
    /// Make them below DIR; `record -A` looks at the default only
    #[arg(long, value_name = "DIR", default_value = FIFO_FOLDER, value_hint = clap::ValueHint::DirPath)]
    dir: PathBuf,
}

fn permissions(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text.trim_start_matches("0o"), 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "expected octal digits up to 777".to_owned())
}

pub(crate) fn run(args: &SetupGuestArgs) -> Result<Exit, Failure> {
    let named = GuestFifos::of(&args.dir, &args.guest);
    let fifos = named.ok_or_else(|| Failure::new(Exit::Usage, anyhow!("`{}` is no name of a guest", args.guest)))?;
    let group = match &args.group {
        None => None,
        Some(name) => match Group::from_name(name).context("failed to look for the group")? {
            Some(group) => Some(group.gid),
            None => return Err(Failure::new(Exit::Usage, anyhow!("there is no group {name}"))),
        },
    };
    let cpus = match args.cpus {
        Some(cpus) => cpus,
        None => maximum(&args.guest)?,
    };
    fifos.create(cpus, args.permissions, group).context("failed to make the FIFOs")?;
    let mut text = format!("{}: FIFOs of {cpus} CPUs\n", fifos.folder().display());
    if args.attach {
        for cpu in 0..cpus {
            attach(&args.guest, cpu, &fifos.path(cpu))?;
        }
        _ = writeln!(text, "{}: ports are in its configuration, and there when it is started", args.guest);
    } else {
        _ = write!(text, "QEMU connects them to the guest with\n{}", options(&fifos, cpus));
    }
    print(&text)
}

/// Options of QEMU for the ports, a line for each CPU.
fn options(fifos: &GuestFifos, cpus: u32) -> String {
    let mut text = String::new();
    for cpu in 0..cpus {
        // As QEMU has it, a comma in a value is written twice.
        let path = fifos.path(cpu).display().to_string().replace(',', ",,");
        let device = cpu / PORTS;
        if cpu % PORTS == 0 {
            _ = writeln!(text, "  -device virtio-serial,id=trace-serial{device} \\");
        }
        let end = if cpu + 1 < cpus { " \\" } else { "" };
        _ = writeln!(
            text,
            "  -chardev pipe,id=trace-cpu{cpu},path={path} \
             -device virtserialport,bus=trace-serial{device}.0,chardev=trace-cpu{cpu},name=trace-pipe-cpu{cpu}{end}"
        );
    }
    text
}

/// Runs virsh with `input` at its standard input.
fn virsh(words: &[&str], input: &str) -> Result<Output, Failure> {
    let run = || {
        let (input_end, mut ours) = io::pipe()?;
        // Less than a pipe holds.
        ours.write_all(input.as_bytes())?;
        drop(ours);
        let helpers = HelperPath::of_environment();
        let file = helpers.find("virsh").ok_or(io::ErrorKind::NotFound)?;
        helpers.command(&file).args(words).stdin(input_end).output()
    };
    let output = run().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::new(Exit::Unable, anyhow!("there is no virsh, which knows libvirt's guests"))
                .hint("`-c CPUS` without -a makes FIFOs for QEMU alone, and prints its options.")
        }
        _ => Failure::from(anyhow::Error::from(error).context("failed to run virsh")),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(Exit::Failed, anyhow!("virsh {} failed: {}", words.join(" "), said.trim())))
}

/// The most CPUs that the guest can have.
fn maximum(guest: &str) -> Result<u32, Failure> {
    let output = virsh(&["vcpucount", "--maximum", "--", guest], "")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let number = said.trim().parse().ok().filter(|cpus| (1..=4096).contains(cpus));
    number.ok_or_else(|| {
        Failure::new(Exit::Failed, anyhow!("virsh does not say how many CPUs {guest} has")).hint("`-c CPUS` does.")
    })
}

/// Adds a port to the guest's configuration.
fn attach(guest: &str, cpu: u32, path: &Path) -> Result<(), Failure> {
    let source = path.display().to_string().replace('&', "&amp;").replace('<', "&lt;").replace('\'', "&apos;");
    let xml = format!(
        "<channel type='pipe'>\n  <source path='{source}'/>\n  <target type='virtio' name='trace-pipe-cpu{cpu}'/>\n</channel>\n"
    );
    virsh(&["attach-device", "--config", "--", guest, "/dev/stdin"], &xml).map(drop)
}
