#!/usr/bin/env python3
"""Checks `rtrace analyze locks --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_locks.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Each task's begins, ends and stack traces of one lock between two losses are
taken by themselves. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same


def is_used(system, name):
    return system == "lock" and name in ("contention_begin", "contention_end") or (system, name) == ("ftrace", "kernel_stack")


def whole(value):
    return int(value, 0) if isinstance(value, str) else value


def signed(value):
    value = whole(value)
    return value - (1 << 32) if 1 << 31 <= value < 1 << 32 else value - (1 << 64) if value >= 1 << 63 else value


def follow(events):
    """Waits as (lock, flags, begin, end, pid, cpu, failed, nth, has a stack), and what is none."""
    counts = {"unfinished": 0, "without_begin": 0, "censored": 0, "losses": sum(event[3] for event in events)}
    part, lines = 0, {}
    stacks = {}
    for nth, (at, cpu, pid, lost, system, name, fields) in enumerate(events):
        part += lost
        task = (pid, cpu if pid == 0 else None, part)
        if name == "kernel_stack":
            stacks.setdefault(task, []).append(nth)
        elif name is not None:
            lock = whole(fields["lock_addr"])
            begins = name == "contention_begin"
            value = whole(fields["flags"]) if begins else signed(fields["ret"])
            lines.setdefault((task, lock), []).append((nth, at, cpu, begins, value))
    waits, every = [], {}
    for (task, lock), marks in lines.items():
        open_since = None
        for nth, at, cpu, begins, value in marks:
            if begins:
                open_since = open_since or (nth, at, value)
            elif open_since is None:
                counts["without_begin"] += 1
            else:
                waits.append((lock, open_since[2], open_since[1], at, task[0], cpu, value < 0, nth, open_since[0], task))
                every.setdefault(task, []).append((open_since[0], nth))
                open_since = None
        if open_since is not None:
            counts["unfinished" if task[2] == part else "censored"] += 1
            every.setdefault(task, []).append((open_since[0], len(events)))
    # A stack is that of the wait of its task that began last and goes on.
    with_stack = set()
    for task, found in stacks.items():
        for nth in found:
            within = [span for span in every.get(task, []) if span[0] < nth < span[1]]
            if within:
                with_stack.add(max(within))
    return [wait + ((wait[8], wait[7]) in with_stack,) for wait in waits], counts


def row(what, waits, theirs):
    waits = sorted(waits, key=lambda wait: wait[7])
    distribution(what, [wait[3] - wait[2] for wait in waits], theirs["waits"])
    same(f"{what} failed", sum(wait[6] for wait in waits), theirs["failed"])
    longest = max(waits, key=lambda wait: wait[3] - wait[2])
    right = {"time": longest[3] - longest[2], "at": longest[2], "pid": longest[4], "cpu": longest[5]}
    same(f"{what} longest", right, theirs["longest"])


def check(name, events, theirs):
    waits, counts = follow(events)
    used = [event[0] for event in events if event[5] and event[5] != "kernel_stack"]
    same(f"{name} window", {"begin": used[0], "end": used[-1]}, theirs["window"])
    same(f"{name} counts", counts, theirs["counts"])
    kinds = {row["flags"]: row["kind"] for row in theirs["kinds"]}
    lists = (
        ("kinds", lambda wait: wait[1], lambda row: row["flags"]),
        ("locks", lambda wait: (f"{wait[0]:#x}", kinds.get(wait[1])), lambda row: (row["address"], row["kind"])),
        ("tasks", lambda wait: wait[4], lambda row: row["pid"]),
    )
    for key, of_wait, of_row in lists:
        rows, ours = {}, {}
        for found in theirs[key]:
            rows.setdefault(of_row(found), []).append(found)
        for wait in waits:
            ours.setdefault(of_wait(wait), []).append(wait)
        same(f"{name} {key}", sorted(ours), sorted(rows))
        for which in ours.keys() & rows.keys():
            # Two flags may have one name: a mutex is spun for or not.
            if len(rows[which]) == 1:
                row(f"{name} {key} {which}", ours[which], rows[which][0])
            else:
                same(f"{name} {key} {which}", len(ours[which]), sum(row["waits"]["count"] for row in rows[which]))
    same(f"{name} with a stack", sum(wait[-1] for wait in waits), sum(row["waits"]["count"] for row in theirs["stacks"]))
    return len(waits)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if follow(events)[0]}
FOUND = account.answer(rtrace("analyze", "locks", "--json", "--top", "0", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
WAITS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{WAITS} waits, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
