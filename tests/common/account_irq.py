#!/usr/bin/env python3
"""Checks `rtrace analyze irq --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_irq.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Runs are found as intervals, pairing each exit with the nearest entry
before it that is still free; own times come from sweeping over all points of time and giving each stretch to the interval that
began last, but those of work items, which are the time that their tasks were on a CPU. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

ENTRIES = {
    ("irq", "irq_handler_entry"): ("irq", "irq", "irq"),
    ("irq", "softirq_entry"): ("softirq", "vec", "vec"),
    ("irq", "tasklet_entry"): ("tasklet", "tasklet", "func"),
    ("timer", "timer_expire_entry"): ("timer", "timer", "function"),
    ("timer", "hrtimer_expire_entry"): ("hrtimer", "hrtimer", "function"),
    ("workqueue", "workqueue_execute_start"): ("work", "work", "function"),
}
EXITS = {
    ("irq", "irq_handler_exit"): ("irq", "irq"),
    ("irq", "softirq_exit"): ("softirq", "vec"),
    ("irq", "tasklet_exit"): ("tasklet", "tasklet"),
    ("timer", "timer_expire_exit"): ("timer", "timer"),
    ("timer", "hrtimer_expire_exit"): ("hrtimer", "hrtimer"),
    ("workqueue", "workqueue_execute_end"): ("work", "work"),
}
SWITCH = ("sched", "sched_switch")
REQUESTS = {("irq", "softirq_raise"): ("softirq", "vec"), ("workqueue", "workqueue_queue_work"): ("work", "work")}


def is_used(system, name):
    place = (system, name)
    vector = system == "irq_vectors" and name.endswith(("_entry", "_exit"))
    return vector or place in ENTRIES or place in EXITS or place in REQUESTS or place == SWITCH


def number(value):
    return (int(value, 0) if isinstance(value, str) else value) & ((1 << 64) - 1)


class Run:
    def __init__(self, nth, at, cpu, pid, what):
        self.nth, self.at, self.cpu, self.pid = nth, at, cpu, pid
        self.kind, self.key, self.id, self.name = what
        self.end, self.last, self.exit_cpu, self.own = None, None, None, 0
        self.off, self.away = None, 0


def runs_of(events):
    """All runs, and what fits to none."""
    counts = {"unfinished": 0, "without_entry": 0, "contradictions": 0, "censored": 0, "losses": 0}
    done, delays, on_cpu, of_task, asked = [], {}, {}, {}, {}
    for nth, (at, cpu, pid, lost, system, name, fields) in enumerate(events):
        if lost:
            counts["losses"] += 1
            counts["censored"] += len(on_cpu.pop(cpu, [])) + len(of_task)
            of_task.clear()
            asked = {key: since for key, since in asked.items() if key[0] == "softirq" and key[1] != cpu}
        if name is None:
            continue
        place = (system, name)
        vector = system == "irq_vectors"
        if place == SWITCH:
            left, came = of_task.get(fields["prev_pid"]), of_task.get(fields["next_pid"])
            if left:
                left.off = at
            if came and came.off is not None:
                came.away, came.off = came.away + at - came.off, None
        elif place in REQUESTS:
            kind, field = REQUESTS[place]
            asked.setdefault((kind, cpu if kind == "softirq" else None, number(fields[field])), at)
        elif place in ENTRIES or vector and name.endswith("_entry"):
            kind, key, own = ENTRIES.get(place, ("vector", "vector", "vector"))
            text = fields["name"] if kind == "irq" else name[:-6] if vector else ""
            run = Run(nth, at, cpu, pid, (kind, number(fields[key]), number(fields[own]), text))
            since = asked.pop((kind, cpu if kind == "softirq" else None, run.key), None)
            if since is not None:
                delays.setdefault((kind, run.id, text), []).append(at - since)
            if kind == "work":
                counts["unfinished"] += pid in of_task
                of_task[pid] = run
            else:
                on_cpu.setdefault(cpu, []).append(run)
        else:
            kind, key = EXITS.get(place, ("vector", "vector"))
            key = number(fields[key])
            free = [of_task.pop(pid)] if kind == "work" and pid in of_task else on_cpu.get(cpu, []) if kind != "work" else []
            found = [nth for nth, run in enumerate(free) if (run.kind, run.key) == (kind, key)]
            if not found:
                counts["without_entry"] += 1
                continue
            run = free[found[-1]]
            if kind != "work":
                counts["contradictions"] += len(free) - found[-1] - 1
                del free[found[-1]:]
            run.end, run.last, run.exit_cpu = at, nth, cpu
            done.append(run)
    counts["unfinished"] += len(of_task) + sum(map(len, on_cpu.values()))
    return done, delays, counts


def give_own_times(runs, has_switches):
    """Each stretch of a CPU's time belongs to the run that began last of those that it lies in."""
    for cpu in {run.cpu for run in runs}:
        own = [run for run in runs if run.cpu == cpu and run.kind != "work"]
        marks = sorted([(run.nth, run.at, run) for run in own] + [(run.last, run.end, None) for run in own], key=lambda m: m[0])
        inside = []
        for (first, since, began), (_, until, _) in zip(marks, marks[1:]):
            inside = [run for run in inside if run.last > first]
            if began is not None:
                inside.append(began)
            if inside:
                max(inside, key=lambda run: run.nth).own += until - since
    for run in runs:
        if run.kind == "work":
            known = has_switches and run.off is None
            run.own = run.end - run.at - run.away if known else None


def total(runs):
    """The sum of their own times; None if one of them is not known."""
    own = [run.own for run in runs]
    return None if None in own else sum(own)


def check(name, events, theirs):
    runs, delays, counts = runs_of(events)
    switches = [event for event in events if event[4:6] == SWITCH]
    give_own_times(runs, bool(switches) and not counts["losses"])
    used = [event[0] for event in events if event[5] and event[4:6] != SWITCH]
    same(f"{name} window", {"begin": used[0], "end": used[-1]}, theirs["window"])
    same(f"{name} counts", counts, theirs["counts"])
    groups = {}
    for run in runs:
        groups.setdefault((run.kind, run.id, run.name), []).append(run)
    same(f"{name} handlers", len(groups), len(theirs["handlers"]))
    taken = {}
    for handler in theirs["handlers"]:
        label = handler["name"].split(" ", 1)[1] if handler["kind"] == "irq" else handler["name"] if handler["kind"] == "vector" else ""
        taken[(handler["kind"], number(handler["id"]), label)] = handler
    by_cpu = {(row["kind"], row["name"], row["id"], row["cpu"]): row for row in theirs["by_cpu"]}
    for group, own in groups.items():
        what = f"{name} {group}"
        found = taken.get(group)
        if found is None:
            same(what, f"{len(own)} runs", None)
            continue
        distribution(what, [run.end - run.at for run in own], found["times"])
        distribution(f"{what} delays", delays.get(group, []), found["delays"])
        same(f"{what} own", total(own), found["own"])
        longest = max(own, key=lambda run: run.end - run.at)
        right = {"time": longest.end - longest.at, "at": longest.at, "cpu": longest.exit_cpu}
        same(f"{what} longest", right, found["longest"])
        for cpu in sorted({run.exit_cpu for run in own}):
            here = [run for run in own if run.exit_cpu == cpu]
            row = by_cpu.pop((found["kind"], found["name"], found["id"], cpu), None)
            if row is None:
                same(f"{what} on CPU {cpu}", f"{len(here)} runs", None)
                continue
            distribution(f"{what} on CPU {cpu}", [run.end - run.at for run in here], row["times"])
            same(f"{what} own on CPU {cpu}", total(here), row["own"])
    same(f"{name} handlers that ran on no such CPU", [], sorted(by_cpu))
    for cpu in theirs["cpus"]:
        for kind, time in cpu["own"].items():
            own = [run for run in runs if run.exit_cpu == cpu["cpu"] and run.kind == kind]
            same(f"{name} CPU {cpu['cpu']} {kind}", (total(own), len(own)), (time, cpu["runs"][kind]))
    return len(runs)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if runs_of(events)[0]}
FOUND = account.answer(rtrace("analyze", "irq", "--json", "--top", "0", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
RUNS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{RUNS} runs, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
