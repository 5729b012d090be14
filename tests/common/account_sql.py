#!/usr/bin/env python3
"""Checks the rows of `rtrace synth sql -i FILE --json` against an account made from the definitions of `rtrace help synth` alone.

    account_sql.py RTRACE FILE [ARGUMENT...]

The events come from `rtrace report --format json FILE`. Statements are made of the fields that they have, each with a function
that says what it asks for. Prints each difference; exit status 1 if there are any.
"""
import json
import random
import re
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

RTRACE, FILE, ARGUMENTS = sys.argv[1], sys.argv[2], sys.argv[3:]
MOST = (1 << 64) - 1
PAIRS = [
    ("sched:sched_waking", "pid", "sched:sched_switch", "next_pid"),
    ("sched:sched_wakeup", "pid", "sched:sched_switch", "next_pid"),
    ("sched:sched_switch", "prev_pid", "sched:sched_switch", "next_pid"),
    ("irq:softirq_raise", "vec", "irq:softirq_entry", "vec"),
    ("irq:softirq_entry", "vec", "irq:softirq_exit", "vec"),
    ("raw_syscalls:sys_enter", "common_pid", "raw_syscalls:sys_exit", "common_pid"),
]
differences = statements = 0


def rtrace(*words):
    done = subprocess.run([RTRACE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 4):
        sys.exit(f"rtrace {' '.join(words)}: {done.returncode} {done.stderr.decode()}")
    return done.stdout


class Event:
    def __init__(self, line):
        self.name, self.time, self.cpu = line["event"], line["ts"], line["cpu"]
        self.fields = {**line.get("fields", {}), "common_pid": line["pid"], "TIMESTAMP": self.time, "CPU": self.cpu}


def buffers():
    """The events of each buffer, in their order; None where events were lost."""
    found = {}
    for line in rtrace("report", "--format", "json", *ARGUMENTS, FILE).splitlines():
        line = json.loads(line)
        events = found.setdefault(line.get("buffer") or "", [])
        if line["type"] == "lost":
            events.append(None)
        elif line["type"] == "event" and line["event"]:
            events.append(Event(line))
    return found


def bounded(number):
    return number if abs(number) <= MOST else None


def plus(a, b):
    return None if a is None or b is None else bounded(a + b)


def minus(a, b):
    return None if a is None or b is None else bounded(a - b)


def times(a, b):
    return None if a is None or b is None else bounded(a * b)


def over(a, b):
    if a is None or b is None or b == 0:
        return None
    return bounded(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def usecs(a):
    return (a + 500) // 1000


def mean(values):
    if not values:
        return None
    thousandths = Fraction(sum(values) * 1000, len(values))
    size = abs(thousandths) + Fraction(1, 2)
    return Fraction((size.numerator // size.denominator) * (1 if thousandths >= 0 else -1), 1000)


def at(percent):
    def percentile(values):
        if not values:
            return None
        rank = max(1, -(-len(values) * Fraction(percent) // 100))
        return sorted(values)[int(rank) - 1]
    percentile.is_inexact = True
    return percentile


def of_some(function):
    return lambda values: function(values) if values else None


FUNCTIONS = {
    "count": len,
    "sum": of_some(sum),
    "min": of_some(min),
    "max": of_some(max),
    "avg": mean,
}


def key_of(value):
    return (0, 0) if value is None else (1, value) if isinstance(value, int) else (2, value.encode())


class Question:
    """Keys and functions of expressions, each a text and what it means of a row."""

    def __init__(self, keys, functions, order=(), limit=None):
        self.keys, self.functions, self.order, self.limit = keys, functions, order, limit

    def columns(self):
        texts = [f"{text} as k{n}" for n, (text, _) in enumerate(self.keys)]
        for n, (name, (text, _)) in enumerate(self.functions):
            texts.append(f"percentile({text}, {name}) as v{n}" if name[0].isdigit() else f"{name}({text}) as v{n}")
        return ", ".join(texts)

    def clauses(self):
        text = " group by " + ", ".join(text for text, _ in self.keys) if self.keys else ""
        if self.order:
            text += " order by " + ", ".join(f"{name}{' desc' if down else ''}" for name, down in self.order)
        return text + (f" limit {self.limit}" if self.limit is not None else "")

    def rows(self, events):
        groups = {}
        for event in events:
            groups.setdefault(tuple(of(event) for _, of in self.keys), []).append(event)
        if not self.keys:
            groups.setdefault((), [])
        rows = []
        for key, members in groups.items():
            row = {f"k{n}": value for n, value in enumerate(key)}
            for n, (name, (_, of)) in enumerate(self.functions):
                values = [value for value in map(of, members) if value is not None]
                row[f"v{n}"] = (at(name) if name[0].isdigit() else FUNCTIONS[name])(values)
                row["exact", f"v{n}"] = not name[0].isdigit() or len(values) <= 4096
            rows.append(row)
        rows.sort(key=lambda row: [key_of(row[f"k{n}"]) for n in range(len(self.keys))])
        for name, down in reversed(self.order):
            rows.sort(key=lambda row: key_of(row[name]), reverse=down)
        return rows, rows if self.limit is None else rows[: self.limit]


def same(what, right, found):
    global differences
    if right != found:
        differences += 1
        if differences <= 20:
            print(f"{what}: by the definitions {right}, by rtrace {found}")


def near(right, found):
    """A percentile of a histogram: at most 0.1 % too far from 0."""
    if right is None or found is None:
        return right == found
    return (right < 0) == (found < 0) and 0 <= abs(found) - abs(right) <= abs(right) // 1000 + 1


def value(cell, right):
    if isinstance(cell, Decimal) or isinstance(right, Fraction):
        return Fraction(cell)
    return int(cell) if isinstance(right, int) and isinstance(cell, str) else cell


def ask(statement, buffer, question, events, stages):
    global statements
    statements += 1
    words = ["synth", "sql", "-i", FILE, *ARGUMENTS, "--buffer", buffer, "--json", statement]
    threads = random.choice([[], ["--threads", "1"], ["--threads", "2"], ["--threads", "8"]])
    document = json.loads(rtrace(*words, *threads), parse_float=Decimal)
    all_rows, rows = question.rows(events)
    same(f"{statement}: rows", (len(rows), len(all_rows), len(events)),
         (len(document["rows"]), document["all_rows"], document["of"]))
    same(f"{statement}: stages", stages, document["stages"])
    for n, (right, found) in enumerate(zip(rows, document["rows"])):
        for name, cell in found.items():
            wanted = right[name]
            cell = value(cell, wanted) if cell is not None and wanted is not None else cell
            if right.get(("exact", name), True):
                same(f"{statement}: row {n}, {name}", wanted, cell)
            else:
                same(f"{statement}: row {n}, {name} ({wanted}: {cell})", True, near(wanted, cell))


def fields_of(events, prefix=""):
    """Numbers and texts that all events have, as text of a statement and as what they mean."""
    numbers, texts = [], []
    for name in events[0].fields:
        values = [event.fields.get(name) for event in events]
        if all(type(value) in (int, bool) for value in values):
            numbers.append((prefix + name, lambda row, name=name: int(row.fields[name])))
        elif all(isinstance(value, str) for value in values) and not any(re.match(r"^(0x|-?\d+$|\\)", v) or "\\x" in v for v in values):
            texts.append((prefix + name, lambda row, name=name: row.fields[name]))
    return numbers, texts


def calculated(numbers):
    (a, of_a), (b, of_b) = random.choice(numbers), random.choice(numbers)
    return random.choice([
        (a, of_a),
        (f"{a} - {b}", lambda row: minus(of_a(row), of_b(row))),
        (f"{a} + 7 * {b}", lambda row: plus(of_a(row), times(7, of_b(row)))),
        (f"{a} * {b}", lambda row: times(of_a(row), of_b(row))),
        (f"{a} / {b}", lambda row: over(of_a(row), of_b(row))),
        (f"({a} - {b}) * 1000000007 * {a}", lambda row: times(times(minus(of_a(row), of_b(row)), 1000000007), of_a(row))),
    ])


def question(numbers, texts):
    keys = random.sample(numbers + texts, random.choice([0, 1, 1, 2]))
    names = random.sample(list(FUNCTIONS) + ["50", "99.9", "0", "100", "12.5"], random.choice([1, 3, 6]))
    # A sum alone is a histogram.
    names = names if names != ["sum"] else ["sum", "max"]
    functions = [(name, calculated(numbers)) for name in names]
    columns = [f"k{n}" for n in range(len(keys))] + [f"v{n}" for n in range(len(functions))]
    # A mean is compared by thousandths, and a percentile that is not exact would sort otherwise.
    columns = [name for name in columns if name[0] == "k" or functions[int(name[1:])][0] in ("count", "sum", "min", "max")]
    order = [(name, random.random() < 0.5) for name in random.sample(columns, min(len(columns), random.choice([0, 1, 2])))]
    return Question(keys, functions, order, random.choice([None, None, 3]))


class Pair:
    def __init__(self, start, end):
        self.start, self.end = start, end
        self.fields = {}


def pairs(events, start_name, start_key, end_name, end_key):
    """Each end with the last start of its key that is not yet of a pair, and no loss between them."""
    begun, made = {}, []
    counts = {"starts": 0, "ends": 0, "alone": 0, "censored": 0}
    for event in events:
        if event is None:
            counts["censored"] += len(begun)
            begun = {}
            continue
        start = None
        if event.name == start_name:
            counts["starts"] += 1
            # The start is set first; an event may end what it begins.
            begun[event.fields[start_key]] = event
        if event.name == end_name:
            counts["ends"] += 1
            start = begun.pop(event.fields[end_key], None)
            if start is None:
                counts["alone"] += 1
            else:
                made.append(Pair(start, event))
    unfollowed = counts["starts"] - len(made) - counts["censored"]
    stages = [
        {"event": start_name, "events": counts["starts"], "unmatched": 0, "unfollowed": unfollowed,
         "censored": counts["censored"], "dropped": 0},
        {"event": end_name, "events": counts["ends"], "unmatched": counts["alone"], "unfollowed": 0, "censored": 0,
         "dropped": 0},
    ]
    return made, stages


def of_side(side, fields):
    return [(text, lambda pair, of=of: of(getattr(pair, side))) for text, of in fields]


def ask_of_pairs(buffer, events, start, start_key, end, end_key):
    named = {name: [event for event in events if event and event.name == name] for name in (start, end)}
    if not all(named.values()) or start_key not in named[start][0].fields:
        return
    made, stages = pairs(events, start, start_key, end, end_key)
    (start_numbers, start_texts), (end_numbers, end_texts) = (
        fields_of(named[start], "s."), fields_of(named[end], "e."))
    pick = lambda fields: [f for f in fields if f[0][2:] != "common_pid"]
    numbers = of_side("start", pick(start_numbers)) + of_side("end", pick(end_numbers))
    texts = of_side("start", start_texts) + of_side("end", end_texts)
    lasted = lambda pair: pair.end.time - pair.start.time
    numbers.append(("TIMESTAMP_DELTA", lasted))
    numbers.append(("TIMESTAMP_DELTA_USECS", lambda pair: usecs(pair.end.time) - usecs(pair.start.time)))
    dotted = lambda name: name.replace(":", ".")
    join = f" from {dotted(start)} as s join {dotted(end)} as e on s.{start_key} = e.{end_key}"
    always = Question([], [("count", ("TIMESTAMP_DELTA", lasted)), ("sum", ("TIMESTAMP_DELTA", lasted))])
    for one in [always] + [question(numbers, texts) for _ in range(4)]:
        ask(f"select {one.columns()}{join}{one.clauses()}", buffer, one, made, stages)


def main():
    seen = 0
    for buffer, events in buffers().items():
        random.seed(len(events))
        by_name = {}
        for event in events:
            if event:
                by_name.setdefault(event.name, []).append(event)
        seen += sum(map(len, by_name.values()))
        for name, of_name in sorted(by_name.items(), key=lambda item: -len(item[1]))[:3]:
            if name.startswith("ftrace:"):
                continue
            numbers, texts = fields_of(of_name)
            for _ in range(3):
                one = question(numbers, texts)
                statement = f"select {one.columns()} from {name.replace(':', '.')}{one.clauses()}"
                ask(statement, buffer, one, of_name, None)
            least = sorted(of(event) for event in of_name for _, of in numbers[:1])[len(of_name) // 2]
            text, of = numbers[0]
            if 0 <= least and text not in ("TIMESTAMP", "CPU"):
                one = question(numbers, texts)
                statement = f"select {one.columns()} from {name.replace(':', '.')} where {text} >= {least}{one.clauses()}"
                ask(statement, buffer, one, [event for event in of_name if of(event) >= least], None)
        for pair in PAIRS:
            ask_of_pairs(buffer, events, *pair)
    print(f"{FILE}: {statements} statements, {seen} events, {differences} differences")
    sys.exit(1 if differences else 0)


main()
