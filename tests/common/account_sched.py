#!/usr/bin/env python3
"""Checks `rtrace analyze sched --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_sched.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Tasks are followed one after the other, CPUs by intervals, and what
both share by sweeping over the points of time: slowly, and in another way than the program does it. Prints each difference;
exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

WAKE = {"sched_waking", "sched_wakeup", "sched_wakeup_new"}
USED = WAKE | {"sched_switch", "sched_process_fork", "sched_migrate_task", "sched_stat_iowait"}
STATES = ["run", "wait", "preempted", "sleep", "blocked", "unknown"]


def buffers():
    """The scheduler's events, by buffer: (time, cpu, current task, lost before it, name, fields)."""
    found = account.buffers(lambda system, name: system == "sched" and name in USED)
    return {buffer: [event[:4] + event[5:] for event in events] for buffer, events in found.items()}


def reason(state):
    """Linux since 4.14: S D T t X Z P I, then the bit of the preempted."""
    if state & 0xFF == 0:
        return "preempted"
    if state & 0x30:
        return None
    return "blocked" if state & 2 else "sleep"


class Task:
    def __init__(self, pid, begin):
        self.pid, self.begin, self.end = pid, begin, begin
        self.marks = []


def marks_of(events):
    """The history of each task, in order."""
    begin, tasks, living, known = events[0][0], [], {}, {}

    def task(pid):
        if pid not in living:
            living[pid] = Task(pid, begin)
            tasks.append(living[pid])
        return living[pid]

    seen, runs, has_waking, begun = {}, {}, False, {}
    for at, cpu, current, lost, name, fields in events:
        if lost:
            begun.clear()
            for one in living.values():
                one.marks.append((at, "lost", cpu, seen.get(cpu, begin)))
            known[cpu] = False
        if not known.get(cpu):
            known[cpu], runs[cpu] = True, current
            if current:
                task(current).marks.append((at, "on", cpu, None))
        seen[cpu] = at
        if name == "sched_switch":
            prev, following = fields["prev_pid"], fields["next_pid"]
            if runs[cpu] not in (0, prev) and runs[cpu] in living:
                living[runs[cpu]].marks.append((at, "off", cpu, None))
            runs[cpu] = following
            if prev:
                left = reason(fields["prev_state"])
                task(prev).marks.append((at, "out", cpu, left))
                if left is None:
                    del living[prev]
            if following:
                task(following).marks.append((at, "in", cpu, None))
        elif name in WAKE and fields["pid"] and fields.get("success", 1):
            has_waking = has_waking or name == "sched_waking"
            waker = (current, cpu)
            if name == "sched_waking":
                begun[fields["pid"]] = waker
            elif has_waking and name == "sched_wakeup":
                # Who began the wakeup, which may have been before the task left its CPU.
                waker = begun.pop(fields["pid"], None)
            task(fields["pid"]).marks.append((at, "wake", fields.get("target_cpu", cpu), waker))
        elif name == "sched_process_fork":
            if fields["child_pid"] in living:
                living.pop(fields["child_pid"]).marks.append((at, "gone", cpu, None))
            living[fields["child_pid"]] = Task(fields["child_pid"], at)
            tasks.append(living[fields["child_pid"]])
            tasks[-1].marks.append((at, "born", cpu, None))
        elif name == "sched_migrate_task" and fields["pid"] in living:
            living[fields["pid"]].marks.append((at, "move", fields["dest_cpu"], None))
    return tasks


def close_wait(queued, state, on, since, at):
    if state in ("wait", "preempted"):
        queued.append((on, since, at))


def follow(task, end, queued, wrong):
    """The task's intervals, as (state, from, to, whole); notes in `queued` when it waits for which CPU, and in `wrong` since when
    it seemed to run on which CPU, and when an event contradicted that."""
    spans, state, since, on = [], "unknown", task.begin, None
    waits, longest, waker = [], None, None
    slices, preempted = [], []
    own = forced = moves = wakeups = 0
    ran_on = None

    def until(at, as_state=None):
        nonlocal since
        if at > since:
            spans.append((as_state or state, since, at))
            if state in ("wait", "preempted"):
                queued.append((on, since, at))
        since = max(since, at)

    for at, what, cpu, more in task.marks:
        if state is None:
            break
        if what == "born":
            state = "sleep"
        elif what == "gone":
            if state == "run":
                wrong[on, since] = at
            close_wait(queued, state, on, since, at)
            spans.append(("unknown", since, at))
            since, state = at, None
        elif what == "lost":
            if state != "unknown" and not (state == "run" and on != cpu):
                # Its state is known until then, but it counts as waiting until the loss is noticed.
                if max(since, more) > since:
                    spans.append((state, since, max(since, more)))
                close_wait(queued, state, on, since, at)
                since, state = max(since, more), "unknown"
        elif what == "off":
            if state == "run" and on == cpu:
                wrong[on, since] = at
                if at > since:
                    spans.append(("unknown", since, at))
                since, state = at, "unknown"
        elif what in ("on", "in"):
            if state == "wait" and what == "in":
                waits.append(at - since)
                if longest is None or at - since > longest[0]:
                    longest = (at - since, at, cpu, waker)
                until(at)
            elif state == "preempted" and what == "in":
                preempted.append(at - since)
                until(at)
            elif state == "unknown":
                until(at)
            else:
                if state == "run":
                    wrong[on, since] = at
                close_wait(queued, state, on, since, at)
                if at > since:
                    spans.append(("unknown", since, at))
                since = at
            moves += ran_on is not None and ran_on != cpu
            state, on, ran_on = "run", cpu, cpu
        elif what == "out":
            if state == "run" and on == cpu:
                slices.append(at - since)
                until(at)
            elif state == "unknown":
                until(at)
            else:
                if state == "run":
                    wrong[on, since] = at
                close_wait(queued, state, on, since, at)
                if at > since:
                    spans.append(("unknown", since, at))
                since = at
            own, forced = own + (more != "preempted"), forced + (more == "preempted")
            state, on, ran_on = more, cpu, cpu
        elif what == "wake":
            if state in ("sleep", "blocked", "unknown"):
                until(at)
                wakeups += 1
                state, on, waker = "wait", cpu, more
            elif state == "wait" and cpu != on:
                queued.append((on, since, at, "moved"))
                on = cpu
        elif what == "move" and state in ("wait", "preempted") and cpu != on:
            queued.append((on, since, at, "moved"))
            on = cpu
    ended = since
    if state is not None:
        until(end)
        ended = end
    times = {name: sum(b - a for s, a, b in spans if s == name) for name in STATES}
    return {
        "pid": task.pid, "begin": task.begin, "end": ended, **times, "voluntary": own, "involuntary": forced,
        "migrations": moves, "wakeups": wakeups, "waits": waits, "longest": longest, "slices": slices,
        "preemptions": preempted,
    }


def queues(queued):
    """Waits per CPU: a wait that was moved is cut where it was."""
    found, pieces = [], []
    for one in queued:
        if len(one) == 4:
            pieces.append(one)
            continue
        # The first piece began at the wait's begin; each later one where the former ended.
        cpu, begin, at = one
        since = begin
        for old, of, moved, _ in pieces:
            if of == begin:
                found.append((old, since, moved))
                since = moved
        found.append((cpu, since, at))
        pieces = []
    return found


def machine_cpus(events, begin, end, wrong):
    """(state, from, to) per CPU; `wrong` is that of `follow`."""
    found = {}
    for at, cpu, current, lost, name, fields in events:
        spans, state, since, seen = found.get(cpu, ([], "unknown", begin, begin))
        doubted = wrong.get((cpu, since), at + 1) <= at
        if lost:
            if seen > since:
                spans.append(("unknown" if doubted else state, since, seen))
            state, since = "unknown", max(since, seen)
        if state == "unknown":
            if at > since:
                spans.append((state, since, at))
            state, since = ("busy" if current else "idle"), at
        if name == "sched_switch":
            if at > since:
                spans.append(("unknown" if doubted else state, since, at))
            state, since = ("busy" if fields["next_pid"] else "idle"), at
        found[cpu] = (spans, state, since, at)
    for cpu, (spans, state, since, _) in found.items():
        if end > since:
            spans.append(("unknown" if (cpu, since) in wrong else state, since, end))
    return {cpu: one[0] for cpu, one in found.items()}


def union(spans):
    """Points of time in any of the spans, as spans that do not touch."""
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def common(some, others):
    """Length of what two unions have in common."""
    total = i = j = 0
    while i < len(some) and j < len(others):
        total += max(0, min(some[i][1], others[j][1]) - max(some[i][0], others[j][0]))
        if some[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return total


def lengths(spans, begin, end):
    """Time with 0, 1, 2 ... spans at once."""
    changes = sorted([(a, 1) for a, b in spans] + [(b, -1) for a, b in spans])
    times, now, since = {}, 0, begin
    for at, change in changes:
        times[now] = times.get(now, 0) + at - since
        now, since = now + change, at
    times[now] = times.get(now, 0) + end - since
    return {length: time for length, time in times.items() if time}


def check(name, events, theirs):
    begin, end = events[0][0], events[-1][0]
    same(f"{name} window", {"begin": begin, "end": end}, theirs["window"])
    queued, tasks, wrong = [], [], {}
    for task in marks_of(events):
        own = []
        tasks.append(follow(task, end, own, wrong))
        queued += queues(own)
    by_task = {(task["pid"], task["begin"], task["end"]): task for task in theirs["tasks"]}
    same(f"{name} tasks", len(tasks), len(theirs["tasks"]))
    every_wait = []
    for task in tasks:
        what = f"{name} task {task['pid']} from {task['begin']}"
        found = by_task.get((task["pid"], task["begin"], task["end"]))
        if found is None:
            same(what, f"a life until {task['end']}", None)
            continue
        for field in STATES + ["voluntary", "involuntary", "migrations", "wakeups"]:
            same(f"{what} {field}", task[field], found[field])
        if not any(found[state] is None for state in STATES):
            same(f"{what} sum", found["end"] - found["begin"], sum(found[state] for state in STATES))
        distribution(f"{what} waits", task["waits"], found["waits"])
        distribution(f"{what} slices", task["slices"], found["slices"])
        distribution(f"{what} preemptions", task["preemptions"], found["preemptions"])
        longest = found["longest_wait"]
        if longest is not None:
            waker = longest["waker"]
            waker = (waker["pid"], waker["cpu"]) if waker else None
            longest = (longest["time"], longest["at"], longest["cpu"], waker)
        same(f"{what} longest wait", task["longest"], longest)
        every_wait += task["waits"]
    distribution(f"{name} waits", every_wait, theirs["waits"] or {"count": 0})
    losses = any(event[3] for event in events)
    cpus = machine_cpus(events, begin, end, wrong)
    same(f"{name} all run is busy", sum(task["run"] for task in theirs["tasks"]), sum(cpu["busy"] for cpu in theirs["cpus"]))
    waited = union([(a, b) for _, a, b in queued])
    idle = {cpu: union([(a, b) for s, a, b in spans if s == "idle"]) for cpu, spans in cpus.items()}
    for cpu in theirs["cpus"]:
        what = f"{name} CPU {cpu['cpu']}"
        spans = cpus.get(cpu["cpu"], [("unknown", begin, end)])
        for state in ("busy", "idle", "unknown"):
            same(f"{what} {state}", sum(b - a for s, a, b in spans if s == state), cpu[state])
        waits = [(a, b) for on, a, b in queued if on == cpu["cpu"] and b > a]
        if not losses:
            times = {length: time for length, time in enumerate(cpu["queue"]["time"]) if time}
            same(f"{what} queue", lengths(waits, begin, end), times)
        if not losses:
            same(f"{what} idle while waited", common(idle.get(cpu["cpu"], []), waited), cpu["idle_while_waited"])
    if not losses:
        any_idle = union([tuple(span) for spans in idle.values() for span in spans])
        same(f"{name} idle while waited", common(any_idle, waited), theirs["idle_while_waited"])
    return len(tasks)


EVENTS = {name: events for name, events in buffers().items() if any(event[4] == "sched_switch" for event in events)}
FOUND = account.answer(rtrace("analyze", "sched", "--json", "--top", "0", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
TASKS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{TASKS} tasks, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
