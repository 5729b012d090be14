#!/usr/bin/env python3
"""Checks `rtrace analyze memory --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_memory.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. The events of each address, and of each block's first page, are taken by
themselves: an allocation's end is what comes next there. Prints each difference; exit status 1 if there are any.
"""
import sys

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

ALLOCATE = ("kmalloc", "kmalloc_node", "kmem_cache_alloc", "kmem_cache_alloc_node")
FREE = ("kfree", "kmem_cache_free")
PAGES = ("mm_page_alloc", "mm_page_free")


def is_used(system, name):
    return system == "kmem" and name in ALLOCATE + FREE + PAGES


def whole(value):
    return int(value, 0) if isinstance(value, str) else value


def follow(events):
    counts = {"frees": 0, "page_frees": 0, "replaced": 0, "failed": 0, "losses": sum(event[3] for event in events)}
    at_place = {}
    for nth, (at, _cpu, pid, _lost, _system, name, fields) in enumerate(events):
        if name in ALLOCATE + FREE:
            place, begins = whole(fields["ptr"]), name in ALLOCATE
            counts["failed"] += begins and place == 0
            if place > 16:
                at_place.setdefault(("object", place), []).append((nth, at, begins, pid, fields))
        elif name is not None:
            place, begins = whole(fields["pfn"]), name == "mm_page_alloc"
            if begins and place in (-1, 2**32 - 1, 2**64 - 1):
                counts["failed"] += 1
            else:
                at_place.setdefault(("block", place), []).append((nth, at, begins, pid, fields))
    objects, blocks = [], []
    for (kind, _), marks in at_place.items():
        living = None
        for mark in marks:
            nth, at, begins, pid, fields = mark
            lives = objects if kind == "object" else blocks
            if begins:
                if living is not None:
                    counts["replaced"] += 1
                    lives.append((living, nth, None))
                living = mark
            elif living is not None and (kind == "object" or whole(living[4]["order"]) == whole(fields["order"])):
                lives.append((living, nth, at))
                living = None
            else:
                counts["frees" if kind == "object" else "page_frees"] += 1
        if living is not None:
            (objects if kind == "object" else blocks).append((living, None, None))
    return objects, blocks, counts


def site(what, lives, theirs):
    taken = [whole(begin[4]["bytes_alloc"]) for begin, _, _ in lives]
    asked = [whole(begin[4]["bytes_req"]) for begin, _, _ in lives]
    live = [size for size, (_, end, _) in zip(taken, lives) if end is None]
    steps = sorted([(begin[0], size) for size, (begin, _, _) in zip(taken, lives)]
                   + [(end, -size) for size, (_, end, _) in zip(taken, lives) if end is not None])
    now = most = 0
    for _, size in steps:
        now += size
        most = max(most, now)
    right = {
        "allocations": len(lives), "asked": sum(asked), "taken": sum(taken), "live": len(live), "live_taken": sum(live),
        "freed": sum(size for size, (_, _, at) in zip(taken, lives) if at is not None), "most": most,
    }
    same(what, right, {key: theirs[key] for key in right})
    distribution(f"{what} lives", [at - begin[1] for begin, _, at in lives if at is not None], theirs["lives"])


def pages(what, lives, theirs):
    sizes = [1 << whole(begin[4]["order"]) for begin, _, _ in lives]
    right = {
        "allocations": len(lives), "pages": sum(sizes),
        "freed": sum(size for size, (_, _, at) in zip(sizes, lives) if at is not None),
        "live": sum(size for size, (_, end, _) in zip(sizes, lives) if end is None),
    }
    same(what, right, {key: theirs[key] for key in right})


def grouped(name, lives, rows, of_life, of_row, compare):
    ours = {}
    for life in lives:
        ours.setdefault(of_life(life[0]), []).append(life)
    rows = {of_row(row): row for row in rows}
    same(name, sorted(ours), sorted(rows))
    for key in ours.keys() & rows.keys():
        compare(f"{name} {key}", ours[key], rows[key])


def check(name, events, theirs):
    objects, blocks, counts = follow(events)
    used = [event[0] for event in events if event[5]]
    same(f"{name} window", {"begin": used[0], "end": used[-1]}, theirs["window"])
    same(f"{name} counts", counts, theirs["counts"])
    call_site = lambda begin: f"{whole(begin[4]['call_site']):#x}"
    grouped(f"{name} sites", objects, theirs["sites"], call_site, lambda row: row["address"], site)
    grouped(f"{name} orders", blocks, theirs["orders"], lambda begin: whole(begin[4]["order"]), lambda row: row["order"], pages)
    grouped(f"{name} tasks", blocks, theirs["tasks"], lambda begin: begin[3], lambda row: row["pid"], pages)
    return len(objects) + len(blocks)


def has_allocations(events):
    return any(follow(events)[:2])


EVENTS = {name: events for name, events in account.buffers(is_used).items() if has_allocations(events)}
FOUND = account.answer(rtrace("analyze", "memory", "--json", "--top", "0", *ARGUMENTS, FILE))
FOUND = {buffer["buffer"]: buffer for buffer in FOUND["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
LIVES = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{LIVES} lives, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
