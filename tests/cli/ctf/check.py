#!/usr/bin/env python3
"""Holds a trace in the Common Trace Format, as babeltrace2 reads it, against the JSON lines of the same events.

    check.py DIRECTORY JSON

Event for event: time, CPU, task, name and each field. Prints how many; ends with 1 at the first difference.
"""
import json
import re
import subprocess
import sys

HEAD = re.compile(r"\[(\d+)\] (?:\S+ )?([^\s:]+): (.*)", re.S)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],=]|[^\s{}\[\],="]+')


def value(tokens):
    token = tokens.pop(0)
    if token == "{":
        fields = {}
        while tokens[0] != "}":
            name = tokens.pop(0)
            assert tokens.pop(0) == "="
            fields[name] = value(tokens)
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return fields
    if token == "[":
        items = []
        while tokens[0] != "]":
            assert [tokens.pop(0), tokens.pop(0).isdigit(), tokens.pop(0), tokens.pop(0)] == ["[", True, "]", "="]
            items.append(value(tokens))
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return items
    if token.startswith('"'):
        return token[1:-1].replace('\\"', '"').replace("\\\\", "\\").replace("\\n", "\n")
    return int(token, 0)


def read(directory):
    """Events as (time, cpu, tid, comm, name, fields), in the order of time and CPU."""
    command = ["babeltrace2", "--clock-cycles", "--no-delta", directory]
    done = subprocess.run(command, capture_output=True, check=True)
    # A text may hold line breaks; each event begins with its time.
    for text in re.split(r"^(?=\[\d+\] )", done.stdout.decode(), flags=re.M)[1:]:
        time, name, rest = HEAD.match(text).groups()
        tokens = TOKEN.findall(rest)
        parts = []
        while tokens:
            parts.append(value(tokens))
            if tokens:
                assert tokens.pop(0) == ","
        packet, context, fields = (parts + [{}])[:3]
        fields = {k: v for k, v in fields.items() if not k.endswith("_length") or k[1:-7] not in fields}
        yield int(time), packet["cpu_id"], context["tid"], context["procname"], name, fields


def lttng(line):
    """The same of a line of JSON."""
    system, event = line["event"].split(":")
    name = event
    if system == "irq" and event.startswith("softirq_"):
        name = "irq_" + event
    elif system == "timer" and event.startswith("hrtimer_"):
        name = "timer_" + event
    elif system == "syscalls":
        name = event.replace("sys_enter_", "syscall_entry_").replace("sys_exit_", "syscall_exit_")
    fields = {f"common_{k}": v for k, v in line.items() if k not in ("type", "ts", "cpu", "pid", "comm", "event", "fields", "buffer", "source")}
    for field, of in line["fields"].items():
        if field.endswith("_symbol"):  # the name of an address, which CTF leaves to its reader
            continue
        if of is not None and system == "sched" and (field == "prio" or field.endswith("_prio")):
            of -= 100
        if system == "sched" and re.fullmatch(r"(.*_)?pid", field):
            field = field[:-3] + "tid"
        if isinstance(of, str) and of.startswith("0x"):
            of = int(of, 16)
        fields[field] = int(of) if isinstance(of, bool) else of
    return line["ts"], line["cpu"], line["pid"], line["comm"] or "", name, fields


def main(directory, path):
    lines = [json.loads(line) for line in open(path)]
    theirs = sorted((lttng(line) for line in lines if line["type"] == "event"), key=lambda of: of[:2])
    ours = sorted(read(directory), key=lambda of: of[:2])
    if len(ours) != len(theirs):
        sys.exit(f"{len(ours)} events, and JSON has {len(theirs)}")
    # Of one time and CPU, events of several buffers may come in any order.
    key = lambda of: (of[:5], json.dumps(of[5], sort_keys=True))
    for mine, line in zip(sorted(ours, key=key), sorted(theirs, key=key)):
        fields = {k: bytes(v).hex() if isinstance(v, list) and isinstance(line[5].get(k), str) else v for k, v in mine[5].items()}
        # A field that its record lacks is empty here.
        absent = [k for k, v in line[5].items() if v is None and fields.get(k) in ("", 0, [])]
        if mine[:5] != line[:5] or {**fields, **dict.fromkeys(absent)} != line[5]:
            sys.exit(f"{mine}, and JSON has {line}")
    print(f"{len(ours)} events")


main(*sys.argv[1:])
