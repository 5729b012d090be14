#!/usr/bin/env python3
"""Checks `rtrace analyze map` against an account made from the definitions of docs/reference/analyses.md alone.

    account_map.py RTRACE FILE [ARGUMENT...]

A CPU's stays lie between its own switches; whether one is believed, its task's history says, a string of letters. Then the text's columns are
drawn again from these stays. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, rtrace, same
from account_histories import buffers, histories


def marks_of(events):
    """By CPU: [begin, end, task] in order, as its own events tell."""
    cpus, seen = {}, {}
    for at, cpu, current, lost, _, name, fields in events:
        stays = cpus.setdefault(cpu, [])
        if lost and stays:
            stays[-1][1] = seen[cpu]
        if lost or not stays:
            stays.append([at, None, current])
        seen[cpu] = at
        if name == "sched_switch":
            stays[-1][1] = at
            stays.append([at, None, fields["next_pid"]])
    for stays in cpus.values():
        stays[-1][1] = events[-1][0] if stays[-1][1] is None else stays[-1][1]
    return cpus


def believed(events):
    """(time, CPU, task) of arrivals after which no event says otherwise, by the end that this asks for."""
    found = {}
    for pid, (letters, notes) in histories(events).items():
        kept = [(mark, note) for mark, note in zip(letters, notes) if mark not in "WV"]
        for (mark, note), (after, then) in zip(kept, [*kept[1:], (None, None)]):
            if mark in "IO":
                end = (then[0], then[1]) if after and after in "SPX" else True if after in (None, "L") else False
                found.setdefault((note[0], note[1], pid), []).append(end)
    return found


def stays_of(events):
    """(begin, CPU, task or None, time), without gaps, in order."""
    begin, end, asked, found = events[0][0], events[-1][0], believed(events), []
    for cpu, stays in marks_of(events).items():
        pieces, until = [], begin
        for since, to, task in [*stays, [end, end, None]]:
            ends = asked.get((since, cpu, task), [True]) if task else [True]
            told = True in ends or (to, cpu) in ends
            pieces += [(until, since, None), (since, to, task if told else None)]
            until = max(to, since)
        joined = []
        for since, to, task in pieces:
            if to <= since:
                continue
            if joined and joined[-1][2] is None and task is None:
                joined[-1][1] = to
            else:
                joined.append([since, to, task])
        found += [(since, cpu, task, to - since) for since, to, task in joined]
    return sorted(found, key=lambda one: one[:2])


def drawn(stays, cpus, codes):
    """The columns of each line of text."""
    now = {cpu: "?" for cpu in cpus}
    for _, cpu, task, _ in stays:
        now[cpu] = codes[task]
        yield [("*" if one == cpu else "") + now[one] for one in cpus]


def check(name, events, theirs):
    same(f"{name} window", {"begin": events[0][0], "end": events[-1][0]}, theirs["window"])
    ours, rows = stays_of(events), theirs["stays"]
    cpus = {event[1] for event in events}
    silent = [row for row in rows if row["cpu"] not in cpus]
    same(f"{name} CPUs without events", [], [row for row in silent if row["pid"] is not None])
    found = [(row["at"], row["cpu"], row["pid"], row["time"]) for row in rows if row["cpu"] in cpus]
    same(f"{name} stays", len(ours), len(found))
    for one, other in zip(ours, found):
        same(f"{name} stay", [one], [other])
    tasks = list(dict.fromkeys(task for _, _, task, _ in ours if task))
    codes = {task: chr(ord("A") + place % 26) + str(place // 26) for place, task in enumerate(tasks)} | {0: ".", None: "?"}
    for row in rows:
        same(f"{name} code", codes.get(row["pid"]), row["code"])
    sums = [(codes[task], task, sum(one[2] == task for one in ours), sum(one[3] for one in ours if one[2] == task)) for task in tasks]
    theirs = [(row["code"], row["pid"], row["stays"], row["run"]) for row in theirs["tasks"]]
    same(f"{name} tasks", [one[:2] for one in sums], [one[:2] for one in theirs])
    for one, other in zip(sums, theirs):
        # Of a task whose events were not recorded, stays on its CPU are seen, and others may be missing.
        same(f"{name} task", one[2:] if other[2] is not None else (None, None), other[2:])
    return codes, ours, silent, sorted(cpus | {row["cpu"] for row in silent})


EVENTS = buffers()
FOUND = rtrace("analyze", "map", "--json", "--top", "0", *ARGUMENTS, FILE) if EVENTS else '{"buffers": []}'
FOUND = {buffer["buffer"]: buffer for buffer in account.answer(FOUND)["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
CHECKED = [check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys())]
if len(CHECKED) == 1 and not CHECKED[0][2]:
    CODES, STAYS, _, CPUS = CHECKED[0]
    TEXT = rtrace("analyze", "map", "--top", "0", "--wide", *ARGUMENTS, FILE).decode(errors="replace")
    LINES = TEXT.partition("\nStays (")[2].partition("\n\n")[0].splitlines()[2:]
    same("lines", len(STAYS), len(LINES))
    for line, columns in zip(LINES, drawn(STAYS, CPUS, CODES)):
        same(f"line {line}", columns, line.split()[1 : 1 + len(CPUS)])
print(f"{sum(len(one[1]) for one in CHECKED)} stays, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
