#!/usr/bin/env python3
"""Checks `rtrace analyze osnoise --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_osnoise.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
import account_noise as noise
from account_events import ARGUMENTS, FILE, rtrace, same

COUNTS = ("hw", "nmi", "irq", "softirq", "thread")


def of_cpus(name, events, theirs):
    by_cpu, last = {}, {}
    for _, cpu, _, _, _, event, fields in events:
        if event in ("osnoise", "osnoise_sample"):
            values = [fields[key] for key in ("runtime", "noise", "max_sample", *(f"{one}_count" for one in COUNTS))]
            # The other form of the sample before it.
            if last.get(cpu, (event, None))[0] != event and last[cpu][1] == values:
                last.pop(cpu)
                continue
            last[cpu] = (event, values)
            by_cpu.setdefault(cpu, []).append(values)
    for row in theirs["cpus"]:
        periods = by_cpu.pop(row["cpu"], [])
        runtime, noise = (sum(values[nth] for values in periods) for nth in (0, 1))
        ours = {"cpu": row["cpu"], "periods": len(periods), "runtime_us": runtime, "noise_us": noise}
        ours["max_noise_us"] = max(values[1] for values in periods)
        ours["max_single_us"] = max(values[2] for values in periods)
        ours.update({one: sum(values[nth + 3] for values in periods) for nth, one in enumerate(COUNTS)})
        available = row.pop("available_percent")
        same(f"{name} CPU {row['cpu']}", ours, row)
        same(f"{name} available", True, abs(available - 100 * (runtime - noise) / runtime) < 1e-9)
    same(f"{name} other CPUs", {}, by_cpu)


def sample(name, events, theirs):
    since, lost, found = {}, {}, None
    for at, cpu, _, lost_before, _, event, fields in events:
        lost[cpu] = lost.get(cpu, False) or lost_before
        if noise.noise(event, fields):
            since.setdefault(cpu, []).append(noise.noise(event, fields))
        if event != "sample_threshold":
            continue
        length, start = fields["duration"], fields["start"]
        causes, partial = since.pop(cpu, []), lost.pop(cpu)
        if noise.is_it(found, "duration", length):
            causes = [one for one in causes if start <= one["start"] < start + length]
            parts = {kind: sum(one["duration"] for one in causes if one["kind"] == kind) for kind in COUNTS[1:]}
            parts["rest"] = length - sum(parts.values())
            found = {"at": at, "cpu": cpu, "start": start, "duration": length, "interferences": fields["interference"]}
            found.update({"parts": parts, "causes": causes, "partial": partial})
    same(f"{name} sample", found, theirs)


def check(name, events, theirs):
    named = [event for event in events if event[5]]
    same(f"{name} window", {"begin": named[0][0], "end": named[-1][0]}, theirs["window"])
    same(f"{name} losses", sum(event[3] for event in events), theirs["losses"])
    of_cpus(name, events, theirs)
    noise.interferences(name, events, theirs)
    sample(name, events, theirs["sample"])
    return len(named)


def is_used(system, name):
    samples = (("ftrace", "osnoise"), ("osnoise", "osnoise_sample"), ("osnoise", "sample_threshold"))
    return (system, name) in samples or noise.is_noise(system, name)


def has_samples(events):
    return any(event[5] in ("osnoise", "osnoise_sample") for event in events)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if has_samples(events)}
FOUND = account.answer(rtrace("analyze", "osnoise", "--json", "--top", "0", *noise.OPTIONS, *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
ALL = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"osnoise, {ALL} events, {account.differences} differences")
sys.exit(account.differences > 0)
