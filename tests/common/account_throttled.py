#!/usr/bin/env python3
"""Checks the bounds of throttled time in `rtrace analyze sched --json` against an account from the definitions alone.

    account_throttled.py RTRACE FILE CGROUP KERNEL

CGROUP is the path that each task of it was in since it came there, KERNEL what cpu.stat counted of it, in nanoseconds. For
recordings without losses. Waits and idle times are lists of intervals, taken from all events first. What the readings of throttled
time exclude is held against the numbers exactly; what they prove is to lie between what idle CPUs prove and what they allow. Prints
each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, rtrace, same

CGROUP, KERNEL = ARGUMENTS[0], int(ARGUMENTS[1])
ARGUMENTS.clear()
WAKE = {"sched_waking", "sched_wakeup", "sched_wakeup_new"}
TIMERS = ("sched_cfs_period_timer", "sched_cfs_slack_timer")
MILLISECOND = 1_000_000


def used(system, name):
    return system == "sched" and name in WAKE | {"sched_switch", "sched_migrate_task"} or name == "hrtimer_expire_entry"


EVENTS = account.buffers(used).get("", [])
END = EVENTS[-1][0]
has_timers = any(event[5] == "hrtimer_expire_entry" for event in EVENTS)
timers, idle, waits, state, going_on = [], {}, {}, {}, {}
for at, cpu, current, _, system, name, fields in EVENTS:
    if name == "hrtimer_expire_entry":
        if fields.get("function_symbol") in TIMERS:
            timers.append(at)
        continue
    if name == "sched_switch":
        prev, after, runnable = fields["prev_pid"], fields["next_pid"], fields["prev_state"] & 0xFF == 0
        if prev == 0:
            idle.setdefault(cpu, []).append((state.pop(("idle", cpu), at), at))
        elif runnable:
            state[prev] = [(at, cpu, 100 <= fields["prev_prio"] < 140)]
        else:
            state[prev] = None
        if after == 0:
            state["idle", cpu] = at
        elif isinstance(state.get(after), list):
            pieces = state[after]
            is_here = pieces[-1][1] == cpu
            waits.setdefault(after, []).append((pieces, at, is_here))
            state[after] = "runs"
        else:
            state[after] = "runs"
    elif name in WAKE or name == "sched_migrate_task":
        task, to = fields["pid"], fields.get("target_cpu", fields.get("dest_cpu"))
        known = state.get(task)
        if isinstance(known, list):
            if known[-1][1] != to:
                known.append((at, to, known[-1][2]))
        elif name in WAKE and known is None and task in state:
            state[task] = [(at, to, 100 <= fields["prio"] < 140)]
# Readings of throttled time: (before, after, nanoseconds), one list for each series of them.
readings, came = [], {}
lines = rtrace("dump", "--options", FILE).decode(errors="replace").splitlines()
for head, line in zip(lines, lines[1:]):
    words = line.split(" ")
    if head == f"cgroup {CGROUP}" and words[0] == "samples":
        at = total = 0
        readings.append([])
        for since, length, more in zip(*[iter(map(int, words[1:]))] * 3):
            at, total = at + since, total + more
            readings[-1].append((at * 1000, (at + length) * 1000, total))
    if words[0] == "task" and len(words) > 3:
        came[int(words[1])] = [int(time) for time in words[2::2]][1:]


def counted_around(task, begin, end):
    """Throttled time that was counted from before `begin` until after `end`; None if that is not known."""
    if any(begin < moved <= end for moved in came.get(task, [])):
        return None
    if any(end < moved for moved in came.get(task, [])):
        return 0
    for series in readings:
        before, after = [one[2] for one in series if one[1] <= begin], [one[2] for one in series if one[0] >= end]
        if before and after:
            growth = after[0] - before[-1]
            return growth + growth // 1000 + 1000 if growth else 0
    return None


apart = [timer for before, timer in zip([-MILLISECOND] + timers, timers) if timer - before >= MILLISECOND]


def bounds(task):
    least = most = 0
    for pieces, end, is_here in waits.get(task, []):
        begin = pieces[0][0]
        counted = counted_around(task, begin, end) if is_here and len(pieces) == 1 else None
        if not has_timers or any(begin - MILLISECOND <= timer <= end for timer in timers):
            most += end - begin if counted is None else min(end - begin, counted)
        for (since, cpu, is_normal), until in zip(pieces, [piece[0] for piece in pieces[1:]] + [end]):
            before = [timer for timer in apart if since <= timer <= until]
            if not before or not is_normal or until == end and not is_here:
                continue
            time = sum(max(0, min(to, before[-1]) - max(of, since)) for of, to in idle.get(cpu, []))
            least += time if time >= MILLISECOND else 0
    if isinstance(state.get(task), list):
        most += END - state[task][0][0]
    return least, most


document = account.answer(rtrace("analyze", "sched", "--json", "--top", "0", FILE))
found = [task for task in document["buffers"][0]["tasks"] if task.get("cgroup") == CGROUP]
for task in found:
    least, most = bounds(task["pid"])
    # What began before the first event is not known here: such tasks join the cgroup later.
    counted = KERNEL + 1000 + (END - state[task["pid"]][0][0] if isinstance(state.get(task["pid"]), list) else 0)
    same(f"task {task['pid']}, most", min(most, counted), task["throttled"]["most"])
    proven = task["throttled"]["least"]
    same(f"task {task['pid']}: {least} <= {proven} <= {most}", True, min(least, counted) <= proven <= min(most, counted))
    times = sum(task[name] for name in ("run", "wait", "preempted", "sleep", "blocked", "unknown"))
    same(f"task {task['pid']}, all its time", task["end"] - task["begin"], times + proven)
least, most = (sum(task["throttled"][bound] for task in found) for bound in ("least", "most"))
# The kernel counts the time in which any of them was kept off, by CPU.
print(f"{len(found)} tasks: from {least} to {most}, the kernel counted {KERNEL}; {account.differences} differences")
sys.exit(account.differences > 0)
