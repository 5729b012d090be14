#!/usr/bin/env python3
"""Checks `rtrace analyze wakers --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_wakers.py RTRACE FILE [ARGUMENT...]

Each task's history is a string, in which regular expressions find wakeups. Prints each difference; exit status 1 if there are any.
"""
import re
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same
from account_histories import buffers, histories


def context(flags):
    if isinstance(flags, str):
        flags = int(flags, 0)
    return "irq" if flags & 0x48 else "softirq" if flags & 0x10 else "task"


def wakeups(events):
    """By waker's context, waker and woken task: (wakeup, run or None, CPUs of both)."""
    found = {}
    for pid, (letters, notes) in histories(events).items():
        for match in re.finditer("(?:^|[SLFBX])(W)[WV]*(I?)", letters):
            at, cpu, waker, flags = notes[match.start(1)]
            kind = context(flags)
            run = notes[match.start(2)] if match.group(2) else (None, None)
            key = (kind, waker if kind == "task" else None, pid)
            found.setdefault(key, []).append((at, run[0], cpu, run[1]))
    return found


def check(name, events, theirs):
    same(f"{name} window", {"begin": events[0][0], "end": events[-1][0]}, theirs["window"])
    ours = wakeups(events)
    rows = {(row["context"], row.get("waker"), row["pid"]): row for row in theirs["wakers"]}
    same(f"{name} pairs", sorted(map(str, ours)), sorted(map(str, rows)))
    for key in ours.keys() & rows.keys():
        row, runs = rows[key], [one for one in ours[key] if one[1] is not None]
        same(f"{name} {key} wakeups", len(ours[key]), row["wakeups"])
        distribution(f"{name} {key} delays", [run - at for at, run, _, _ in runs], row["delays"])
        same(f"{name} {key} elsewhere", sum(cpu != at for _, _, cpu, at in runs), row["elsewhere"])
        longest = max((run - at, -run) for at, run, _, _ in runs) if runs else None
        same(f"{name} {key} longest", -longest[1] if longest else None, row.get("longest", {}).get("at") if row.get("longest") else None)
    return sum(map(len, ours.values()))


EVENTS = {name: events for name, events in buffers().items() if wakeups(events)}
FOUND = rtrace("analyze", "wakers", "--json", "--top", "0", *ARGUMENTS, FILE) if EVENTS else '{"buffers": []}'
FOUND = {buffer["buffer"]: buffer for buffer in account.answer(FOUND)["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
WAKES = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{WAKES} wakeups, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
