#!/usr/bin/env python3
"""Checks `rtrace why --json` against an account made from the definitions of docs/reference/why.md alone.

    account_why.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Takes the longest wait of every task, and what tasks did around many
points of time. Each part is looked up in the events by itself, by searching all of them: what ran on the CPU, in which state the
task was, which wakeup ended its sleep, which handler was the innermost in the middle of it. Prints each difference; exit status 1
if there are any.
"""
import random
import subprocess
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, RTRACE, same

WAKE = {"sched_waking", "sched_wakeup", "sched_wakeup_new"}
SCHED = WAKE | {"sched_switch", "sched_process_fork", "sched_migrate_task", "sched_stat_iowait"}
PAIRS = {
    ("irq", "irq_handler"): ("irq", "irq"),
    ("irq", "softirq"): ("softirq", "vec"),
    ("irq", "tasklet"): ("tasklet", "tasklet"),
    ("timer", "timer_expire"): ("timer", "timer"),
    ("timer", "hrtimer_expire"): ("hrtimer", "hrtimer"),
}
SOFTIRQS = "HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU".split()


def handler_event(system, name):
    """(is it an entry, kind, field of its key)."""
    for suffix, entry in (("_entry", True), ("_exit", False)):
        if name.endswith(suffix):
            stem = name[: -len(suffix)]
            if system == "irq_vectors":
                return entry, "vector", "vector"
            if (system, stem) in PAIRS:
                return (entry, *PAIRS[system, stem])
    return None


def is_used(system, name):
    is_request = (system, name) == ("block", "block_rq_complete")
    is_lock = system == "lock" and name in ("contention_begin", "contention_end")
    return system == "sched" and name in SCHED or handler_event(system, name) is not None or is_request or is_lock


def whole(value):
    return int(value, 0) if isinstance(value, str) else value


class Machine:
    """All events of one buffer."""

    def __init__(self, events):
        self.events = [event for event in events if event[5]]
        self.lost = any(event[3] for event in events)
        scheduler = [event for event in self.events if event[4] == "sched"]
        self.scheduler = scheduler
        self.begin, self.end = scheduler[0][0], scheduler[-1][0]
        self.completed = [event for event in self.events if event[4] == "block"]
        self.runs = self.handlers()
        self.born = {e[6]["child_pid"]: e[0] for e in scheduler if e[5] == "sched_process_fork"}
        self.contradicted = self.contradictions()

    def handlers(self):
        """(cpu, kind, begin, end, nesting, name), of entries whose exit is there."""
        found, stacks = [], {}
        for at, cpu, _, _, system, name, fields in self.events:
            what = handler_event(system, name)
            if what is None:
                continue
            entry, kind, key = what[0], what[1], fields[what[2]]
            stack = stacks.setdefault(cpu, [])
            if entry:
                title = {"irq": f"{fields.get('irq')} {fields.get('name')}", "vector": name[:-6]}.get(kind)
                if kind == "softirq":
                    title = SOFTIRQS[key] if key < len(SOFTIRQS) else f"vector {key}"
                stack.append((kind, key, at, title))
                continue
            for depth in range(len(stack) - 1, -1, -1):
                if stack[depth][:2] == (kind, key):
                    found.append((cpu, kind, stack[depth][2], at, depth, stack[depth][3]))
                    del stack[depth:]
                    break
        return found

    def lock(self, pid, at):
        """The address of the lock that a task waits for; of several the last one."""
        waits = []
        for time, _, current, _, _, name, fields in self.events:
            if time > at or name not in ("contention_begin", "contention_end") or current != pid:
                continue
            lock = whole(fields["lock_addr"])
            if name == "contention_begin":
                waits += [] if lock in waits else [lock]
            elif lock in waits:
                waits.remove(lock)
        return waits[-1] if waits else None

    def own_times(self, cpu, begin, end):
        """Time of each kind and name of handler on a CPU, cut at every entry and exit, by the innermost one."""
        points = sorted({begin, end} | {at for run in self.runs if run[0] == cpu for at in run[2:4] if begin < at < end})
        times = {}
        for first, last in zip(points, points[1:]):
            run = self.innermost(cpu, (first + last) / 2)
            if run is not None:
                times[run[1]] = times.get(run[1], 0) + last - first
        return times

    def priority(self, pid, at):
        """The kernel's number for a task's priority, as the last event until then names it."""
        last = None
        for time, _, _, _, _, name, fields in self.scheduler:
            if time > at or not pid:
                break
            for key, prio in (("prev_pid", "prev_prio"), ("next_pid", "next_prio"), ("pid", "prio")):
                if fields.get(key) == pid and prio in fields and name != "sched_migrate_task":
                    last = fields[prio]
        return last

    def idle(self, cpu, begin, end):
        """Time in which a CPU ran its idle task."""
        points = sorted({begin, end} | {e[0] for e in self.scheduler if e[1] == cpu and begin < e[0] < end})
        return sum(b - a for a, b in zip(points, points[1:]) if self.on_cpu(cpu, a) == 0)

    def on_cpu(self, cpu, at):
        """The task on a CPU just after `at`; None if that is not known."""
        known, seen = None, False
        for time, where, current, _, _, name, fields in self.scheduler:
            if time > at:
                break
            if where == cpu:
                if not seen:
                    known, seen = current, True
                if name == "sched_switch":
                    known = fields["next_pid"]
        return known

    def innermost(self, cpu, middle):
        """The innermost handler on a CPU at a time."""
        on = [run for run in self.runs if run[0] == cpu and run[2] < middle < run[3]]
        return max(on, key=lambda run: run[4], default=None)

    def state(self, pid, at):
        """The activity of a task just after `at`: its state, and the event that began it."""
        first_on = {}
        state, since = "unknown", None
        for event in self.scheduler:
            time, cpu, current, _, _, name, fields = event
            if time > at:
                break
            if cpu not in first_on:
                first_on[cpu] = True
                if current == pid:
                    state, since = "run", event
            if name == "sched_switch":
                if fields["prev_pid"] == pid:
                    left = fields["prev_state"] & 0xFF
                    state = "preempted" if left == 0 else "absent" if left & 0x30 else "blocked" if left & 2 else "sleep"
                    since = event
                if fields["next_pid"] == pid:
                    state, since = "run", event
            elif name in WAKE and fields["pid"] == pid and fields.get("success", 1):
                if state in ("sleep", "blocked", "unknown"):
                    state, since = "wait", event
            elif name == "sched_process_fork" and fields["child_pid"] == pid:
                state, since = "sleep", event
        if pid in self.born and since is None:
            state = "absent"
        return state, since

    def after(self, begin, wanted):
        """The first event after the event `begin` that is wanted."""
        place = self.scheduler.index(begin)
        return next((event for event in self.scheduler[place + 1 :] if wanted(event)), None)

    def before(self, end, wanted):
        """The last event before the event `end` that is wanted."""
        place = self.scheduler.index(end)
        return next((event for event in reversed(self.scheduler[:place]) if wanted(event)), None)

    def contradictions(self):
        """Tasks whose events do not fit each other: which of them is missing is unknown."""
        state, on, found, seen, runs = {}, {}, set(), set(), {}
        for _, cpu, current, _, _, name, fields in self.scheduler:
            if cpu not in seen:
                seen.add(cpu)
                if current and state.setdefault(current, "unknown") != "unknown":
                    found.add(current)
                state[current], on[current] = "run", cpu
                runs[cpu] = current
            if name == "sched_switch":
                prev, following = fields["prev_pid"], fields["next_pid"]
                # It left the CPU without a switch.
                if runs[cpu] != prev and state[runs[cpu]] == "run" and on[runs[cpu]] == cpu:
                    found.add(runs[cpu])
                    state[runs[cpu]] = "unknown"
                runs[cpu] = following
                if state.get(prev, "unknown") != "unknown" and (state[prev] != "run" or on[prev] != cpu):
                    found.add(prev)
                left = fields["prev_state"] & 0xFF
                state[prev] = "preempted" if left == 0 else "unknown" if left & 0x30 else "sleep"
                if state.get(following, "unknown") in ("run", "sleep"):
                    found.add(following)
                state[following], on[following] = "run", cpu
            elif name in WAKE and state.get(fields["pid"], "unknown") in ("sleep", "unknown"):
                if fields.get("success", 1):
                    state[fields["pid"]] = "wait"
            elif name == "sched_process_fork":
                if state.get(fields["child_pid"], "unknown") != "unknown":
                    found.add(fields["child_pid"])
                state[fields["child_pid"]] = "sleep"
        return found - {0}


def switched_in(pid):
    return lambda event: event[5] == "sched_switch" and event[6]["next_pid"] == pid


def woken(pid):
    return lambda event: event[5] in WAKE and event[6]["pid"] == pid and event[6].get("success", 1)


checked = {"parts": 0}
# Begin of the interval that is looked at: completions before it are not told.
found_begin = [0]


def sums(what, node, begin, end):
    """Parts follow each other without a gap."""
    if not node["parts"]:
        return
    at = begin
    for part in node["parts"]:
        same(f"{what}: a part's begin", at, part["begin"])
        same(f"{what}: a part's time", part["end"] - part["begin"], part["time"])
        same(f"{what}: no part is empty", True, part["time"] > 0)
        at = part["end"]
        sums(what, part, part["begin"], part["end"])
    same(f"{what}: the end of the parts", end, at)
    same(f"{what}: the sum of the parts", end - begin, sum(part["time"] for part in node["parts"]))


def leaves(part, kinds):
    """Leaves of what a CPU did."""
    if not part["parts"]:
        yield part
    for inner in part["parts"]:
        if inner["kind"] in kinds:
            yield from leaves(inner, kinds)


def own(part, inner):
    """True of a part's own time between others."""
    names = ("kind", "task", "cpu", "handler")
    return all(part.get(name) == inner.get(name) for name in names)


def tree_leaves(part, outer=None):
    """Leaves of the tree, with the part that each lies in; what runs within a handler is its time."""
    if part["kind"] == "interrupt" or not part["parts"]:
        yield part, outer
        return
    for inner in part["parts"]:
        if own(part, inner):
            yield inner, outer
        else:
            yield from tree_leaves(inner, part)


def alike(part, outer):
    """Leaves with the same answer are taken together."""
    kind, task = part["kind"], part.get("task", {}).get("pid")
    waiting = outer["task"]["pid"] if outer and outer["kind"] in ("wait", "waking", "preempted") else None
    if kind == "interrupt":
        return kind
    if kind in ("wait", "waking", "preempted"):
        return "wait", task, part["cpu"]
    if kind == "idle":
        return kind, part["cpu"], waiting
    if kind in ("sleep", "blocked", "asleep"):
        wake = part["wake"]
        handler = wake and wake["handler"] and (wake["handler"]["kind"], wake["handler"]["name"])
        waker = wake["task"]["pid"] if wake and not handler and wake["context"] == "task" else None
        return "sleep", task, handler, waker, part["lock"] and part["lock"]["address"]
    return kind, task, waiting is not None and kind == "run"


def cause(what, found):
    """The leaves that take the most time, and whether that is half of it."""
    groups = {}
    for part in found["parts"]:
        for leaf, outer in tree_leaves(part):
            groups.setdefault(alike(leaf, outer), []).append((leaf["time"], -leaf["begin"], leaf["kind"]))
    if not groups:
        same(f"{what}: no cause", None, found["cause"])
        return
    most = max(groups.values(), key=lambda of: (sum(leaf[0] for leaf in of), max(of)[1]))
    time, whole = sum(leaf[0] for leaf in most), found["interval"]["time"]
    others = max((sum(leaf[0] for leaf in of) for of in groups.values() if of is not most), default=0)
    theirs = found["cause"]
    same(f"{what}: the cause's time, number and kind", (time, len(most), max(most)[2]), (theirs["time"], theirs["count"], theirs["kind"]))
    if 2 * time < whole or 2 * time < 3 * others or theirs["kind"] in ("unknown", "wait", "waking", "preempted"):
        same(f"{what}: the cause is known", False, theirs["known"])


def look_up(machine, what, part, of_cpu=False):
    """Holds one part against the events."""
    if not of_cpu and part.get("task", {}).get("pid") in machine.contradicted:
        return
    checked["parts"] += 1
    kind, begin, end = part["kind"], part["begin"], part["end"]
    middle = (begin + end) / 2
    what = f"{what} {kind} {begin}..{end}"
    pid = part.get("task", {}).get("pid")
    if kind in ("run", "idle"):
        wanted = pid if kind == "run" else 0
        if kind == "run":
            priority = part["priority"] and part["priority"]["prio"]
            same(f"{what}: priority", machine.priority(pid, begin), priority)
        inside = {begin} | {e[0] for e in machine.scheduler if e[1] == part["cpu"] and begin <= e[0] < end}
        same(f"{what}: on CPU {part['cpu']}", {wanted}, {machine.on_cpu(part["cpu"], at) for at in inside})
        for leaf in leaves(part, ("run", "idle", "interrupt")):
            run = machine.innermost(leaf["cpu"], (leaf["begin"] + leaf["end"]) / 2)
            expected = None if run is None else run[1]
            found = leaf["handler"]["kind"] if leaf["kind"] == "interrupt" else None
            same(f"{what}: innermost handler from {leaf['begin']}", expected, found)
            if run is not None and run[5] and found:
                same(f"{what}: its name", run[5], leaf["handler"]["name"])
        return
    if kind == "unknown":
        return
    if kind == "asleep":
        # Nothing names the task before the wakeup at its end, and no event is missing.
        names = ("prev_pid", "next_pid", "pid", "child_pid")
        first = next((e for e in machine.scheduler if any(e[6].get(name) == pid for name in names)), None)
        same(f"{what}: its first event is a wakeup", True, first is not None and woken(pid)(first) and first[0] >= end)
        same(f"{what}: woken then", (first[0], first[1], first[2]), (part["wake"]["at"], part["wake"]["cpu"], part["wake"]["task"]["pid"]))
        for inner in part["parts"]:
            look_up(machine, what, inner)
        return
    state, since = machine.state(pid, middle)
    expected = {"waking": "wait"}.get(kind, kind)
    same(f"{what}: state of {pid}", expected, state)
    if state != expected or since is None:
        return
    if kind in ("sleep", "blocked"):
        lock = part["lock"] and part["lock"]["address"]
        same(f"{what}: lock", machine.lock(pid, begin), int(lock, 16) if isinstance(lock, str) else lock)
        wake = machine.after(since, woken(pid))
        if part["wake"] is None:
            same(f"{what}: it is not woken", None, wake)
            return
        if wake is not None and wake[5] == "sched_wakeup":
            # Who began the wakeup, which may have been before the task left its CPU.
            before = machine.before(wake, woken(pid))
            wake = (wake[0], *before[1:3]) if before and before[5] == "sched_waking" else wake
        ours = None if wake is None else (wake[0], wake[1], wake[2])
        theirs = (part["wake"]["at"], part["wake"]["cpu"], part["wake"]["task"]["pid"])
        same(f"{what}: woken by", ours, theirs)
        followed = [inner for inner in part["parts"] if inner["kind"] != "unknown"]
        if part["wake"]["context"] != "task":
            same(f"{what}: an interrupt's wakeup has no task to follow", [], part["parts"])
            name = part["wake"]["handler"]
            on = [r for r in machine.runs if r[0] == part["wake"]["cpu"] and r[2] <= part["wake"]["at"] <= r[3]]
            if name is not None:
                same(f"{what}: a handler was on", True, any(r[1] == name["kind"] for r in on))
                its = max((r for r in on if r[1] == name["kind"]), key=lambda r: r[4], default=(0, 0, 0))
                done = [e for e in machine.completed if e[1] == part["wake"]["cpu"] and its[2] <= e[0] <= part["wake"]["at"]]
                request = part["wake"]["request"]
                ours = (done[-1][0], done[-1][6]["sector"]) if done else None
                if ours is None or ours[0] >= found_begin[0]:
                    same(f"{what}: request", ours, request and (request["completed"], request["sector"]))
        same(f"{what}: only its waker is followed", set(), {p["task"]["pid"] for p in followed} - {theirs[2]})
    if kind in ("wait", "waking", "preempted"):
        priority = part["priority"] and part["priority"]["prio"]
        same(f"{what}: priority", machine.priority(pid, begin), priority)
        if not machine.contradicted:
            cpus = {event[1] for event in machine.scheduler if part["cpu"] is not None} - {part["cpu"]}
            idle = {cpu: machine.idle(cpu, begin, end) for cpu in cpus}
            theirs = {one["cpu"]: one["time"] for one in part["idle_elsewhere"]}
            same(f"{what}: idle elsewhere", {cpu: time for cpu, time in idle.items() if time}, theirs)
        arrival = machine.after(since, switched_in(pid))
        same(f"{what}: not on a CPU within", True, arrival is None or arrival[0] >= end)
        if arrival is not None and arrival[0] == end and part["cpu"] is not None:
            same(f"{what}: the CPU it came to", arrival[1], part["cpu"])
        same(f"{what}: parts are its CPU's", set(), {p["cpu"] for p in part["parts"] if "cpu" in p} - {part["cpu"]})
        for inner in part["parts"]:
            if inner["kind"] == "unknown" and part["cpu"] is not None:
                ran = machine.on_cpu(part["cpu"], inner["begin"])
                same(f"{what}: unknown on its CPU", None, None if ran in machine.contradicted else ran)
    for inner in part["parts"]:
        look_up(machine, what, inner, kind in ("wait", "waking", "preempted"))


def why(*words):
    done = subprocess.run([RTRACE, "why", *words, "--json", "--top", "0", FILE], stdout=subprocess.PIPE, check=False, stderr=subprocess.PIPE)
    if done.returncode not in (0, 4):
        return None
    return account.answer(done.stdout)


def check(machine, name, intervals):
    for words in intervals:
        found = why(*words, *ARGUMENTS, "--buffer", name)
        if found is None:
            continue
        checked["intervals"] = checked.get("intervals", 0) + 1
        what = " ".join(map(str, words))
        begin, end = found["interval"]["begin"], found["interval"]["end"]
        found_begin[0] = begin
        sums(what, found, begin, end)
        cause(what, found)
        same(f"{what}: something is said", True, bool(found["parts"]) or begin == end)
        if machine.lost:
            continue
        ours = {}
        for part in found["parts"]:
            if part["kind"] in ("run", "wait", "waking", "preempted") and part.get("cpu") is not None:
                for handler, time in machine.own_times(part["cpu"], part["begin"], part["end"]).items():
                    ours[handler] = ours.get(handler, 0) + time
        theirs = {}
        for one in found["interrupts"]:
            theirs[one["handler"]["kind"]] = theirs.get(one["handler"]["kind"], 0) + one["time"]
        same(f"{what}: interrupts", ours, {handler: time for handler, time in theirs.items() if time})
        if words[1] == "--at":
            off = found["parts"][0]["kind"] != "run"
            inside = found["parts"] if off else found["parts"][:1]
            same(f"{what}: all of it off the CPU", False, off and any(part["kind"] == "run" for part in inside))
        for part in found["parts"]:
            if "task" in part:
                same(f"{what}: whose part", found["task"]["pid"], part["task"]["pid"])
            look_up(machine, what, part)


def main():
    dice = random.Random(1)
    events = account.buffers(is_used)
    total = 0
    for name, of in sorted(events.items()):
        if not any(event[5] == "sched_switch" for event in of):
            continue
        machine = Machine(of)
        total += len(machine.events)
        pids = {e[6][side] for e in machine.scheduler if e[5] == "sched_switch" for side in ("prev_pid", "next_pid")}
        pids = sorted(pids - {0})
        dice.shuffle(pids)
        intervals = [(str(pid), "--worst", "wakeup", "--depth", "4") for pid in pids[:12]]
        for pid in pids[:12]:
            at = dice.randrange(machine.begin, machine.end + 1)
            intervals.append((str(pid), "--at", f"{at // 10**9}.{at % 10**9:09}"))
        check(machine, name, intervals)
    print(f"{checked.get('intervals', 0)} intervals, {total} events, {checked['parts']} parts, {account.differences} differences")
    return account.differences > 0


sys.exit(main())
