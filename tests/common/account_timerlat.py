#!/usr/bin/env python3
"""Checks `rtrace analyze timerlat --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_timerlat.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
import account_noise as noise
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

CONTEXTS = ("irq", "thread", "user")
SAMPLES = ("timerlat", "timerlat_sample")


def samples(events):
    """(place in `events`, CPU, number, context, latency); one that is recorded in both forms once."""
    last = {}
    for place, (_, cpu, _, _, _, event, fields) in enumerate(events):
        if event in SAMPLES:
            values = (fields["seqnum"], fields["context"], fields["timer_latency"])
            if last.get(cpu, (event, None))[0] != event and last[cpu][1] == values:
                last.pop(cpu)
                continue
            last[cpu] = (event, values)
            yield (place, cpu, *values)


def of_cpus(name, all_samples, theirs):
    same(f"{name} CPUs", sorted({sample[1] for sample in all_samples}), [row["cpu"] for row in theirs["cpus"]])
    for row in theirs["cpus"]:
        of_cpu = [sample for sample in all_samples if sample[1] == row["cpu"]]
        for nth, context in enumerate(CONTEXTS):
            times = [sample[4] for sample in of_cpu if sample[3] == nth]
            found = row["contexts"].get(context, {"times": {"count": 0}, "last": None})
            distribution(f"{name} CPU {row['cpu']} {context}", times, found["times"])
            same(f"{name} CPU {row['cpu']} last {context}", times[-1] if times else None, found["last"])
        order = [sample[3] for sample in of_cpu if sample[3] < 2] + [0]
        unfinished = sum(a == b == 0 for a, b in zip(order, order[1:]))
        same(f"{name} CPU {row['cpu']} unfinished", unfinished, row["unfinished"])


def parts(causes, timer, blocking, irq, thread, clock):
    """The parts of a latency by name, and the rest."""
    found = {kind: sum(one["duration"] for one in causes if one["kind"] == kind) for kind in ("nmi", "irq", "softirq", "thread")}
    found["timer_irq"] = timer["duration"] if timer else 0
    found["blocking"] = blocking["duration"] if blocking else 0
    found["irq"] -= found["timer_irq"]
    found["thread"] -= found["blocking"]
    found["irq_delay"] = None
    if clock == "local" and timer:
        found["irq_delay"] = max(0, timer["start"] - (irq[0] - irq[1]))
    return {**found, "rest": thread - sum(part or 0 for part in found.values())}


def taken_apart(events, all_samples, clock):
    """The sample that is shown."""
    found, opened = None, {}
    for place, cpu, seq, context, latency in all_samples:
        if context == 0:
            opened[cpu] = (place, seq, latency)
        elif context == 1 and cpu in opened:
            begin, number, irq = opened.pop(cpu)
            if number == seq and noise.is_it(found, "thread_latency", latency):
                found = {"seq": seq, "cpu": cpu, "irq_latency": irq, "thread_latency": latency, "place": (begin, place)}
    if found is None:
        return None
    begin, end = found.pop("place")
    cpu = found["cpu"]
    causes = [noise.noise(event[5], event[6]) for event in events[begin:end] if event[1] == cpu]
    causes = [cause for cause in causes if cause]
    timer = next((cause for cause in causes if cause["kind"] == "irq"), None)
    blocking = next((cause for cause in causes if cause["kind"] == "thread"), None)
    found.update({"irq_at": events[begin][0], "thread_at": events[end][0], "causes": causes})
    found.update({"timer_irq": timer and timer["cause"], "blocking": blocking and blocking["cause"]})
    found["partial"] = any(event[3] for event in events[begin + 1:end + 1] if event[1] == cpu)
    irq = (events[begin][0], found["irq_latency"])
    found["parts"] = parts(causes, timer, blocking, irq, found["thread_latency"], clock)
    found["stack"] = None
    # The reports' JSON has the addresses that the format declares, which are the first ones.
    for event in events[end + 1:]:
        if event[1] != cpu:
            continue
        if event[3] or event[5] in SAMPLES and event[6]["context"] == 0:
            break
        if event[5] == "kernel_stack" and event[2] == events[end][2]:
            found["stack"] = [hex(address) for address in event[6]["caller"] if address]
            break
    return found


def check(name, events, theirs):
    named = [event for event in events if event[5] and event[5] != "kernel_stack"]
    same(f"{name} window", {"begin": named[0][0], "end": named[-1][0]}, theirs["window"])
    same(f"{name} losses", sum(event[3] for event in events), theirs["losses"])
    all_samples = list(samples(events))
    of_cpus(name, all_samples, theirs)
    noise.interferences(name, events, theirs)
    shown, ours = theirs["sample"], taken_apart(events, all_samples, theirs["clock"])
    if ours and shown and ours["stack"] and shown["stack"]:
        shown["stack"] = shown["stack"][:len(ours["stack"])]
        # A name stands for any address: only their number is compared.
        pairs = zip(shown["stack"], ours["stack"])
        shown["stack"] = [found if found.startswith("0x") else address for found, address in pairs]
    if shown and shown["parts"] is not None:
        same(f"{name} sum of parts", shown["thread_latency"], sum(part or 0 for part in shown["parts"].values()))
    if ours and not any(noise.noise(event[5], event[6]) for event in events):
        ours["parts"] = None
    same(f"{name} sample", ours, shown)
    return len(named)


def is_used(system, name):
    samples_and_stack = (("ftrace", "timerlat"), ("osnoise", "timerlat_sample"), ("ftrace", "kernel_stack"))
    return (system, name) in samples_and_stack or noise.is_noise(system, name)


def has_samples(events):
    return any(event[5] in SAMPLES for event in events)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if has_samples(events)}
FOUND = account.answer(rtrace("analyze", "timerlat", "--json", "--top", "0", *noise.OPTIONS, *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
ALL = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"timerlat, {ALL} events, {account.differences} differences")
sys.exit(account.differences > 0)
