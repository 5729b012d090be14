//! `--to ctf` and `--to ctf2`.

use super::origin::{RecordingOrigin, uname};
use super::progress::ConvertOutcome;
use crate::cli::exit::Failure;
use crate::cli::query::{QueryEvents, QueryInput, ShownNames};
use rtrace::export::{Ctf, CtfBuffer, CtfFile, CtfVersion};
use rtrace::internal::trace_dat::OptionId;
use rtrace::recording::BufferSource;
use std::io::Write;

/// Writes the events as a trace per recording, whose files are among the frames of `out`.
pub(super) fn write(
    events: &QueryEvents<'_>,
    version: CtfVersion,
    out: &mut (impl Write + Send),
) -> Result<ConvertOutcome, Failure> {
    let names = ShownNames::of(events);
    let several = events.inputs.len() > 1;
    let mut in_ticks = false;
    let file = |number: usize| -> Result<CtfFile<'_>, Failure> {
        let (input, origin) = (&events.inputs[number], RecordingOrigin::of(events, number)?);
        in_ticks |= origin.in_ticks;
        Ok(CtfFile {
            formats: input.formats().collect(),
            abi: input.trace.abi,
            comms: names.comms(number),
            directory: if several { format!("{number}/") } else { String::new() },
            host: names.host(&origin.host),
            kernel: origin.kernel,
            offset: origin.real_offset.unwrap_or_default(),
            uuid: uuid(input, origin.start.map_or(0, |start| start.0)),
        })
    };
    let files = (0..events.inputs.len()).map(file).collect::<Result<_, _>>()?;
    let buffer = |source: &BufferSource| CtfBuffer {
        file: source.recording,
        instance: Some(events.inputs[source.recording].trace.buffers[source.buffer].name.as_str())
            .filter(|name| !name.is_empty()),
    };
    let buffers = events.query.sources().iter().map(buffer).collect();
    let (state, outcome) = events.export(&names.shown(events, Ctf::new(version, files, buffers)), out)?;
    let found = state.inner().left_out();
    let list = [
        (found.unknown, "events that no format describes"),
        (found.absent, "fields that their records lack, which stand as 0 or empty"),
        (found.gaps, "numbers of lost events that are not known, which count as 1"),
    ];
    let list = list.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let ticks = in_ticks.then(|| "the unit of time: ticks stand as nanoseconds".to_owned());
    Ok(ConvertOutcome { events: outcome.events - found.unknown, left_out: list.chain(ticks).collect() })
}

/// Tells recordings apart; the same for the same one. A version 4 by its bits.
fn uuid(input: &QueryInput, start: u64) -> [u8; 16] {
    let id = input.trace.option(OptionId::TRACEID).map(|option| option.data.to_vec()).unwrap_or_default();
    let uname = uname(input);
    // FNV-1a, twice with other beginnings.
    let hash = |basis: u64| {
        let bytes = id.iter().chain(uname.as_bytes()).copied().chain(start.to_le_bytes());
        bytes.fold(basis, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    };
    let mut uuid = [0; 16];
    uuid[..8].copy_from_slice(&hash(0xcbf2_9ce4_8422_2325).to_be_bytes());
    uuid[8..].copy_from_slice(&hash(0x8422_2325_cbf2_9ce4).to_be_bytes());
    uuid[6] = uuid[6] & 0x0f | 0x40;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}
