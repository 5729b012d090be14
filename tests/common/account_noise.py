"""The parts that the scripts that check `analyze osnoise` and `analyze timerlat` share: interferences, and --beyond."""
from account_events import ARGUMENTS, distribution, same

KINDS = {"nmi_noise": "nmi", "irq_noise": "irq", "softirq_noise": "softirq", "thread_noise": "thread"}
SOFT_IRQS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")
UNITS = {"ns": 1, "us": 1000, "ms": 1000000}

# `--beyond 50us` is for the analysis alone.
BEYOND, OPTIONS = None, []
if "--beyond" in ARGUMENTS:
    AT = ARGUMENTS.index("--beyond")
    OPTIONS = ARGUMENTS[AT:AT + 2]
    BEYOND = int(OPTIONS[1][:-2]) * UNITS[OPTIONS[1][-2:]]
    del ARGUMENTS[AT:AT + 2]


def is_noise(system, name):
    return system == "osnoise" and name in KINDS


def noise(event, fields):
    """The interference of an event, as the analyses' JSON has it; None of others."""
    kind = KINDS.get(event)
    if kind is None:
        return None
    cause = {
        "nmi": lambda: "",
        "irq": lambda: f"{fields['desc']}:{fields['vector']}",
        "softirq": lambda: SOFT_IRQS[fields["vector"]],
        "thread": lambda: f"{fields['comm']} [{fields['pid']}]",
    }[kind]()
    return {"kind": kind, "cause": cause, "start": fields["start"], "duration": fields["duration"]}


def is_it(found, key, length):
    """Whether a sample is shown instead of the one that was found before: the first beyond a limit, or the longest."""
    if BEYOND is not None:
        return found is None and length > BEYOND
    return found is None or length > found[key]


def interferences(name, events, theirs):
    ours = {}
    for event in events:
        one = noise(event[5], event[6])
        if one:
            ours.setdefault((one["kind"], one["cause"]), []).append(one["duration"])
    totals = [row["times"]["total"] for row in theirs["interferences"]]
    same(f"{name} order of interferences", sorted(totals, reverse=True), totals)
    for row in theirs["interferences"]:
        key = (row["kind"], row["cause"])
        distribution(f"{name} {key}", ours.pop(key, []), row["times"])
    same(f"{name} other interferences", {}, ours)
