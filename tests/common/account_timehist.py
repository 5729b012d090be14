#!/usr/bin/env python3
"""Checks `rtrace analyze sched --timehist --json` against rows made from the definitions of docs/reference/analyses.md alone.

    account_timehist.py RTRACE FILE [ARGUMENT...]

Each CPU's and each task's events are gone through backwards from each switch: slowly, and in another way than the program does
it. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, rtrace, same

WAKE = {"sched_waking", "sched_wakeup", "sched_wakeup_new"}
USED = WAKE | {"sched_switch", "sched_process_fork", "sched_migrate_task", "sched_stat_iowait"}


def rows_of(events):
    """The rows: (time, cpu, task, wait, delay, run, preempted), from what lies between a switch and the one before."""
    losses = [number for number, event in enumerate(events) if event[3]]
    switches = [number for number, event in enumerate(events) if event[5] == "sched_switch"]
    by_cpu, by_task = {}, {}
    for number in switches:
        at, cpu, _task, _lost, _system, _name, of = events[number]
        by_cpu.setdefault(cpu, []).append(number)
        for pid in (of["prev_pid"], of["next_pid"]):
            by_task.setdefault(pid if pid else ("idle", cpu), []).append(number)
    wakes, forks = {}, {}
    for number, event in enumerate(events):
        if event[5] in WAKE and event[6].get("success", 1):
            wakes.setdefault(event[6]["pid"], []).append(number)
        if event[5] == "sched_process_fork":
            forks.setdefault(event[6]["child_pid"], []).append(number)

    # The first event of a CPU, and the first after lost ones, shows a task that nothing else says is running.
    shown, first = {}, set()
    for number, event in enumerate(events):
        if event[1] not in first or event[3]:
            first.add(event[1])
            shown.setdefault(event[2], []).append(number)

    def last(numbers, before):
        return max((number for number in numbers if number < before), default=None)

    def lost(begin, end, cpu=None):
        """True if events were lost after event `begin`, up to event `end`."""
        return any(begin < number <= end and cpu in (None, events[number][1]) for number in losses)

    for number in switches:
        at, cpu, _task, _lost, _system, _name, of = events[number]
        pid = of["prev_pid"]
        wait = delay = run = preempted = None
        came = last(by_cpu[cpu], number)
        if came is not None and events[came][6]["next_pid"] == pid and not lost(came, number, cpu):
            run = at - events[came][0]
            left = last(by_task[pid if pid else ("idle", cpu)], came)
            begin = -1
            if left is not None and events[left][6]["prev_pid"] == pid:
                is_dead = bool(pid) and events[left][6]["prev_state"] & 0x30
                known = not lost(left, came, None if pid else cpu) and not is_dead
                begin = left
                if known:
                    wait = events[came][0] - events[left][0]
                    if pid:
                        preempted = events[left][6]["prev_state"] & 0xFF == 0
            elif left is not None:
                # It came to a CPU and is not seen to leave it: it is off at the latest when another one is there.
                there = events[left][1]
                ends = [other for other in by_cpu[there] if other > left]
                ends += [loss - 1 for loss in losses if loss > left and events[loss][1] == there]
                begin = min(ends + [came])
            fork = last(forks.get(pid, []), came)
            if fork is not None and fork > begin:
                wait, begin = None, fork
                preempted = None if lost(fork, came) else False
            seen = last(shown.get(pid, []), came)
            if pid and seen is not None and seen > begin:
                wait, preempted, begin = None, None, seen
            since = max([begin] + [loss - 1 for loss in losses if loss <= came])
            woken = next((wake for wake in wakes.get(pid, []) if since < wake < came), None)
            if pid and woken is not None and not preempted:
                delay = events[came][0] - events[woken][0]
        yield at, cpu, pid, wait, delay, run, preempted


def main():
    theirs = account.answer(rtrace("analyze", "sched", "--timehist", "--json", *ARGUMENTS, FILE))
    events = account.buffers(lambda system, name: system == "sched" and name in USED)
    expected = {buffer: list(rows_of(found)) for buffer, found in events.items()}
    same("buffers", {name for name, rows in expected.items() if rows}, {found["buffer"] for found in theirs["buffers"]})
    count = 0
    for found in theirs["buffers"]:
        keys = ["time", "cpu", "tid", "wait", "delay", "run", "preempted"]
        rows = [tuple(row[key] for key in keys) for row in found["rows"]]
        ours = expected.get(found["buffer"], [])
        same("number of rows", len(ours), len(rows))
        for mine, row in zip(ours, rows):
            same(f"{row[0]} on {row[1]}", mine, row)
        count += len(events[found["buffer"]])
    print(f"{FILE}, {count} events: {account.differences} differences")
    sys.exit(account.differences > 0)


main()
