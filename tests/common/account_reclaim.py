#!/usr/bin/env python3
"""Checks `rtrace analyze reclaim --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_reclaim.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Each task's begins and ends of one kind between two losses are taken by
themselves. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

STEMS = {
    "mm_vmscan_direct_reclaim": "direct", "mm_vmscan_memcg_reclaim": "cgroup", "mm_vmscan_node_reclaim": "node",
    "mm_vmscan_memcg_softlimit_reclaim": "softlimit", "mm_compaction": "compaction",
}
MARKS = {f"{stem}_{end}": (kind, end == "begin") for stem, kind in STEMS.items() for end in ("begin", "end")}
MARKS |= {"mm_vmscan_kswapd_wake": ("kswapd", True), "mm_vmscan_kswapd_sleep": ("kswapd", False)}


def is_used(system, name):
    return system in ("vmscan", "compaction") and name in MARKS


def stalls(events):
    """Stalls as (begin, end, task, kind, order, pages), and counts of what is none."""
    counts = {"unfinished": 0, "without_begin": 0, "censored": 0, "losses": sum(event[3] for event in events)}
    part, lines = 0, {}
    for nth, (at, _, pid, lost, _, name, fields) in enumerate(events):
        part += lost
        if name:
            kind, begins = MARKS[name]
            lines.setdefault((pid, kind, part), []).append((nth, at, begins, fields))
    found = []
    for (pid, kind, of), marks in lines.items():
        begun = None
        for nth, at, begins, fields in marks:
            if begins:
                begun = begun or (at, fields.get("order"))
            elif begun:
                found.append((begun[0], at, pid, kind, begun[1], fields.get("nr_reclaimed"), nth))
                begun = None
            elif kind != "kswapd":
                counts["without_begin"] += 1
        if begun:
            counts["unfinished" if of == part else "censored"] += 1
    return sorted(found, key=lambda one: one[6]), counts


def row(what, ours, theirs):
    distribution(f"{what} stalls", [end - begin for begin, end, *_ in ours], theirs["stalls"])
    pages = [one[5] for one in ours if one[5] is not None]
    same(f"{what} pages", sum(pages) if pages else None, theirs["pages"])
    same(f"{what} in vain", pages.count(0) if pages else None, theirs["in_vain"])
    orders = [one[4] for one in ours if one[4] is not None]
    same(f"{what} order", max(orders) if orders else None, theirs["max_order"])
    longest = max(end - begin for begin, end, *_ in ours)
    first = next(one for one in ours if one[1] - one[0] == longest)
    same(f"{what} longest", (first[0], first[2]), (theirs["longest"]["at"], theirs["longest"]["pid"]))


def check(name, events, theirs):
    found, counts = stalls(events)
    marks = [event[0] for event in events if event[5]]
    same(f"{name} window", {"begin": marks[0], "end": marks[-1]}, theirs["window"])
    for key, count in counts.items():
        same(f"{name} {key}", count, theirs[key])
    for what, of_stall, of_row in (
        ("kinds", lambda one: one[3], lambda row: row["kind"]),
        ("tasks", lambda one: one[2:4], lambda row: (row["pid"], row["kind"])),
    ):
        rows = {of_row(one): one for one in theirs[what]}
        ours = {}
        for one in found:
            ours.setdefault(of_stall(one), []).append(one)
        same(f"{name} {what}", sorted(map(str, ours)), sorted(map(str, rows)))
        for which in ours.keys() & rows.keys():
            row(f"{name} {what} {which}", ours[which], rows[which])
    return len(found)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if stalls(events)[0]}
FOUND = rtrace("analyze", "reclaim", "--json", "--top", "0", *ARGUMENTS, FILE) if EVENTS else '{"buffers": []}'
FOUND = {buffer["buffer"]: buffer for buffer in account.answer(FOUND)["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
STALLS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{STALLS} stalls, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
