#!/usr/bin/env python3
"""Checks `rtrace analyze migrations --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_migrations.py RTRACE FILE [ARGUMENT...]

Each task's history is a string, in which regular expressions find the ways from one run to the next. Prints each difference; exit
status 1 if there are any.
"""
import re
import sys
from collections import Counter

import account_events as account
from account_events import ARGUMENTS, FILE, rtrace, same
from account_histories import buffers, histories


def arrivals(events):
    """(task, CPU before, CPU, what lay between)."""
    for pid, (letters, notes) in histories(events).items():
        for match in re.finditer("([SP])([WV]*)I", letters):
            before = "preempted" if match.group(1) == "P" else "woken" if match.group(2) else "asleep"
            yield pid, notes[match.start()][1], notes[match.end() - 1][1], before


def rows_of(moves, key):
    found = {}
    for move in moves:
        found.setdefault(key(move), Counter())[move[3]] += 1
    return found


def check(name, events, theirs):
    same(f"{name} window", {"begin": events[0][0], "end": events[-1][0]}, theirs["window"])
    every = list(arrivals(events))
    moves = [one for one in every if one[1] != one[2]]
    tables = (
        ("moves", rows_of(moves, lambda one: one[1:3]), lambda row: (row["from"], row["to"])),
        ("tasks", rows_of(moves, lambda one: one[0]), lambda row: row["pid"]),
    )
    for what, ours, key in tables:
        found = {key(row): row for row in theirs[what] if row["moves"]}
        same(f"{name} {what}", sorted(ours), sorted(found))
        for which in ours.keys() & found.keys():
            row = found[which]
            same(f"{name} {what} {which}", sum(ours[which].values()), row["moves"])
            for kind in ("woken", "preempted", "asleep"):
                same(f"{name} {what} {which} {kind}", ours[which][kind], row[kind])
    came = Counter(one[0] for one in every)
    same(f"{name} arrivals", dict(came), {row["pid"]: row["arrivals"] for row in theirs["tasks"]})
    return len(every)


EVENTS = {name: events for name, events in buffers().items() if any(arrivals(events))}
FOUND = rtrace("analyze", "migrations", "--json", "--top", "0", *ARGUMENTS, FILE) if EVENTS else '{"buffers": []}'
FOUND = {buffer["buffer"]: buffer for buffer in account.answer(FOUND)["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
ARRIVALS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{ARRIVALS} arrivals, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
