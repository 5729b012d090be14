#!/usr/bin/env python3
"""Checks `rtrace analyze io --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_io.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Each device's requests are followed apart as lists of steps, depth is found
afterwards by sweeping over the intervals at the device. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

STEPS = {"block_rq_insert": "insert", "block_rq_issue": "issue", "block_rq_requeue": "requeue", "block_rq_complete": "complete",
         "block_bio_frontmerge": "front", "block_rq_merge": "merge"}


def is_used(system, name):
    return system == "block" and name in STEPS


def whole(value):
    return int(value, 0) if isinstance(value, str) else value


def operation(letters):
    rest = letters[1:] if letters[:1] == "F" and letters[1:2] in ("R", "W", "D") else letters
    return {"R": "read", "W": "write", "D": "discard", "F": "flush"}.get(rest[:1], "other")


def waits(request):
    return not request.stays or request.stays[-1][1] is not None


class Request:
    def __init__(self, op, sector, sectors, task):
        self.task = task
        self.op, self.sector, self.sectors, self.left = op, sector, sectors, sectors
        self.inserted = self.issued = self.end = self.cpu = None
        self.error = 0
        self.ended = None  # of them those with an end that was seen, if not all
        self.stays = []  # intervals at the device, the last one without an end while it goes on

    def begin(self):
        return self.issued if self.inserted is None else self.inserted

    def leave(self, at, seen=True):
        if self.stays and self.stays[-1][1] is None:
            self.stays[-1][1] = at
            self.ended = self.ended if seen else self.stays[:-1]


def follow(events):
    counts = {"unfinished": 0, "without_issue": 0, "requeued": 0, "censored": 0, "losses": 0}
    ways, done, every, first, seen = {}, [], [], {}, 0
    for at, cpu, pid, lost, _system, name, fields in events:
        if lost:
            counts["losses"] += 1
            for way in ways.values():
                counts["censored"] += len(way)
                for request in way.values():
                    request.leave(seen, False)
                way.clear()
        if name is None:
            continue
        seen = at
        step, device = STEPS[name], whole(fields["dev"])
        sector, sectors, op = whole(fields["sector"]), whole(fields["nr_sector"]), operation(fields["rwbs"])
        way = ways.setdefault(device, {})
        request = way.get(sector)
        if step in ("front", "merge"):
            behind = way.get(sector + sectors)
            if step == "merge" and request is not None and waits(request):
                del way[sector]
            elif step == "front" and request is None and behind is not None and waits(behind) and behind.op == op:
                del way[sector + sectors]
                behind.sector, behind.sectors, behind.left = sector, behind.sectors + sectors, behind.sectors + sectors
                way[sector] = behind
            continue
        if request is not None or step != "requeue":
            first.setdefault(device, at)
        if step == "insert":
            if request is not None and request.issued is None and request.op == op:
                continue
            if request is not None:
                counts["unfinished"] += 1
                request.leave(at, False)
            way[sector] = Request(op, sector, sectors, pid)
            way[sector].inserted = at
        elif step == "issue":
            if request is None or request.issued is not None or request.op != op:
                if request is not None:
                    counts["unfinished"] += 1
                    request.leave(at, False)
                way[sector] = request = Request(op, sector, sectors, pid)
            request.issued, request.sectors, request.left = at, sectors, sectors
            request.stays.append([at, None])
            every.append((device, request))
        elif step == "requeue":
            if request is not None:
                counts["requeued"] += 1
                request.inserted, request.issued = request.begin(), None
                request.leave(at)
        else:
            error = whole(fields.get("error", fields.get("errors", 0)))
            if request is not None and error == 0 and 0 < sectors < request.left:
                request.left -= sectors
                del way[sector]
                way[sector + sectors] = request
                continue
            if request is not None:
                del way[sector]
                request.leave(at)
            if request is None or request.issued is None:
                counts["without_issue"] += 1
                continue
            request.end, request.cpu, request.error = at, cpu, error
            done.append((device, request))
    counts["unfinished"] += sum(map(len, ways.values()))
    return done, every, first, counts


def depths(stays, begin, end):
    marks = sorted([(a, 1) for a, _ in stays] + [(end if b is None else b, -1) for _, b in stays])
    times, now, since = {}, 0, begin
    for at, by in marks:
        times[now] = times.get(now, 0) + at - since
        now, since = now + by, at
    times[now] = times.get(now, 0) + end - since
    return {depth: time for depth, time in times.items() if time}


def numbers(times):
    total = sum(times.values())
    mean = sum(depth * time for depth, time in times.items()) / total if total else 0
    return {"busy": total - times.get(0, 0), "mean": round(mean, 6), "max": max(times, default=0)}


def between(value):
    least, most = (value["least"], value["most"]) if isinstance(value, dict) else (value, value)
    return tuple(round(one, 6) if isinstance(one, float) else one for one in (least, most))


def check(name, events, theirs):
    done, every, first, counts = follow(events)
    used = [event[0] for event in events if event[5]]
    same(f"{name} window", {"begin": used[0], "end": used[-1]}, theirs["window"])
    same(f"{name} counts", counts, theirs["counts"])
    groups = {}
    for device, request in done:
        groups.setdefault((f"{device >> 20},{device & 0xfffff}", request.op), []).append(request)
    found = {(one["device"], one["operation"]): one for one in theirs["requests"]}
    same(f"{name} groups", sorted(groups), sorted(found))
    for group in sorted(groups.keys() & found.keys()):
        what, own, one = f"{name} {group}", groups[group], found[group]
        distribution(f"{what} total", [request.end - request.begin() for request in own], one["total"])
        queued = [request.issued - request.inserted for request in own if request.inserted is not None]
        distribution(f"{what} queue", queued, one["queue"])
        distribution(f"{what} device", [request.end - request.issued for request in own], one["device_time"])
        same(f"{what} bytes", sum(request.sectors for request in own) * 512, one["bytes"])
        same(f"{what} failed", sum(request.error != 0 for request in own), sum(one["errors"].values()))
        longest = max(own, key=lambda request: request.end - request.begin())
        right = {"time": longest.end - longest.begin(), "at": longest.begin(), "sector": longest.sector, "cpu": longest.cpu}
        same(f"{what} longest", right, one["longest"])
        powers = {}
        for request in own:
            power = max(request.end - request.begin(), 1).bit_length() - 1
            powers[1 << power if power else 0] = powers.get(1 << power if power else 0, 0) + 1
        rows = [row for row in theirs["histogram"] if (row["device"], row["operation"]) == group]
        same(f"{what} histogram", powers, {row["from"]: row["requests"] for row in rows if row["requests"] != 0})
    tasks = {}
    for device, request in done:
        tasks.setdefault((request.task, f"{device >> 20},{device & 0xfffff}", request.op), []).append(request)
    rows = {(row["pid"], row["device"], row["operation"]): row for row in theirs["by_task"]}
    same(f"{name} tasks", sorted(tasks), sorted(rows))
    for task in tasks.keys() & rows.keys():
        distribution(f"{name} {task}", [one.end - one.begin() for one in tasks[task]], rows[task]["total"])
        same(f"{name} {task} bytes", sum(one.sectors for one in tasks[task]) * 512, rows[task]["bytes"])
    ours = {}
    for device, since in first.items():
        requests = {id(request): request for on, request in every if on == device}.values()
        stays = [stay for request in requests for stay in request.stays]
        ended = [stay for request in requests for stay in (request.stays if request.ended is None else request.ended)]
        ended = [stay for stay in ended if stay[1] is not None]
        ours[f"{device >> 20},{device & 0xfffff}"] = [depths(some, since, used[-1]) for some in (ended, stays)]
    same(f"{name} devices", sorted(ours), sorted(one["device"] for one in theirs["devices"]))
    for one in theirs["devices"]:
        ended, stays = ours.get(one["device"], ({}, {}))
        what, depth = f"{name} {one['device']}", one["depth"]
        if ended == stays:
            times = {depth: time for depth, time in enumerate(depth["time"] or []) if time}
            same(f"{what} depth", stays, times)
        least, most = numbers(ended), numbers(stays)
        for number, value in {"busy": one["busy"], "mean": depth["mean"], "max": depth["max"]}.items():
            same(f"{what} {number}", (least[number], most[number]), between(value))
    return len(done)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if follow(events)[0]}
FOUND = account.answer(rtrace("analyze", "io", "--json", "--top", "0", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
REQUESTS = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{REQUESTS} requests, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
