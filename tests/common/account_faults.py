#!/usr/bin/env python3
"""Checks `rtrace analyze faults --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_faults.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Prints each difference; exit status 1 if there are any.
"""
import sys
from collections import Counter

import account_events as account
from account_events import ARGUMENTS, FILE, rtrace, same

KINDS = {"page_fault_user": "user", "page_fault_kernel": "kernel"}


def is_used(system, name):
    return system == "exceptions" and name in KINDS


def whole(value):
    return int(value, 0) if isinstance(value, str) else value


def check(name, events, theirs):
    faults = [event for event in events if event[5]]
    same(f"{name} window", {"begin": faults[0][0], "end": faults[-1][0]}, theirs["window"])
    same(f"{name} losses", sum(event[3] for event in events), theirs["losses"])
    codes = [{"code": code, **counts} for code, counts in theirs["codes"].items()]
    lists = (
        ("tasks", "pid", theirs["tasks"], lambda event: event[2]),
        ("places", "ip", theirs["places"], lambda event: f"{whole(event[6]['ip']):#x}"),
        ("pages", "page", theirs["pages"], lambda event: f"{whole(event[6]['address']) // 4096 * 4096:#x}"),
        ("codes", "code", codes, lambda event: f"{whole(event[6]['error_code']):#x}"),
    )
    for what, key, rows, of_event in lists:
        ours = Counter((of_event(event), KINDS[event[5]]) for event in faults)
        found = {(row[key], kind): row[kind] for row in rows for kind in KINDS.values() if row[kind]}
        same(f"{name} {what}", dict(ours), found)
        sizes = [row["user"] + row["kernel"] for row in rows]
        same(f"{name} order of {what}", True, what == "codes" or sizes == sorted(sizes, reverse=True))
    return len(faults)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if any(event[5] for event in events)}
FOUND = account.answer(rtrace("analyze", "faults", "--json", "--top", "0", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
FAULTS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{FAULTS} faults, {FAULTS} events, {account.differences} differences")
sys.exit(account.differences > 0)
