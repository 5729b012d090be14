#!/usr/bin/env python3
"""Checks `rtrace analyze requests --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_requests.py RTRACE FILE --begin EVENT --end EVENT [--carry EVENT] --by FIELDS [ARGUMENT...]

Each task's history becomes a list of states; each request a list of legs, whose states are looked up by cutting its span at every
change. Recordings with losses are passed over. Prints each difference; exit status 1 if there are any.
"""
import argparse
import json
import re
import sys

import account_events as account
from account_events import FILE, distribution, rtrace, same
from account_histories import USED, histories

PARSER = argparse.ArgumentParser()
for option in ("begin", "end", "by"):
    PARSER.add_argument(f"--{option}", required=True)
PARSER.add_argument("--carry")
ASKED, account.ARGUMENTS = PARSER.parse_known_args(account.ARGUMENTS)
MARKERS = ASKED.by == "marker"
SIDES = {"begin": ASKED.begin, "end": ASKED.end, "carry": ASKED.carry}
HANDLERS = {"irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit"}
LOCKS = {"contention_begin", "contention_end", "sys_enter_futex", "sys_exit_futex"}
PARTS = ("run", "wait", "preempted", "io", "locks", "blocked", "sleep", "queued", "unknown")


def left_out():
    """By buffer: threads whose events were left out."""
    found = {}
    for file in json.loads(rtrace("report", "--summary", "--format", "json", FILE))["coverage"]:
        for buffer in file["buffers"]:
            tasks = buffer["tasks"] or {}
            found[buffer["buffer"]] = set(tasks.get("not") or []) | set(tasks.get("own") or [])
    return found


def is_used(system, name):
    if system == "sched" and name in USED or system == "irq" and name in HANDLERS or name in LOCKS:
        return True
    return name == "block_rq_complete" or (name == "print" if MARKERS else f"{system}:{name}" in SIDES.values())


def key_of(side, event):
    """The key of an event, and the task that it names; None if it is none of that side."""
    at, cpu, current, _, system, name, fields = event
    if SIDES[side] is None:
        return None
    if MARKERS:
        if name != "print":
            return None
        before, star, after = SIDES[side].partition("*")
        pattern = re.escape(before) + (r"(\S+?)" + (re.escape(after) if after else r"(?=\s|$)") if star else r"(?!\w)()")
        found = re.match(pattern, fields["buf"])
        return found and ((found.group(1) if star else current), None)
    if f"{system}:{name}" != SIDES[side]:
        return None
    key, task = [], []
    for by in ASKED.by.split(","):
        names = by.split("=")
        field = names[0] if side == "begin" else names[-1] if side == "end" else names[min(2, len(names) - 1)]
        value = {"common_pid": current, "common_cpu": cpu}.get(field, fields.get(field))
        key.append(value)
        task += [value] if field == "pid" or field.endswith("_pid") else []
    return tuple(key), task[0] if len(task) == 1 else None


def states(events):
    """By task: (begin, end, state, wakeup) one after the other."""
    left = {(e[0], e[6]["prev_pid"]): e[6]["prev_state"] for e in events if e[5] == "sched_switch"}
    window, found = (events[0][0], events[-1][0]), {}
    for pid, (letters, notes) in histories(events).items():
        state, since, spans = "unknown", window[0], []
        for mark, (at, cpu, _, _) in zip(letters, notes):
            told, begins = state, None
            if mark in "WV":
                if state not in ("sleep", "blocked", "unknown"):
                    continue
                begins = "wait"
            elif mark in "IO":
                told = state if (state, mark) in (("wait", "I"), ("preempted", "I")) or state in ("gone", "unknown") else "unknown"
                begins = "run"
            elif mark in "SPX":
                told = state if state in ("run", "gone", "unknown") or mark == "X" and (at, pid) not in left else "unknown"
                if mark == "X" and (at, pid) not in left and state != "gone":
                    told = "unknown"
                blocked = mark == "S" and left[at, pid] & 2
                begins = {"P": "preempted", "X": "gone"}.get(mark, "blocked" if blocked else "sleep")
            elif mark == "F":
                told, begins = "unknown", "unknown"
            elif mark == "B":
                begins = "sleep"
            spans.append((since, at, told, (at, cpu) if mark in "WV" else None))
            state, since = begins, at
        found[pid] = spans + [(since, window[1], state, None)]
    return found


def causes(events):
    """Wakeups after a completion, by task; waits for locks, by task."""
    last, io, waits, on = {}, {}, {}, {}
    for at, cpu, current, _, _, name, fields in events:
        context = (current, flags(fields))
        if name == "block_rq_complete":
            last[cpu] = context if context[1] else None
        elif name == "sched_switch" or name in HANDLERS:
            last[cpu] = None
        elif name in ("sched_waking", "sched_wakeup"):
            if last.get(cpu) == context:
                io.setdefault(fields["pid"], set()).add(at)
        elif name in LOCKS and current:
            lock = fields.get("lock_addr") if name.startswith("contention") else "futex"
            held = on.setdefault(current, set())
            if name in ("contention_begin", "sys_enter_futex"):
                if not held:
                    waits.setdefault(current, []).append([at, None])
                held.add(lock)
            elif lock in held:
                held.discard(lock)
                if not held:
                    waits[current][-1][1] = at
    return io, waits


def flags(fields):
    value = fields["common_flags"]
    return (int(value, 0) if isinstance(value, str) else value) & 0x58


def requests(events):
    """Requests that began and ended, each (key, begin, end, threads, legs), and counts."""
    live, stacks, since, done = {}, {}, {}, []
    counts = dict.fromkeys(("begun_again", "without_begin", "ended_elsewhere"), 0)

    def pause(pid, at):
        if stacks.get(pid):
            stacks[pid][-1]["legs"].append((pid, since[pid], at))
        since[pid] = at

    def put_down(request, at):
        pid = request["carrier"]
        request["carrier"] = None
        if pid is not None:
            if stacks[pid][-1] is request:
                pause(pid, at)
            stacks[pid] = [one for one in stacks[pid] if one is not request]

    def take(request, pid, at):
        put_down(request, at)
        if pid:
            pause(pid, at)
            stacks.setdefault(pid, []).append(request)
            request["carrier"] = pid
            if pid not in request["threads"]:
                request["threads"].append(pid)

    for event in events:
        at, _, current = event[:3]
        own = current if not flags(event[6]) else None
        if ended := key_of("end", event):
            key, task = ended
            request = live.pop(key, None)
            if request is None:
                counts["without_begin"] += 1
            else:
                by = task if task is not None else own
                counts["ended_elsewhere"] += bool(by) and by != request["carrier"]
                put_down(request, at)
                done.append((key, request["begin"], at, request["threads"], request["legs"]))
        if carried := key_of("carry", event):
            request, pid = live.get(carried[0]), carried[1] if carried[1] is not None else own
            if request is not None and pid:
                take(request, pid, at)
        if began := key_of("begin", event):
            key, task = began
            if key in live:
                counts["begun_again"] += 1
                put_down(live[key], at)
            live[key] = {"begin": at, "threads": [], "legs": [], "carrier": None}
            take(live[key], task if task is not None else own, at)
    counts.update(requests=len(done), unfinished=len(live), censored=0, losses=0)
    return done, counts


def parts(request, of_tasks, io, waits):
    _, begin, end, _, legs = request
    times = dict.fromkeys(PARTS, 0)
    carried = 0
    for pid, since, until in legs:
        for first, last, state, woken in of_tasks.get(pid, []):
            first, last = max(first, since), min(last, until)
            if first >= last or state == "gone":
                continue
            if state in ("sleep", "blocked"):
                whole = next(span[0] for span in of_tasks[pid] if span[0] <= first and last <= span[1] and span[1] > span[0])
                if any(a <= whole and (b is None or whole < b) for a, b in waits.get(pid, [])):
                    state = "locks"
                elif woken and woken[0] in io.get(pid, ()):
                    state = "io"
            times[state] += last - first
            carried += last - first
    times["queued"] = end - begin - carried
    return times


def check(name, events, theirs):
    done, counts = requests(events)
    absent = LEFT_OUT.get("" if name == "top" else name, set())
    counts["uncovered"] = sum(bool(absent & set(request[3])) for request in done)
    done = [request for request in done if not absent & set(request[3])]
    counts["requests"] = len(done)
    same(f"{name} counts", counts, theirs["counts"])
    of_tasks, (io, waits) = states(events), causes(events)
    # Where completions, or waits for locks, were not recorded, the sleeps are others.
    names = {event[5] for event in events}
    for part, there in (("io", "block_rq_complete" in names and names & HANDLERS), ("locks", names & LOCKS)):
        if there:
            same(f"{name} {part} is told", False, any(row.get(part) is None for row in theirs["longest"]))
    rows = {(row["key"], row["begin"], row["end"]): row for row in theirs["longest"]}
    same(f"{name} rows", len(done), len(theirs["longest"]))
    by_part = {part: [] for part in PARTS}
    for request in done:
        key, begin, end, threads, _ = request
        text = str(key) if MARKERS else ",".join(map(str, key))
        row = rows.get((text, begin, end))
        if row is None:
            same(f"{name} request {text}", (begin, end), None)
            continue
        what, times = f"{name} request {text} {begin}..{end}", parts(request, of_tasks, io, waits)
        told = {part: row.get(part) for part in PARTS}
        same(f"{what} parts", times, {part: time or 0 for part, time in told.items()})
        same(f"{what} sum", end - begin, sum(times.values()))
        same(f"{what} span", end - begin, row["span"])
        same(f"{what} threads", (threads[0] if threads else None, len(threads)), (row.get("pid"), row["threads"]))
        for part, time in times.items():
            by_part[part].append(time)
    distribution(f"{name} spans", [end - begin for _, begin, end, _, _ in done], theirs["spans"][0]["times"])
    for row in theirs["parts"]:
        if row["part"] in ("io", "locks") and row.get("times") is None:
            same(f"{name} {row['part']} is not told", 0, sum(by_part[row["part"]]))
            continue
        distribution(f"{name} {row['part']}", by_part[row["part"]], row["times"])
    return len(done)


EVENTS = account.buffers(is_used)
EVENTS = {name: events for name, events in EVENTS.items() if any(key_of("begin", event) for event in events)}
WORDS = [word for option, value in vars(ASKED).items() if value for word in (f"--{option}", value)]
FOUND = rtrace("analyze", "requests", "--json", "--top", "0", *WORDS, *account.ARGUMENTS, FILE) if EVENTS else '{"buffers": []}'
FOUND = {buffer["buffer"]: buffer for buffer in account.answer(FOUND)["buffers"]}
LEFT_OUT = left_out() if EVENTS else {}
same("buffers", sorted(EVENTS), sorted(FOUND))
TOTAL = 0
if not account.lossy:
    TOTAL = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{TOTAL} requests, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
