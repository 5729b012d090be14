#!/usr/bin/env python3
"""Checks `rtrace analyze idle --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_idle.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Each CPU's history is a string, in which a regular expression finds visits of
idle states and the ways from them. Prints each difference; exit status 1 if there are any.
"""
import re
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

POWER = {"cpu_idle", "cpu_idle_miss", "cpu_frequency"}
EXIT = 0xFFFFFFFF


def is_used(system, name):
    return system == "power" and name in POWER or (system, name) == ("sched", "sched_switch")


def whole(value):
    return int(value, 0) if isinstance(value, str) else int(value)


def histories(events):
    """By CPU a letter for each event (B idle state begins, E ends, T switch from the idle task, L loss), and (time, state) of each."""
    cpus, begun = {}, set()
    for at, cpu, _, lost, _, name, fields in events:
        if lost and cpu in begun:
            cpus[cpu].append(("L", at, None))
        if name == "cpu_idle":
            of, state = whole(fields["cpu_id"]), whole(fields["state"])
            begun.add(of)
            cpus.setdefault(of, []).append(("E" if state == EXIT else "B", at, state))
        elif name == "sched_switch" and cpu in begun and fields["prev_pid"] == 0:
            cpus.setdefault(cpu, []).append(("T", at, None))
        elif name in POWER:
            begun.add(whole(fields["cpu_id"]))
            cpus.setdefault(whole(fields["cpu_id"]), [])
    return cpus


def spans(marks, begin, end):
    """(state or 'awake' or 'unknown', from, to) from the window's begin to its end."""
    found, since, state = [], begin, "unknown"
    last = begin
    for mark, at, number in marks:
        if mark == "L":
            found.append((state, since, max(last, since)))
            since, state = max(last, since), "unknown"
        elif mark in "BE":
            fits = state == "awake" if mark == "B" else isinstance(state, int)
            found.append((state if fits else "unknown", since, at))
            since, state, last = at, number if mark == "B" else "awake", at
    found.append((state, since, end))
    return found


def check(name, events, theirs):
    power = [event for event in events if event[5] in POWER]
    cpus = histories(events)
    letters = {cpu: "".join(mark for mark, _, _ in marks) for cpu, marks in cpus.items()}
    to_task = [cpus[cpu][match.end() - 1][1] for cpu, of in letters.items() for match in re.finditer("ET", of)]
    begin, end = power[0][0], max([power[-1][0], *to_task])
    same(f"{name} window", {"begin": begin, "end": end}, theirs["window"])
    same(f"{name} losses", sum(event[3] for event in events), theirs["losses"])
    switches = any(event[5] == "sched_switch" for event in events)
    rows = {row["cpu"]: row for row in theirs["cpus"]}
    states = {(row["cpu"], row["state"]): row for row in theirs["states"]}
    same(f"{name} CPUs", sorted(cpus), sorted(rows))
    visits = {}
    for cpu, marks in cpus.items():
        what, row = f"{name} CPU {cpu}", rows[cpu]
        of = spans(marks, begin, end)
        sums = {key: sum(b - a for state, a, b in of if state == key) for key in {state for state, _, _ in of}}
        idle = sum(time for state, time in sums.items() if isinstance(state, int))
        same(f"{what} times", (idle, sums.get("awake", 0), sums.get("unknown", 0)), (row["idle"], row["awake"], row["unknown"]))
        same(f"{what} sum", end - begin, idle + sums.get("awake", 0) + sums.get("unknown", 0))
        letters = "".join(mark for mark, _, _ in marks)
        for match in re.finditer("B(?=T*E)", letters):
            at = letters.index("E", match.start())
            visits.setdefault((cpu, marks[match.start()][2]), []).append(marks[at][1] - marks[match.start()][1])
        for state in sums:
            if isinstance(state, int) and (cpu, state) in states:
                same(f"{what} time in {state}", sums[state], states[cpu, state]["time"])
        same(f"{what} entries", sum(len(one) for (of, _), one in visits.items() if of == cpu), row["entries"])
        ways = [marks[match.end() - 1][1] - marks[match.start()][1] for match in re.finditer("ET", letters)]
        same(f"{what} for nothing", len(re.findall("E(?=B)", letters)) if switches else None, row["for_nothing"])
        if switches:
            distribution(f"{what} to task", ways, row["to_task"])
        else:
            same(f"{what} to task", None, row["to_task"])
    for key, row in states.items():
        distribution(f"{name} state {key}", visits.get(key, []), row["residency"])
        misses = [event[6] for event in events if event[5] == "cpu_idle_miss"
                  and (whole(event[6]["cpu_id"]), whole(event[6]["state"])) == key]
        below = sum(bool(fields["below"]) for fields in misses)
        same(f"{name} misses {key}", (len(misses) - below, below), (row["above"], row["below"]))
    same(f"{name} states", set(), visits.keys() - states.keys())
    frequencies, now = {}, {}
    for at, _, _, lost, _, what, fields in events:
        if lost:
            now = {}
        if what == "cpu_frequency":
            cpu, khz = whole(fields["cpu_id"]), whole(fields["state"])
            if cpu in now:
                frequencies[cpu, now[cpu][0]][0] += at - now[cpu][1]
            frequencies.setdefault((cpu, khz), [0, 0])[1] += 1
            now[cpu] = (khz, at)
    for cpu, (khz, since) in now.items():
        frequencies[cpu, khz][0] += end - since
    found = {(row["cpu"], row["khz"]): [row["time"], row["sets"]] for row in theirs["frequencies"]}
    same(f"{name} frequencies", frequencies, found)
    return len(power)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if any(event[5] in POWER for event in events)}
FOUND = rtrace("analyze", "idle", "--json", "--top", "0", *ARGUMENTS, FILE) if EVENTS else '{"buffers": []}'
FOUND = {buffer["buffer"]: buffer for buffer in account.answer(FOUND)["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
COUNT = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{COUNT} power events, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
