#!/usr/bin/env python3
"""Checks `rtrace analyze net --json` against an account made from the definitions of docs/reference/analyses.md alone.

    account_net.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Counts are sums over all events; a wakeup looks back for its packet and ahead for
the end of its poll, a sent packet back for its queue. Prints each difference; exit status 1 if there are any.
"""
import sys
from collections import Counter

import account_events as account
from account_events import ARGUMENTS, FILE, distribution, rtrace, same

NET = {"netif_receive_skb", "napi_poll", "net_dev_queue", "net_dev_xmit", "tcp_retransmit_skb"}
OTHERS = {"sched": {"sched_waking", "sched_wakeup", "sched_switch"}, "skb": {"kfree_skb"}}


def is_used(system, name):
    return system in ("net", "napi", "tcp") and name in NET or name in OTHERS.get(system, ())


def whole(value):
    return int(value, 0) if isinstance(value, str) else int(value)


def flags_of(event):
    return whole(event[6]["common_flags"])


def wakeups(events):
    """Delays by (task, device)."""
    found = {}
    losses = [nth for nth, event in enumerate(events) if event[3]]
    for cpu in {event[1] for event in events}:
        own = [(nth, event) for nth, event in enumerate(events) if event[1] == cpu]
        # From a poll's end, a switch or a loss to the next one.
        polls, current = [], []
        for nth, event in own:
            lost = losses and any((current[-1][0] if current else nth) < at <= nth for at in losses)
            if lost or event[3]:
                current = []
            current.append((nth, event))
            if event[5] in ("napi_poll", "sched_switch"):
                polls.append(current)
                current = []
        for poll in polls:
            if poll[-1][1][5] != "napi_poll":
                continue
            seen = set()
            for at, (_, event) in enumerate(poll):
                if event[5] not in ("sched_waking", "sched_wakeup") or flags_of(event) & 0x58 != 0x10:
                    continue
                packets = [one for _, one in poll[:at] if one[5] == "netif_receive_skb"]
                task = event[6]["pid"]
                if packets and task not in seen:
                    seen.add(task)
                    found.setdefault((task, packets[-1][6]["name"]), []).append(event[0] - packets[-1][0])
    return found


def queue_times(events):
    """By device."""
    found, marks = {}, {}
    for event in events:
        if event[3]:
            marks = {}
        fields = event[6]
        if event[5] in ("net_dev_queue", "net_dev_xmit", "kfree_skb"):
            history = marks.setdefault(whole(fields["skbaddr"]), [])
            if event[5] == "net_dev_xmit" and fields["rc"] == 0 and history and history[-1][5] == "net_dev_queue":
                if history[-1][6]["len"] == fields["len"]:
                    found.setdefault(fields["name"], []).append(event[0] - history[-1][0])
            if event[5] != "net_dev_xmit" or fields["rc"] == 0:
                history.append(event)
    return found


def check(name, events, theirs):
    net = [event for event in events if event[5] in NET]
    same(f"{name} window", {"begin": net[0][0], "end": net[-1][0]}, theirs["window"])
    same(f"{name} losses", sum(event[3] for event in events), theirs["losses"])
    counts = Counter()
    for event in net:
        what, fields = event[5], event[6]
        if what == "netif_receive_skb":
            counts[fields["name"], "received"] += 1
            counts[fields["name"], "received_bytes"] += fields["len"]
        elif what == "napi_poll":
            device = fields["dev_name"]
            counts[device, "polls"] += 1
            counts[device, "work"] += fields.get("work", 0)
            counts[device, "exhausted"] += "work" in fields and fields["work"] >= fields["budget"]
        elif what == "net_dev_xmit":
            taken = fields["rc"] == 0
            counts[fields["name"], "sent" if taken else "refused"] += 1
            counts[fields["name"], "sent_bytes"] += fields["len"] if taken else 0
    found = {(row["device"], key): row[key] for row in theirs["devices"] for key in row if isinstance(row[key], int) and row[key]}
    same(f"{name} devices", {key: count for key, count in counts.items() if count}, found)
    queued = queue_times(events)
    for row in theirs["devices"]:
        distribution(f"{name} queued of {row['device']}", queued.get(row["device"], []), row["queued"])
    woken = wakeups(events)
    rows = {(row["pid"], row["device"]): row for row in theirs["woken"]}
    same(f"{name} woken", sorted(woken), sorted(rows))
    for key in woken.keys() & rows.keys():
        distribution(f"{name} woken {key}", woken[key], rows[key]["delays"])
    again = Counter((event[6]["sport"], event[6]["dport"]) for event in net if event[5] == "tcp_retransmit_skb")
    ours = Counter()
    for row in theirs["retransmits"]:
        ours[int(row["local"].rpartition(":")[2]), int(row["remote"].rpartition(":")[2])] += row["count"]
    same(f"{name} retransmits", again, ours)
    return len(net)


EVENTS = {name: events for name, events in account.buffers(is_used).items() if any(event[5] in NET for event in events)}
FOUND = rtrace("analyze", "net", "--json", "--top", "0", *ARGUMENTS, FILE) if EVENTS else '{"buffers": []}'
FOUND = {buffer["buffer"]: buffer for buffer in account.answer(FOUND)["buffers"]}
same("buffers", sorted(EVENTS), sorted(FOUND))
COUNT = sum(check(name or "top", EVENTS[name], FOUND[name]) for name in sorted(EVENTS.keys() & FOUND.keys()))
print(f"{COUNT} events of the network, {sum(map(len, EVENTS.values()))} events, {account.differences} differences")
sys.exit(account.differences > 0)
