#!/usr/bin/env python3
"""Checks `rtrace analyze functions --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_functions.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Each task's steps between two losses are taken by themselves and made
a list of calls; what a call was off the CPU is summed up over the intervals that overlap it, and interrupts over the calls
within it. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

ENTRIES, EXIT = ("funcgraph_entry", "fgraph_retaddr_entry"), "funcgraph_exit"


def is_used(system, name):
    return system == "ftrace" and (name in ENTRIES or name == EXIT) or (system, name) == ("sched", "sched_switch")


def whole(value):
    return int(value, 0) if isinstance(value, str) else value


def context(flags):
    return 3 if flags & 0x40 else 2 if flags & 0x08 else 1 if flags & 0x10 else 0


class Call:
    def __init__(self, function, level, begin, outer):
        self.function, self.level, self.begin, self.outer = function, level, begin, outer
        self.interrupts = outer is not None and outer.level < level
        self.end, self.returned, self.cpu, self.nth, self.inner = None, False, None, None, []
        if outer is not None:
            outer.inner.append(self)

    def off(self, away, kind):
        return sum(max(0, min(b, self.end) - max(a, self.begin)) for a, b, preempted in away if preempted == kind)

    def settle(self, away):
        self.asleep, self.preempted = self.off(away, False), self.off(away, True)
        for call in self.inner:
            call.settle(away)
        self.interrupted = sum(call.net + call.interrupted if call.interrupts else call.interrupted for call in self.inner)
        self.net = self.end - self.begin - self.asleep - self.preempted - self.interrupted
        self.own = self.net - sum(call.net for call in self.inner if not call.interrupts)


def of_task(steps):
    """The calls of a task between two losses, and the returns without an entry."""
    calls, stack, away, before, orphans = [], [], [], None, 0
    out = None  # why the task was switched from, if nothing says that it is back

    def pop(at, returned, cpu=None, nth=None):
        call = stack.pop()
        call.end, call.returned, call.cpu, call.nth = at, returned, cpu, nth

    def push(function, level, at):
        call = Call(function, level, at, stack[-1] if stack else None)
        stack.append(call)
        calls.append(call)

    for nth, at, cpu, kind, value, depth, level, leaves in steps:
        if out is not None and not leaves:
            away.append((before, at, out))
            out = None
        if kind == "enter":
            while len(stack) > depth:
                pop(before, False)
            while len(stack) < depth:
                push(None, level, at)
            push(value, level, at)
        elif kind == "leave":
            while len(stack) > depth + 1:
                pop(before, False)
            if len(stack) > depth:
                orphans += stack[-1].function is None
                pop(at, True, cpu, nth)
            else:
                orphans += 1
        elif kind == "out":
            out = value if stack else None
        before = at
    while stack:
        pop(before, False)
    for call in calls:
        if call.outer is None:
            call.settle(away)
    return calls, orphans


def follow(events):
    parts, part, losses, switches = [], {}, 0, False
    leaving = {}  # by CPU the task that was switched from, until another one has an event there
    for nth, (at, cpu, pid, lost, _system, name, fields) in enumerate(events):
        if lost:
            losses += 1
            parts.append(part)
            part = {}
        task = (pid, cpu if pid == 0 else None)
        if lost:
            leaving = {}
        if name is not None and leaving.get(cpu) != task:
            leaving.pop(cpu, None)

        def still(of):
            """True if the task has not left its CPU as far as others' events say; if it is seen elsewhere, it never did."""
            places = [place for place, one in leaving.items() if one == of]
            for place in places:
                if place != cpu:
                    del leaving[place]
            return bool(places)

        if name == "sched_switch":
            switches = True
            prev, following = fields["prev_pid"], fields["next_pid"]
            prev, following = (prev, cpu if prev == 0 else None), (following, cpu if following == 0 else None)
            step = (nth, at, cpu, "out", fields["prev_state"] & 0xFF == 0, 0, 0, still(prev))
            part.setdefault(prev, []).append(step)
            leaving[cpu] = prev
            part.setdefault(following, []).append((nth, at, cpu, "in", 0, 0, 0, False))
        elif name is not None:
            kind = "leave" if name == EXIT else "enter"
            depth = min(whole(fields["depth"]), 1000)
            step = (nth, at, cpu, kind, whole(fields["func"]), depth, context(fields["common_flags"]), still(task))
            part.setdefault(task, []).append(step)
    parts.append(part)
    calls, orphans = [], 0
    for part in parts:
        for (pid, _), steps in part.items():
            found, more = of_task(steps)
            orphans += more
            calls += [(pid, call) for call in found]
    counts = {
        "unfinished": sum(call.function is not None and not call.returned for _, call in calls),
        "without_entry": orphans,
        "losses": losses,
    }
    return calls, counts, switches


def check(name, events, theirs):
    calls, counts, switches = follow(events)
    used = [event[0] for event in events if event[5]]
    same(f"{name} window", {"begin": used[0], "end": used[-1]}, theirs["window"])
    same(f"{name} counts", counts, theirs["counts"])
    by_address = {}
    for pid, call in calls:
        if call.returned and call.function is not None:
            by_address.setdefault(f"{call.function:#x}", []).append((pid, call))
    found = {function["address"]: function for function in theirs["functions"]}
    same(f"{name} functions", sorted(by_address), sorted(found))
    for address in by_address.keys() & found.keys():
        own, of, what = by_address[address], found[address], f"{name} {found[address]['function']}"
        distribution(f"{what} whole", [call.end - call.begin for _, call in own], of["whole"])
        distribution(f"{what} net", [call.net for _, call in own], of["net"])
        same(f"{what} own", sum(call.own for _, call in own), of["own"])
        same(f"{what} interrupted", sum(call.interrupted for _, call in own), of["interrupted"])
        off = (sum(call.asleep for _, call in own), sum(call.preempted for _, call in own))
        same(f"{what} off the CPU", off if switches else (None, None), (of["asleep"], of["preempted"]))
        pid, longest = max(sorted(own, key=lambda one: one[1].nth), key=lambda one: one[1].end - one[1].begin)
        right = {"time": longest.end - longest.begin, "at": longest.begin, "pid": pid, "cpu": longest.cpu}
        same(f"{what} longest", right, of["longest"])
    # The time of an outermost call is that of its parts.
    for _, call in calls:
        if call.outer is None:
            def own(of):
                return of.own + sum(map(own, of.inner))
            same(f"{name} sum of {call.begin}", call.end - call.begin, own(call) + call.asleep + call.preempted)
    return sum(call.own for _, call in calls)


def has_calls(events):
    return any(call.returned and call.function is not None for _, call in follow(events)[0])


EVENTS = {name: events for name, events in account.buffers(is_used).items() if has_calls(events)}
FOUND = account.answer(rtrace("analyze", "functions", "--json", "--top", "0", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
OWN = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
LINES = rtrace("analyze", "functions", "--folded", *ARGUMENTS, FILE).decode(errors="replace").splitlines()
same("folded", OWN, sum(int(line.rsplit(" ", 1)[1]) for line in LINES if ";" in line))
print(f"{OWN} of own time, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
