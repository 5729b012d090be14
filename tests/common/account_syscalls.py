#!/usr/bin/env python3
"""Checks `rtrace analyze syscalls --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_syscalls.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Each task's events are taken by themselves, calls are pairs of
neighbours among its entries and exits, and time off the CPU is summed up over the intervals between its switches. Prints each
difference; exit status 1 if there are any.
"""
import re
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same


def is_used(system, name):
    kinds = ("sys_enter", "sys_exit")
    return system == "raw_syscalls" and name in kinds or system == "syscalls" and name.startswith(("sys_enter_", "sys_exit_")) or (
        (system, name) == ("sched", "sched_switch"))


def signed(value):
    """As the kernel has it: a long, whatever its format says."""
    value = int(value, 0) if isinstance(value, str) else value
    return value - (1 << 64) if value >= 1 << 63 else value


# Where the calls of files have their descriptor (section 2 of the manual): first, but for these.
LATER = {"epoll_ctl": 2, "mmap": 4, "pidfd_getfd": 1}
FIRST = set("""accept accept4 bind cachestat close close_range connect execveat fadvise64 fallocate fchdir fchmod fchown fcntl
fdatasync fgetxattr flistxattr flock fremovexattr fsconfig fsetxattr fstat fstatfs fsync ftruncate getdents getdents64 getpeername
getsockname getsockopt inotify_add_watch inotify_rm_watch io_uring_enter io_uring_register ioctl listen lseek pread64 preadv
preadv2 pwrite64 pwritev pwritev2 quotactl_fd read readahead readv recvfrom recvmmsg recvmsg sendmmsg sendmsg sendto setns
setsockopt shutdown sync_file_range syncfs vmsplice write writev fcntl64 fstat64 fstatfs64 ftruncate64""".split())
OPENS = ("open", "openat", "openat2", "creat")


def descriptors_of(events, names, processes, followed):
    """Time, calls, failures, time off the CPU and longest call by (pid, is process, descriptor, file).

    `followed` are the calls that count: (number, task, entry, time, off CPU, result, place of the exit).
    """
    family = "raw_syscalls" if any(event[4] == "raw_syscalls" and event[5] for event in events) else "syscalls"
    ends = {(call[1], call[2]): call for call in followed}
    found, files, paths, returned = {}, {}, {}, {}

    def gone(pid):
        for key in [key for key in files if key[0] == pid]:
            del files[key]

    for at, cpu, pid, lost, system, name, fields in events:
        if lost:
            files.clear()
            paths.clear()
        if not name or name == "sched_switch":
            continue
        owner = processes.get(pid, pid)
        is_process = owner in processes.values()
        number = signed(next(fields[field] for field in ("id", "__syscall_nr", "nr") if field in fields))
        for path in ("__filename_val", "__pathname_val"):
            if path in fields:
                paths[pid] = (number, at, fields[path])
        if system != family:
            continue
        call = names.get(number) if system == "raw_syscalls" else name.split("_", 2)[2]
        result = signed(fields["ret"]) if name.startswith("sys_exit") else None
        if result is None:
            arguments = [signed(value) for value in fields.get("args", [])]
            if system == "raw_syscalls":
                place = LATER.get(call, 0 if call in FIRST else None)
                fd = arguments[place] if place is not None else None
            else:
                fd = signed(fields["fd"]) if "fd" in fields else None
                arguments = [signed(value) for key, value in fields.items() if not key.startswith("common_") and not isinstance(value, list)][1:]
            if fd is not None:
                fd = (fd & 0xFFFFFFFF) - ((fd & 0x80000000) << 1)
            if fd is not None and fd >= 0 and (pid, at) in ends:
                _, _, _, time, off, outcome, _ = ends[pid, at]
                row = found.setdefault((owner, is_process, fd, files.get((owner, fd))), [0, 0, 0, 0, 0])
                row[0] += 1
                row[1] += -4095 <= outcome < 0
                row[2] += time
                row[3] += off
                row[4] = max(row[4], time)
            if call == "close":
                files.pop((owner, fd), None)
            elif call == "close_range":
                for key in [key for key in files if key[0] == owner and arguments[0] & 0xFFFFFFFF <= key[1] <= arguments[1] & 0xFFFFFFFF]:
                    del files[key]
            elif call == "exit_group":
                gone(owner)
            continue
        if call in OPENS and result >= 0:
            files.pop((owner, result), None)
            path = paths.get(pid)
            if is_process and path and path[0] == number and path[1] >= returned.get(pid, 0):
                files[owner, result] = path[2]
        elif call in ("dup2", "dup3") and result >= 0:
            files.pop((owner, result), None)
        elif call in ("execve", "execveat") and result == 0:
            gone(owner)
        elif call in ("fork", "vfork", "clone", "clone3") and result == 0 and owner == pid:
            gone(owner)
        returned[pid] = at
    return found


def calls_of(events):
    """The marks of each task, and what came of them."""
    family = "raw_syscalls" if any(event[4] == "raw_syscalls" and event[5] for event in events) else "syscalls"
    marks, off, loss, away = {}, {}, [], {}
    for nth, (at, cpu, pid, lost, system, name, fields) in enumerate(events):
        if lost:
            loss.append(nth)
        if name == "sched_switch":
            prev, following = fields["prev_pid"], fields["next_pid"]
            away[prev] = (nth, at)
            if following in away:
                left = away.pop(following)
                off.setdefault(following, []).append((*left, nth, at))
        elif name and system == family:
            number = signed(next(fields[field] for field in ("id", "__syscall_nr", "nr") if field in fields))
            result = signed(fields["ret"]) if name.startswith("sys_exit") else None
            marks.setdefault(pid, []).append((nth, at, cpu, number, result))
    calls, counts = [], {"unfinished": 0, "without_entry": 0, "censored": 0, "losses": len(loss)}

    def lost_between(first, last):
        return any(first < nth <= last for nth in loss)

    for pid, own in marks.items():
        before = None
        for mark in own + [None]:
            if before is not None and before[4] is None:
                end = len(events) if mark is None else mark[0]
                if lost_between(before[0], end):
                    counts["censored"] += 1
                    counts["without_entry"] += mark is not None and mark[4] is not None
                elif mark is None or mark[4] is None:
                    counts["unfinished"] += 1
                elif mark[3] != before[3]:
                    counts["unfinished"] += 1
                    counts["without_entry"] += 1
                else:
                    inside = [b - a for first, a, last, b in off.get(pid, []) if before[0] < first and last < mark[0]]
                    calls.append((before[3], pid, before[1], mark[1] - before[1], sum(inside), mark[4], mark[0]))
            elif mark is not None and mark[4] is not None:
                counts["without_entry"] += 1
            before = mark
    return calls, counts


def check(name, events, theirs):
    calls, counts = calls_of(events)
    names = {call["number"]: call["call"] for call in theirs["calls"]}
    descriptors = {
        (row["pid"], row["is_process"], row["fd"], row["file"]): [row[key] for key in ("calls", "failed", "time", "off_cpu", "longest")]
        for row in theirs["descriptors"]
    }
    has_off = any(event[5] == "sched_switch" for event in events)
    for key, row in descriptors_of(events, names, PROCESSES, calls).items():
        row[3] = row[3] if has_off else None
        same(f"{name} descriptor {key}", row, descriptors.pop(key, None))
    same(f"{name} other descriptors", {}, descriptors)
    used = [event[0] for event in events if event[5]]
    same(f"{name} window", {"begin": used[0], "end": used[-1]}, theirs["window"])
    same(f"{name} counts", counts, theirs["counts"])
    distribution(f"{name} times", [call[3] for call in calls], theirs["times"])
    has_switches = any(event[5] == "sched_switch" for event in events)
    numbers = {call["number"]: call for call in theirs["calls"]}
    same(f"{name} numbers", sorted({call[0] for call in calls}), sorted(numbers))
    for number, found in numbers.items():
        what = f"{name} call {number}"
        own = sorted((call for call in calls if call[0] == number), key=lambda call: call[6])
        distribution(what, [call[3] for call in own], found["times"])
        failed = [call[5] for call in own if -4095 <= call[5] < 0]
        same(f"{what} failed", len(failed), found["failed"])
        same(f"{what} errors", sorted(failed.count(error) for error in set(failed)), sorted(found["errors"].values()))
        same(f"{what} off CPU", sum(call[4] for call in own) if has_switches else None, found["off_cpu"])
        longest = max(own, key=lambda call: call[3])
        same(f"{what} longest", (longest[3], longest[2], longest[1]), tuple(found["longest"][key] for key in ("time", "at", "pid")))
    tasks = {task["pid"]: task for task in theirs["tasks"]}
    same(f"{name} tasks", sorted({call[1] for call in calls}), sorted(tasks))
    for pid, found in tasks.items():
        own = [call for call in calls if call[1] == pid]
        failed = sum(-4095 <= call[5] < 0 for call in own)
        right = (len(own), failed, sum(call[3] for call in own), sum(call[4] for call in own) if has_switches else None)
        same(f"{name} task {pid}", right, tuple(found[key] for key in ("calls", "failed", "time", "off_cpu")))
    return len(calls)


def has_calls(events):
    return any(calls_of(events)[0])


def processes():
    """Tasks with their processes, from the column that the kernel's layout has in recordings that hold them."""
    text = rtrace("report", "--format", "kernel", FILE).decode(errors="replace")
    pairs = re.findall(r"^ *.{1,16}-(\d+) +\( *(\d+)\) +\[\d+\]", text, re.MULTILINE)
    return {int(task): int(process) for task, process in pairs}


PROCESSES = processes()
EVENTS = {name: events for name, events in account.buffers(is_used).items() if has_calls(events)}
FOUND = account.answer(rtrace("analyze", "syscalls", "--json", "--top", "0", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
CALLS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{CALLS} calls, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
