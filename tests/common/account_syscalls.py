#!/usr/bin/env python3
"""Checks `rtrace analyze syscalls --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_syscalls.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Each task's events are taken by themselves, calls are pairs of
neighbours among its entries and exits, and time off the CPU is summed up over the intervals between its switches. Prints each
difference; exit status 1 if there are any.
"""
import json
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same


def is_used(system, name):
    kinds = ("sys_enter", "sys_exit")
    return system == "raw_syscalls" and name in kinds or system == "syscalls" and name.startswith(("sys_enter_", "sys_exit_")) or (
        (system, name) == ("sched", "sched_switch"))


def signed(value):
    """As the kernel has it: a long, whatever its format says."""
    value = int(value, 0) if isinstance(value, str) else value
    return value - (1 << 64) if value >= 1 << 63 else value


def calls_of(events):
    """The marks of each task, and what came of them."""
    family = "raw_syscalls" if any(event[4] == "raw_syscalls" and event[5] for event in events) else "syscalls"
    marks, off, loss, away = {}, {}, [], {}
    for nth, (at, cpu, pid, lost, system, name, fields) in enumerate(events):
        if lost:
            loss.append(nth)
        if name == "sched_switch":
            prev, following = fields["prev_pid"], fields["next_pid"]
            away[prev] = (nth, at)
            if following in away:
                left = away.pop(following)
                off.setdefault(following, []).append((*left, nth, at))
        elif name and system == family:
            number = signed(next(fields[field] for field in ("id", "__syscall_nr", "nr") if field in fields))
            result = signed(fields["ret"]) if name.startswith("sys_exit") else None
            marks.setdefault(pid, []).append((nth, at, cpu, number, result))
    calls, counts = [], {"unfinished": 0, "without_entry": 0, "censored": 0, "losses": len(loss)}

    def lost_between(first, last):
        return any(first < nth <= last for nth in loss)

    for pid, own in marks.items():
        before = None
        for mark in own + [None]:
            if before is not None and before[4] is None:
                end = len(events) if mark is None else mark[0]
                if lost_between(before[0], end):
                    counts["censored"] += 1
                    counts["without_entry"] += mark is not None and mark[4] is not None
                elif mark is None or mark[4] is None:
                    counts["unfinished"] += 1
                elif mark[3] != before[3]:
                    counts["unfinished"] += 1
                    counts["without_entry"] += 1
                else:
                    inside = [b - a for first, a, last, b in off.get(pid, []) if before[0] < first and last < mark[0]]
                    calls.append((before[3], pid, before[1], mark[1] - before[1], sum(inside), mark[4], mark[0]))
            elif mark is not None and mark[4] is not None:
                counts["without_entry"] += 1
            before = mark
    return calls, counts


def check(name, events, theirs):
    calls, counts = calls_of(events)
    used = [event[0] for event in events if event[5]]
    same(f"{name} window", {"begin": used[0], "end": used[-1]}, theirs["window"])
    same(f"{name} counts", counts, theirs["counts"])
    distribution(f"{name} times", [call[3] for call in calls], theirs["times"])
    has_switches = any(event[5] == "sched_switch" for event in events)
    numbers = {call["number"]: call for call in theirs["calls"]}
    same(f"{name} numbers", sorted({call[0] for call in calls}), sorted(numbers))
    for number, found in numbers.items():
        what = f"{name} call {number}"
        own = sorted((call for call in calls if call[0] == number), key=lambda call: call[6])
        distribution(what, [call[3] for call in own], found["times"])
        failed = [call[5] for call in own if -4095 <= call[5] < 0]
        same(f"{what} failed", len(failed), found["failed"])
        same(f"{what} errors", sorted(failed.count(error) for error in set(failed)), sorted(found["errors"].values()))
        same(f"{what} off CPU", sum(call[4] for call in own) if has_switches else None, found["off_cpu"])
        longest = max(own, key=lambda call: call[3])
        same(f"{what} longest", (longest[3], longest[2], longest[1]), tuple(found["longest"][key] for key in ("time", "at", "pid")))
    tasks = {task["pid"]: task for task in theirs["tasks"]}
    same(f"{name} tasks", sorted({call[1] for call in calls}), sorted(tasks))
    for pid, found in tasks.items():
        own = [call for call in calls if call[1] == pid]
        failed = sum(-4095 <= call[5] < 0 for call in own)
        right = (len(own), failed, sum(call[3] for call in own), sum(call[4] for call in own) if has_switches else None)
        same(f"{name} task {pid}", right, tuple(found[key] for key in ("calls", "failed", "time", "off_cpu")))
    return len(calls)


def has_calls(events):
    return any(calls_of(events)[0])


EVENTS = {name: events for name, events in account.buffers(is_used).items() if has_calls(events)}
FOUND = json.loads(rtrace("analyze", "syscalls", "--json", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
CALLS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{CALLS} calls, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
