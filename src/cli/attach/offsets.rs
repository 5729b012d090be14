//! The difference of a guest's counter and its host's: from the command line, or as KVM wrote it.

use super::vcpus::Vcpus;
use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::internal::trace_dat::ClockSample;
use rtrace::syntax::parse_int;
use std::path::Path;

/// `OFFSET[,SCALE,FRAC[,TS]]`: numbers as C writes them.
pub(super) fn sample(text: &str) -> Result<ClockSample, String> {
    let expected = || format!("expected OFFSET, OFFSET,SCALE,FRAC or OFFSET,SCALE,FRAC,TS in numbers, not `{text}`");
    let numbers: Result<Vec<i128>, _> = text.split(',').map(|word| parse_int(word.trim())).collect();
    let mut sample = ClockSample::new(0, 0);
    let small = |number: i128| u64::try_from(number).map_err(|_| expected());
    let (offset, more) = match numbers.map_err(|_| expected())?[..] {
        [offset] => (offset, None),
        [offset, scale, fraction] => (offset, Some((scale, fraction, 0))),
        [offset, scale, fraction, time] => (offset, Some((scale, fraction, time))),
        _ => return Err(expected()),
    };
    sample.offset = i64::try_from(offset).map_err(|_| expected())?;
    if let Some((scale, fraction, time)) = more {
        (sample.scaling, sample.fraction, sample.time) = (small(scale)?, small(fraction)?, small(time)?);
    }
    if sample.scaling == 0 || sample.fraction > 63 {
        return Err("SCALE is at least 1, and FRAC at most 63".to_owned());
    }
    Ok(sample)
}

/// Reasons why the offset of a CPU is not known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OffsetError {
    /// KVM wrote none while the host recorded.
    None,
    /// Not for this CPU, and not the same one for all others.
    Of(u32),
}

/// The offsets of a guest with `cpus` as KVM wrote them while the host recorded. The first one of a CPU counts for the time
/// before it, too. A CPU of which that is not known has that of the others, if they are of one mind.
pub(super) fn written(vcpus: &Vcpus, cpus: u32) -> Result<Vec<Vec<ClockSample>>, OffsetError> {
    let samples = |cpu: u32| {
        let mut samples: Vec<ClockSample> = Vec::new();
        for (time, offset) in vcpus.writes.get(&cpu).into_iter().flatten() {
            // The guest's counter at that moment, and the way back from it.
            let (time, back) = (time.wrapping_add_signed(*offset), offset.wrapping_neg());
            match samples.last() {
                Some(last) if last.offset == back => {}
                None => samples.push(ClockSample::new(0, back)),
                Some(_) => samples.push(ClockSample::new(time, back)),
            }
        }
        samples
    };
    let mut all: Vec<Vec<ClockSample>> = (0..cpus).map(samples).collect();
    let known: Vec<i64> = all.iter().filter_map(|samples| Some(samples.last()?.offset)).collect();
    let common = known.first().copied().ok_or(OffsetError::None)?;
    let agree = known.iter().all(|offset| *offset == common);
    for (cpu, samples) in all.iter_mut().enumerate().filter(|(_, samples)| samples.is_empty()) {
        if !agree {
            return Err(OffsetError::Of(cpu as u32));
        }
        samples.push(ClockSample::new(0, common));
    }
    Ok(all)
}

impl OffsetError {
    /// As a failure of the command, about the host's recording at `path`, by `clock`.
    pub(super) fn failure(&self, path: &Path, clock: &str) -> Failure {
        let path = path.display();
        let of = match self {
            OffsetError::None => String::new(),
            OffsetError::Of(cpu) => format!(" of the guest's CPU {cpu}"),
        };
        let what = format!("the difference of the clocks{of} is not known: {path} has no kvm_write_tsc_offset");
        Failure::new(Exit::Usage, anyhow!(what)).hint(match clock {
            "x86-tsc" => "`-s OFFSET` gives it: minus kvm/PID-FD/vcpuN/tsc-offset in the host's debugfs.",
            _ => "`-s OFFSET` gives it, in the unit of the clocks.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_numbers() {
        assert_eq!(sample("-5").unwrap(), ClockSample::new(0, -5));
        assert_eq!(sample("0x10").unwrap(), ClockSample::new(0, 16));
        let whole = ClockSample { time: 9, offset: 27950965013436847, scaling: 3, fraction: 32 };
        assert_eq!(sample("27950965013436847,3,32,9").unwrap(), whole);
        for wrong in
            ["", "x", "1,2", "1,2,3,4,5", "1,0,0", "1,1,64", "1,-1,0", "9223372036854775808", "1,1,1,-1", "1,,"]
        {
            assert!(sample(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn kvm_wrote_them() {
        let with = |writes: &[(u32, &[(u64, i64)])]| {
            let writes = writes.iter().map(|(cpu, writes)| (*cpu, writes.to_vec())).collect();
            written(&Vcpus { writes, ..Vcpus::default() }, 2)
        };
        let same = vec![ClockSample::new(0, 70)];
        assert_eq!(with(&[(0, &[(100, -70)])]).unwrap(), [same.clone(), same.clone()]);
        // Written twice: from that moment of the guest's on.
        let twice = vec![ClockSample::new(0, 70), ClockSample::new(160, 40)];
        assert_eq!(with(&[(0, &[(100, -70), (150, -70), (200, -40)]), (1, &[(99, -70)])]).unwrap(), [twice, same]);
        assert_eq!(with(&[]), Err(OffsetError::None));
        assert_eq!(with(&[(0, &[(1, -70)]), (1, &[(1, -71)])]).unwrap().len(), 2);
        let three = Vcpus { writes: [(0, vec![(1, -70)]), (1, vec![(1, -71)])].into(), ..Vcpus::default() };
        assert_eq!(written(&three, 3), Err(OffsetError::Of(2)));
    }
}
