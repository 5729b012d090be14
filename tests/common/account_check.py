#!/usr/bin/env python3
"""Checks `rtrace check --json` against quantities made from the definitions of docs/reference/assertions.md alone.

    account_check.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. All durations are kept in lists. Prints each difference; exit status 1
if there are any.
"""
import json
import subprocess
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, RTRACE, same

NEEDED = {"min": 1, "max": 1, "mean": 1, "trimmed": 20, "sum": 0, "count": 0, "p50": 2, "p90": 10, "p99": 100, "p99.9": 1000, "p25": 2}

# Name, filter and key of each end.
PAIRS = {
    "latency(sched:sched_waking, sched:sched_switch, pid=next_pid)": (("sched_waking", None, "pid"), ("sched_switch", None, "next_pid")),
    "latency(sched:sched_wakeup, sched:sched_switch, comm=next_comm)": (
        ("sched_wakeup", None, "comm"), ("sched_switch", None, "next_comm")),
    "latency(sched:sched_switch if next_pid != 0, sched:sched_switch if prev_pid != 0, next_pid=prev_pid)": (
        ("sched_switch", lambda of: of["next_pid"] != 0, "next_pid"), ("sched_switch", lambda of: of["prev_pid"] != 0, "prev_pid")),
    "latency(irq:irq_handler_entry, irq:irq_handler_exit, common_cpu)": (
        ("irq_handler_entry", None, "cpu"), ("irq_handler_exit", None, "cpu")),
}
COUNTS = {
    "sched:sched_switch": lambda system, name, of: (system, name) == ("sched", "sched_switch"),
    "sched:sched_switch if prev_pid == 0 && next_prio <= 120": lambda system, name, of: (system, name) == ("sched", "sched_switch")
        and of["prev_pid"] == 0 and of["next_prio"] <= 120,
    "sched:sched_wak*": lambda system, name, of: system == "sched" and name.startswith("sched_wak"),
}


def durations(events, begin, end):
    """The durations, ascending, and the number of those that were on where events were lost."""
    found, on, cut = [], {}, 0
    for at, cpu, _pid, lost, _system, name, of in events:
        if lost:
            cut += len(on)
            on.clear()
        for (wanted, passes, key), ends in ((end, True), (begin, False)):
            if name != wanted or passes and not passes(of):
                continue
            value = cpu if key == "cpu" else of[key]
            if not ends:
                on[value] = at
            elif value in on:
                found.append(at - on.pop(value))
    return sorted(found), cut


def reduced(by, times):
    if by in ("count", "sum"):
        return {"count": len(times), "sum": sum(times)}[by]
    if len(times) < NEEDED[by]:
        return None
    if by in ("min", "max"):
        return {"min": times[0], "max": times[-1]}[by]
    if by == "mean":
        return sum(times) / len(times)
    if by == "trimmed":
        kept = times[len(times) // 20:len(times) - len(times) // 20]
        return sum(kept) / len(kept)
    share = round(float(by[1:]) * 10)
    return times[-(-len(times) * share // 1000) - 1]


def bounds(by, times, unknown):
    """The least and the most that it can be if that number of these are none, and as many others are missing; None is endless."""
    if unknown is None:
        return 0, None
    count, left = len(times), max(len(times) - unknown, 0)
    if by == "mean":
        return max(sum(times) - times[-1] * min(unknown, count), 0) / max(left + unknown, 1), None
    rank = -(-(left + unknown) * round(float(by[1:]) * 10) // 1000)
    low, high = rank - unknown, rank + min(unknown, count)
    return times[low - 1] if low > 0 else 0, times[high - 1] if high <= count else None


def near(ours, theirs, exact=True):
    if ours is None or theirs is None:
        return ours is theirs
    if exact:
        return abs(ours - theirs) <= 1e-9 * max(abs(ours), 1)
    return 0 <= theirs - ours <= ours / 1000 + 1


def lost_events():
    """The number of lost events as far as known, and of places where it is not."""
    lost = gaps = 0
    for line in account.rtrace("report", "--format", "json", *ARGUMENTS, FILE).splitlines():
        event = json.loads(line)
        if event["type"] == "lost":
            known = event.get("count")
            lost, gaps = lost + (known or 0), gaps + (known is None)
    return lost, gaps


def check(assertions, buffer):
    words = [word for text in assertions for word in ("--assert", text)]
    done = subprocess.run([RTRACE, "check", "--json", "--buffer", buffer, *words, *ARGUMENTS, FILE], stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3, 4):
        sys.exit(f"rtrace check: {done.returncode}")
    document = account.answer(done.stdout)
    return document["clock"], {one["assertion"]: one for one in document["assertions"]}


def main():
    every, compared = account.buffers(lambda system, name: True), 0
    lost, gaps = lost_events()
    for buffer, events in every.items():
        names = {(event[4], event[5]) for event in events}
        expected, limits = {}, {}
        for text, passes in COUNTS.items():
            if any(passes(system, name, {"prev_pid": 0, "next_prio": 0}) for system, name in names if name):
                count = sum(1 for event in events if event[5] and passes(event[4], event[5], event[6]))
                expected[f"count({text}) >= 0"] = (count, True)
                length = events[-1][0] - events[0][0]
                if length:
                    expected[f"rate({text}) >= 0/s"] = (count / length * 1e9, True)
        for text, (begin, end) in PAIRS.items():
            if not {begin[0], end[0]} <= {name for _, name in names}:
                continue
            times, cut = durations(events, begin, end)
            for by in NEEDED:
                limits[f"{by}({text}) >= 0ns"] = by, times, cut
                unit = "" if by == "count" else "ns"
                expected[f"{by}({text}) >= 0{unit}"] = (reduced(by, times), by not in ("trimmed", "p50", "p90", "p99", "p99.9", "p25") or len(times) <= 4096)
        expected["duration >= 0ns"] = (events[-1][0] - events[0][0], True)
        if len(every) == 1:
            expected["lost >= 0"] = (lost + gaps, True)
        clock, found = check(list(expected), buffer)
        for text, (ours, exact) in expected.items():
            theirs = found[text]["left"]
            if text.startswith(("count(sched", "rate")) and theirs is None and ours == 0:
                continue  # nothing passes the filter: that the event was recorded is another question
            if text.startswith("lost") and theirs["observed"] >= ours:
                continue  # the rings' counters know of more
            if theirs is None and clock in ("counter", "x86-tsc") and not text.startswith(("count", "lost")):
                continue  # ticks are no time
            observed = theirs and theirs["observed"]
            same(f"{buffer} {text} ({ours}, {observed})", True, near(ours, observed, exact))
            # Nothing passes that losses could have made so: each lost event may have ended an interval and begun another.
            if ours is not None and (lost or gaps) and text.startswith(("p", "mean")) and len(every) == 1:
                by, times, cut = limits[text]
                most_lost = found["lost >= 0"]["left"]["most"]
                least, most = bounds(by, times, None if most_lost is None else 2 * int(most_lost) + cut)
                slack = 1 if exact else 1.001
                low = theirs["least"] * slack >= least - 1 if most_lost is None else least / slack / 1.002 - 1 <= theirs["least"] <= least + 1
                high = (most is None) == (theirs["most"] is None) and (most is None or most - 1 <= theirs["most"] <= most * 1.002 + 1)
                same(f"{buffer} {text} least {least}, {theirs['least']}, most {most}, {theirs['most']}", (True, True), (low, high))
            compared += 1
    print(f"{FILE}, {compared} quantities, {account.differences} differences")
    sys.exit(account.differences > 0)


main()
