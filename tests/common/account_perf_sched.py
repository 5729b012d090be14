#!/usr/bin/env python3
"""Holds `rtrace analyze sched` against `perf sched timehist` and `perf sched latency` of the same run.

    account_perf_sched.py RTRACE FILE PERF_DATA

FILE: a recording with `--self --for sched` of a command that is run by `perf sched record`, or by `perf record` of the same events
and sched_wakeup, which writes PERF_DATA (perf 6.1). Both see the same events, and each reads the clock for itself. So each event of
perf's is looked up in FILE, CPU by CPU in their order. An interval of rtrace's names the two events that it lies between: perf's
times of these two are compared with what perf prints, to its last digit, which is a microsecond. What differs is counted by its
cause, which is checked on the events:

    timehist (run, wait, delay)
    unknown     perf prints 0.000 for what no event tells: the first stay of a task, or of a CPU
    preempted   perf prints 0.000 as the delay of a task that was preempted, not woken
    before      it began before perf recorded all CPUs
    early       another CPU woke the task while it was going to sleep, before the switch from it: perf forgets that wakeup at the
                switch, rtrace takes the sched_wakeup after it
    awake       the task was woken although it was preempted: perf prints a delay from there
    lacking     an event of the task is in one of the two recordings alone (perf drops those that occur while it writes another one)
    swapped     the switch from the task and its wakeup on another CPU are so near that each tool's clock orders them differently
    another     neither has the switch to the task, or the one from it before: perf takes the CPU's last switch, to another task,
                for it, or no wakeup of a task that it takes for running; to rtrace the time is unknown
    ended       perf takes the last stays of all ended tasks for those of one task, -1

    latency, which is computed anew from perf's events by the rules that are seen from what it prints
    since sched_wakeup      it counts from sched_wakeup, rtrace from sched_waking
    sched_waking unknown    without sched_wakeup, which `perf sched record` does not record, it counts no wait but a new task's
    forced      a task that was preempted by force (R+) counts as asleep: perf looks up its letter beyond the end of a table
    first       a wait of 0 for a task that comes to a CPU before anything is known of it
    goes on     of the last stay of a task timehist has no row

Prints the counts; exit status 1 if anything is left over.
"""
import bisect
import collections
import re
import statistics
import subprocess
import sys

PERF_DATA = sys.argv.pop()

import account_events as account  # noqa: E402 (it reads the arguments)
from account_events import FILE, rtrace  # noqa: E402

WAKE = ("sched_waking", "sched_wakeup_new")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+) ")
LINE = re.compile(r"^(.*?)\s+(-?\d+) \[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:(\w+): (.*)$")
NEAR = 2_000_000  # nanoseconds between the two readings of the clock, at most: hypervisors stop CPUs in between

causes, left = collections.Counter(), []


def perf(*words):
    done = subprocess.run(["perf", *words, "-i", PERF_DATA], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return done.stdout.decode(errors="replace").splitlines()


def problem(text):
    left.append(text)
    if len(left) <= 20:
        print(text)


def perf_events():
    """(time, cpu, name, key): of a switch the key is (from, to, state), of a wakeup or fork the task. And each
    task's run time by sched_stat_runtime, and the first of these."""
    found, ran, heard = [], collections.Counter(), {}
    for line in perf("script", "--ns", "-F", "comm,tid,cpu,time,event,trace"):
        one = LINE.match(line)
        if not one:
            continue
        _comm, _tid, cpu, seconds, nanos, name, trace = one.groups()
        at = int(seconds) * 1_000_000_000 + int(nanos)
        if name == "sched_switch":
            _prev, prev, state, _next, after = SWITCH.match(trace + " ").groups()
            key = (int(prev), int(after), state)
        elif name in WAKE or name == "sched_wakeup":
            key = int(re.search(r" pid=(\d+)", trace)[1])
        elif name == "sched_process_fork":
            key = int(re.search(r" child_pid=(\d+)", trace)[1])
        else:
            if name == "sched_stat_runtime":
                heard.setdefault(int(re.search(r" pid=(\d+)", trace)[1]), at)
                ran[int(re.search(r" pid=(\d+)", trace)[1])] += int(re.search(r" runtime=(\d+)", trace)[1])
            continue
        found.append((at, int(cpu), name, key))
    return found, ran, heard


def rtrace_events(names):
    """The events of these names of the recording, in the same form but for the state's letters."""
    found = []
    for events in account.buffers(lambda system, name: system == "sched" and name in names).values():
        for at, cpu, _task, lost, _system, name, of in events:
            if lost:
                sys.exit(f"{FILE} lacks events: nothing can be compared")
            if name == "sched_switch":
                key = (of["prev_pid"], of["next_pid"])
            else:
                key = of["child_pid"] if name == "sched_process_fork" else of["pid"]
            found.append((at, cpu, name, key))
    return found


def offset(theirs, ours):
    """The difference of the two clocks: the one that most pairs of rare switches have, to 10 us."""
    rare, votes = collections.defaultdict(list), collections.Counter()
    for at, cpu, name, key in ours:
        if name == "sched_switch":
            rare[cpu, key].append(at)
    for at, cpu, name, key in theirs:
        known = rare.get((cpu, key[:2]), []) if name == "sched_switch" else []
        if len(known) <= 20:
            votes.update({(at - mine) // 10_000 for mine in known})
    return votes.most_common(1)[0][0] * 10_000 + 5_000 if votes else 0


def matched(theirs, ours):
    """By (cpu, time, name) of rtrace's event perf's time of it; and by position in `theirs` rtrace's time.

    A CPU's events come in the same order. perf begins late, and with one event after the other.
    """
    between = offset(theirs, ours)
    of_cpu = collections.defaultdict(list)
    for at, cpu, name, key in ours:
        of_cpu[cpu].append((at, name, key))
    stamps, times, next_of = {}, [], {}
    for at, cpu, name, key in theirs:
        mine, wanted = of_cpu[cpu], (name, key[:2] if name == "sched_switch" else key)
        begin = next_of.get(cpu)
        if begin is None:
            begin = bisect.bisect_left(mine, (at - between - NEAR,))
            ahead = len(mine)
        else:
            ahead = begin + 1 if begin < len(mine) and mine[begin][1:] == wanted else begin + 64
        near = [
            (abs(mine[nth][0] + between - at), nth)
            for nth in range(begin, min(ahead, len(mine)))
            if mine[nth][1:] == wanted and abs(mine[nth][0] + between - at) <= NEAR
        ]
        if near:
            nth = min(near)[1]
            next_of[cpu] = nth + 1
            stamps[cpu, mine[nth][0], name] = at
            times.append(mine[nth][0])
        else:
            times.append(None)
    return stamps, times


def timehist():
    """Rows of perf: (cpu, task, wait, delay, run), in microseconds."""
    row = re.compile(r"^\s*(\d+\.\d{6}) \[(\d+)\]\s+(.*?)\s+(\d+\.\d{3})\s+(\d+\.\d{3})\s+(\d+\.\d{3})\s+\S\s*$")
    found = []
    for line in perf("sched", "timehist", "--state"):
        one = row.match(line)
        if one:
            times = [round(float(time) * 1000) for time in one.groups()[3:]]
            found.append((one[1], int(one[2]), one[3], *times))
    return found


class Perf:
    """perf's own events, and rtrace's among them."""

    def __init__(self, theirs, ours):
        self.events = theirs
        self.stamps, self.times = matched(theirs, ours)
        self.cpus = {event[1] for event in ours}
        self.first, self.wakes, self.left = {}, collections.defaultdict(list), collections.defaultdict(list)
        self.on, self.moves = collections.defaultdict(list), collections.defaultdict(list)
        for (at, cpu, name, key), time in zip(theirs, self.times):
            if name == "sched_switch":
                self.first.setdefault(cpu, time)
                self.on[cpu].append((at, key[1]))
                self.left[key[0]].append(at)
                self.moves[key[0]].append((at, "from"))
                self.moves[key[1]].append((at, "to"))
            elif name in WAKE:
                self.wakes[key].append(at)
        self.begun = max(time for time in self.first.values() if time is not None)
        # The events of each task that one has and the other has not, by rtrace's time.
        self.lacking = collections.defaultdict(list)
        ended = max(time for time in self.times if time is not None)
        alone = [event for event in ours if (event[1], event[0], event[2]) not in self.stamps and self.begun < event[0] < ended]
        self.alone = len(alone), sum(time is None for time in self.times)
        between = statistics.median(event[0] - time for event, time in zip(theirs, self.times) if time is not None)
        alone += [(event[0] - int(between), *event[1:]) for event, time in zip(theirs, self.times) if time is None]
        for at, _cpu, name, key in alone:
            for task in key[:2] if name == "sched_switch" else (key,):
                self.lacking[task].append(at)

    def switch(self, at, on=None):
        """perf's time of the switch that rtrace saw at `at`."""
        found = (self.stamps.get((cpu, at, "sched_switch")) for cpu in ([on] if on is not None else self.cpus))
        return next((stamp for stamp in found if stamp is not None), None)

    def wakeup(self, at):
        """The same of a wakeup."""
        found = (self.stamps.get((cpu, at, name)) for cpu in self.cpus for name in WAKE)
        return next((stamp for stamp in found if stamp is not None), None)

    def one_lacks(self, task, begin, end):
        """True if one of the two lacks an event of `task` between these of rtrace's times, or just before."""
        return any(begin - 100_000 <= at <= end for at in self.lacking[task])

    def came_twice(self, task, came):
        """True if no switch from `task` lies between the one to it at `came` and the one to it before."""
        moves = self.moves[task]
        nth = bisect.bisect_left(moves, (came, "to"))
        return 0 < nth < len(moves) and moves[nth - 1][1] == "to"

    def swapped(self, task, came_p, own):
        """True if perf and rtrace order the last wakeup of `task` before `came_p` and the switch from it before differently."""
        wake = max((at for at in self.wakes[task] if at < came_p), default=None)
        left = max((at for at in self.left[task] if at < came_p), default=None)
        if wake is None or left is None or abs(wake - left) > NEAR:
            return False
        return (own.get(wake, wake) < own.get(left, left)) != (wake < left)

    def before(self, at):
        """True if perf did not record all CPUs' switches yet."""
        return at <= self.begun

    def woke_early(self, task, came):
        """True if the last wakeup of `task` before `came` is older than the switch from it before `came`."""
        last = lambda times: times[bisect.bisect_left(times, came) - 1] if times and times[0] < came else None  # noqa: E731
        woken, left_at = last(self.wakes[task]), last(self.left[task])
        return woken is not None and left_at is not None and woken < left_at


def rows(perf_has):
    """Compares each row of `perf sched timehist`. Gives rtrace's row of each stay, by task and perf's time of its begin."""
    switches = [(event, time) for event, time in zip(perf_has.events, perf_has.times) if event[2] == "sched_switch"]
    printed = timehist()
    if len(printed) != len(switches):
        problem(f"{len(printed)} rows of perf for {len(switches)} switches")
    of_rtrace = {}
    for buffer in account.answer(rtrace("analyze", "sched", "--timehist", "--json", FILE))["buffers"]:
        of_rtrace.update({(row["cpu"], row["time"]): row for row in buffer["rows"]})
    stays = {}
    own = {event[0]: time for event, time in zip(perf_has.events, perf_has.times) if time is not None}
    perf_has.own = own
    for ((at, cpu, _name, (task, _after, state)), time), (_stamp, _cpu, who, wait, delay, run) in zip(switches, printed):
        mine = None if time is None else of_rtrace.get((cpu, time))
        if mine is None or mine["tid"] != task:
            problem(f"{at} on CPU {cpu}: perf's row of {who} is not in {FILE}: {mine}")
            continue
        causes["rows"] += 1
        came = None if mine["run"] is None else time - mine["run"]
        came_p = None if came is None else perf_has.switch(came, cpu)
        if came_p is not None:
            stays[task, came_p] = mine
        begins = {
            "run": (came, came_p, at),
            "wait": (None, None, None),
            "delay": (None, None, None),
        }
        if came is not None and mine["wait"] is not None:
            begins["wait"] = (came - mine["wait"], perf_has.switch(came - mine["wait"]), came_p)
        if came is not None and mine["delay"] is not None:
            begins["delay"] = (came - mine["delay"], perf_has.wakeup(came - mine["delay"]), came_p)
        for field, says in (("run", run), ("wait", wait), ("delay", delay)):
            begin, begin_p, end_p = begins[field]
            off = None if came is None else came - (mine["wait"] or 0)
            lacks = any(one is not None and perf_has.before(one) for one in (time, begin, off))
            if begin_p is not None and end_p is not None and (end_p - begin_p) // 1000 == says:
                cause = "equal"
            elif mine[field] is None and says == 0:
                cause = "preempted" if field == "delay" and mine["preempted"] else "unknown"
            elif who.startswith(":-1"):
                cause = "ended"
            elif lacks:
                cause = "before"
            elif perf_has.one_lacks(task, time - max(mine["run"] or run * 1000, 0) - max(mine["wait"] or 0, mine["delay"] or 0, says * 1000), time):
                cause = "lacking"
            elif field == "delay" and says == 0 and came_p is not None and perf_has.woke_early(task, came_p):
                cause = "early"
            elif field == "delay" and came_p is not None and perf_has.swapped(task, came_p, own):
                cause = "swapped"
            elif came is None and came_by_another(perf_has, cpu, task, at):
                cause = "another"
            elif came_p is not None and perf_has.came_twice(task, came_p):
                cause = "another"
            elif field == "delay" and mine["preempted"] and came_p is not None and any(
                (came_p - wake) // 1000 == says for wake in perf_has.wakes[task]
            ):
                cause = "awake"
            else:
                cause = "unexplained"
                problem(f"{at} on CPU {cpu}, {who}: {field} {says} us by perf, {mine[field]} ns by rtrace")
            causes[f"{field}: {cause}"] += 1
    return stays


def came_by_another(perf_has, cpu, task, at):
    """True if the switch before `at` on `cpu` was to another task: the one to `task` is in neither recording."""
    on = perf_has.on[cpu]
    nth = bisect.bisect_left(on, (at,)) - 1
    return nth >= 0 and on[nth][1] != task


def latency():
    """Rows of `perf sched latency`: by task (runtime, number, mean, greatest), in microseconds."""
    row = re.compile(r"^\s*(.*):(\d+)\s*\|\s*([\d.]+) ms \|\s*(\d+) \| avg:\s*([\d.]+) ms \| max:\s*([\d.]+) ms ")
    found = {}
    for line in perf("sched", "latency", "-p"):
        one = row.match(line)
        if one:
            found[int(one[2])] = (int(one[4]), *(round(float(time) * 1000) for time in (one[3], one[5], one[6])))
    return found


def waits(perf_has, stays):
    """Compares `perf sched latency` with its rules, and each wait that it counts with rtrace's."""
    last, counted, ran = {}, collections.defaultdict(list), perf_has.ran

    def state_of(task, at, unknown):
        """State of a task, since when. perf takes one that it hears of by sched_stat_runtime for waiting since then."""
        heard = perf_has.heard.get(task, at)
        return last.get(task, ("R", heard) if heard < at else (unknown, at))

    knows_wakeups = any(event[2] == "sched_wakeup" for event in perf_has.events)
    for at, _cpu, name, key in perf_has.events:
        if name in ("sched_wakeup", "sched_wakeup_new"):
            state, _since = state_of(key, at, "S")
            if state == "S":
                last[key] = ("woken", at)
        elif name == "sched_switch":
            before, after, letters = key
            last[before] = ("R", at) if letters == "R" else ("S", at)
            state, since = state_of(after, at, "first")
            if state != "S" and state != "on":
                counted[after].append((since, at, state))
            last[after] = ("on", at)
    printed = latency()
    for task in set(printed) | set(counted):
        if not task:
            continue
        number, runtime, mean, greatest = printed.get(task, (0, 0, 0, 0))
        times = [end - begin for begin, end, _state in counted[task]]
        ours = (len(times), ran[task], sum(times) // max(len(times), 1), max(times, default=0))
        near = lambda a, b: abs(a / 1000 - b) <= 1  # noqa: E731
        if number == ours[0] and near(ours[1], runtime) and near(ours[2], mean) and near(ours[3], greatest):
            causes["latency: tasks"] += 1
        else:
            problem(f"task {task}: perf sched latency {printed.get(task)}, by its rules {ours}")
    kept = set()
    for task, all_of in counted.items():
        for begin, end, state in all_of:
            kept.add((task, end))
            mine = stays.get((task, end))
            if not task:
                continue
            if state == "first":
                causes["latency: first"] += 1
            elif mine is None:
                causes["latency: goes on"] += 1
            elif state == "R" and mine["preempted"]:
                causes["latency: equal"] += 1
            elif state == "woken" and mine["delay"] is not None:
                woken = perf_has.wakeup(mine["time"] - mine["run"] - mine["delay"])
                since = mine["time"] - mine["run"] - (mine["wait"] or mine["delay"])
                known = perf_has.one_lacks(task, since, mine["time"]) or perf_has.before(since) or perf_has.swapped(task, end, perf_has.own)
                if woken is not None and woken > begin and not known:
                    problem(f"task {task} at {end}: woken at {begin} by perf, later by rtrace: {mine}")
                cause = "equal" if woken == begin else "lacking" if woken is None or woken > begin else "since sched_wakeup"
                causes["latency: " + cause] += 1
            elif perf_has.before(mine["time"]) or perf_has.before(mine["time"] - (mine["run"] or 0) - (mine["wait"] or 0)):
                causes["latency: before"] += 1
            else:
                problem(f"task {task} at {end}: a wait of {end - begin} ns ({state}) by perf, {mine} by rtrace")
    for (task, came), mine in stays.items():
        if (task, came) in kept or not task or mine["delay"] is None and not mine["preempted"]:
            continue
        begin = mine["time"] - mine["run"] - (mine["wait"] or mine["delay"] or 0)
        if perf_has.before(begin):
            causes["latency: before"] += 1
        elif mine["preempted"]:
            # The state R+, whose letter perf looks up beyond the end of its table.
            causes["latency: forced"] += 1
        elif perf_has.one_lacks(task, begin, mine["time"]):
            causes["latency: lacking"] += 1
        elif perf_has.came_twice(task, came):
            causes["latency: another"] += 1
        elif not knows_wakeups:
            causes["latency: sched_waking unknown"] += 1
        else:
            problem(f"task {task} at {came}: no wait by perf, {mine} by rtrace")


def main():
    theirs, ran, heard = perf_events()
    perf_has = Perf(theirs, rtrace_events({event[2] for event in theirs}))
    perf_has.ran, perf_has.heard = ran, heard
    waits(perf_has, rows(perf_has))
    for cause, number in sorted(causes.items()):
        print(f"{number:8} {cause}")
    print("{:8} events that rtrace alone has, {} that perf alone has".format(*perf_has.alone))
    print(f"{FILE}, {len(theirs)} events: {len(left)} differences")
    sys.exit(bool(left))


main()
