"""The parts that the scripts that check analyses share: a recording's events, and comparing."""
import datetime
import json
import re
import subprocess
import sys

RTRACE, FILE, ARGUMENTS = sys.argv[1], sys.argv[2], sys.argv[3:]
differences = 0
# True if events were lost: rtrace calls some numbers unknown then.
lossy = False


def rtrace(*words):
    done = subprocess.run([RTRACE, *words], stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 4):
        sys.exit(f"rtrace {' '.join(words)}: {done.returncode}")
    return done.stdout


def answer(text):
    """An answer in JSON without the local times beside its points in time, which have to be as far apart as those."""
    seen = []

    def compared(pairs):
        members = dict(pairs)
        for name in [name for name in members if name.endswith("_wall")]:
            point, wall = members[name[: -len("_wall")]], members.pop(name)
            date, fraction, zone = re.fullmatch(r"(.*)\.([0-9]{9})([-+].*)", wall).groups()
            wall = int(datetime.datetime.fromisoformat(date + zone).timestamp()) * 10**9 + int(fraction)
            seen.append((point, wall))
            (point, wall), (first, then) = seen[-1], seen[0]
            # The clocks may run at rates that differ a little.
            if abs((wall - then) - (point - first)) > 10**6 + abs(point - first) // 1000:
                sys.exit(f"{name} of {point} is {wall}, of {first} {then}")
        return members

    return json.loads(text, object_pairs_hook=compared)


def buffers(is_used):
    """The events that count, by buffer: (time, cpu, current task, lost before it, system, name, fields).

    Of the others, those after lost events count too, without a name.
    """
    global lossy
    found, lost_before = {}, set()
    for line in rtrace("report", "--format", "json", *ARGUMENTS, FILE).splitlines():
        event = json.loads(line)
        place = (event.get("buffer") or "", event.get("cpu"))
        if event["type"] == "lost":
            lost_before.add(place)
            lossy = True
        if event["type"] != "event":
            continue
        system, _, name = (event["event"] or "").partition(":")
        used = is_used(system, name)
        lost = place in lost_before
        lost_before.discard(place)
        if used or lost:
            name = name if used else None
            fields = {**event.get("fields", {}), "common_flags": event["flags"]}
            one = (event["ts"], event["cpu"], event["pid"], lost, system, name, fields)
            found.setdefault(place[0], []).append(one)
    return found


def same(what, ours, theirs):
    global differences
    if lossy and theirs is None:
        return
    if lossy and isinstance(theirs, (tuple, list)) and isinstance(ours, (tuple, list)) and len(ours) == len(theirs):
        ours = type(theirs)(None if other is None else one for one, other in zip(ours, theirs))
    if lossy and isinstance(theirs, dict):
        ours = {key: value for key, value in ours.items() if theirs.get(key, "") is not None}
        theirs = {key: value for key, value in theirs.items() if value is not None}
    if ours != theirs:
        differences += 1
        if differences <= 20:
            print(f"{what}: by the definitions {ours}, by rtrace {theirs}")


def distribution(what, durations, theirs):
    """Count, mean, least and greatest exactly; quantiles by the nearest rank, of a histogram up to 0.1 % too large."""
    durations = sorted(durations)
    same(f"{what} count", len(durations), theirs["count"])
    if lossy and theirs["count"] is None:
        return
    if not durations or len(durations) != theirs["count"]:
        return
    same(f"{what} exact", len(durations) <= 4096, theirs["exact"])
    total = sum(durations)
    same(f"{what} mean", total // len(durations), theirs["mean"])
    same(f"{what} min", durations[0], theirs["min"])
    for number, ours in (("total", total), ("max", durations[-1])):
        # Some of them may be made of two where events were lost.
        least = lossy and theirs[number] is not None and 0 < theirs[number] <= ours
        same(f"{what} {number}", ours, ours if least else theirs[number])
    for name, share in (("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999)):
        right = durations[-(-len(durations) * share // 1000) - 1]
        near = theirs["exact"] and theirs[name] == right or not theirs["exact"] and 0 <= theirs[name] - right <= right / 1000 + 1
        same(f"{what} {name} ({right}: {theirs[name]})", True, near)
