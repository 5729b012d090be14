#!/usr/bin/env python3
"""Holds the tables that `rtrace convert` wrote against the JSON lines of the same events.

    check.py parquet DIRECTORY JSON     tables of DIRECTORY, read by DuckDB, polars and pandas
    check.py derived DIRECTORY SCHED    slices against SQL of their own over the events, and `analyze sched --json`
    check.py arrow STREAM JSON          a stream of Arrow's record batches, read by polars and pandas

Of each event type: the number of rows, the sum of each column of numbers, and the values of each text, list and boolean, row
by row in the order of time. Prints how much was compared; ends with 1 at the first difference.
"""
import glob
import json
import sys


def expected(path):
    """By event, its lines; the lines about lost events; and the kernel's functions by address."""
    events, lost, functions = {}, [], {}
    for line in open(path):
        line = json.loads(line)
        if line["type"] == "event":
            # Names of functions, which have a table of their own.
            for name, value in line["fields"].items():
                if name.endswith("_symbol"):
                    addresses = line["fields"][name.removesuffix("_symbol")]
                    pairs = zip(addresses, value) if isinstance(value, list) else [(addresses, value)]
                    functions.update({number(address): symbol for address, symbol in pairs if symbol})
            line["fields"] = {name: value for name, value in line["fields"].items() if not name.endswith("_symbol")}
            events.setdefault(line["event"], []).append(line)
        elif line["type"] == "lost":
            lost.append(line)
    return events, lost, functions


def number(value):
    """A value of JSON as a number: pointers are texts there."""
    if isinstance(value, str) and value.startswith("0x"):
        return int(value, 16)
    return value


def is_null(value):
    return value is None or (isinstance(value, float) and value != value)


def same(ours, theirs, what):
    if is_null(ours) and is_null(theirs):
        return
    if hasattr(ours, "tolist"):
        ours = ours.tolist()
    if isinstance(ours, bytes):
        ours = ours.hex()
    theirs = number(theirs) if not isinstance(ours, str) else theirs
    if isinstance(ours, float) and isinstance(theirs, int):
        ours = int(ours)  # pandas makes floating-point numbers of columns with nulls
    if ours != theirs:
        sys.exit(f"{what}: {ours!r}, and JSON has {theirs!r}")


def compare(reader, rows, lines, name):
    """Rows, as dictionaries, against lines of JSON."""
    if len(rows) != len(lines):
        sys.exit(f"{reader}: {name} has {len(rows)} rows, and JSON {len(lines)}")
    for at, (row, line) in enumerate(zip(rows, lines)):
        where = f"{reader}: {name}, row {at}"
        for column in ("ts", "cpu", "pid", "comm"):
            same(row[column], line.get(column), f"{where}, {column}")
        same(row["instance"], line.get("buffer"), f"{where}, instance")
        for field, value in line["fields"].items():
            event = name.split(":")[1]
            own = [c for c in (f"{event}.{field}", f"{event}.field_{field}", f"field_{field}", field) if c in row]
            taken = field in ("ts", "cpu", "pid", "comm", "instance", "event", "source")
            own = [c for c in own if c != field] if taken else own
            candidates = own or [field]
            # A stream's column is the one of the two names that has a value of this type.
            found = [c for c in candidates if not is_null(row[c])]
            same(row[(found or candidates)[0]], value, f"{where}, {field}")


def sums(reader, query, lines, name, columns):
    """Sums of the columns of numbers, as the engine computes them."""
    for column in columns:
        field = column.removeprefix("field_") if column not in lines[0]["fields"] else column
        values = [number(line["fields"].get(field)) for line in lines]
        theirs = sum(value for value in values if value is not None)
        ours = query(column)
        if int(ours or 0) != theirs:
            sys.exit(f"{reader}: the sum of {name}.{column} is {ours}, and JSON's {theirs}")


def parquet(directory, path):
    import duckdb
    import pandas
    import polars

    events, lost, functions = expected(path)
    tables = sorted(glob.glob(f"{directory}/host=*/date=*/event=*/*.parquet"))
    named = {t.split("/event=")[1].split("/")[0].replace(".", ":", 1): t for t in tables}
    if missing := sorted(set(events) - set(named)):
        sys.exit(f"no tables of {missing}")
    compared = 0
    for name, lines in sorted(events.items()):
        table, own = named[name], set(lines[0]["fields"])
        types = duckdb.sql(f"describe select * from read_parquet('{table}', hive_partitioning=false)").fetchall()
        numbers = [c for c, kind, *_ in types if "INT" in kind and "[]" not in kind]
        numbers = [c for c in numbers if c.removeprefix("field_") in own and (c in own or c.startswith("field_"))]
        numbers = [c for c in numbers if not (c in ("pid", "cpu", "ts"))]
        quoted = lambda c: '"' + c + '"'
        sums("duckdb", lambda c: duckdb.sql(f"select sum({quoted(c)}::hugeint) from '{table}'").fetchall()[0][0], lines, name, numbers)
        frame = polars.read_parquet(table, hive_partitioning=False)
        sums("polars", lambda c: frame[c].cast(polars.Int128).sum(), lines, name, numbers)
        compare("polars", frame.to_dicts(), lines, name)
        pandas_frame = pandas.read_parquet(table, dtype_backend="pyarrow", partitioning=None)
        sums("pandas", lambda c: sum(int(v) for v in pandas_frame[c].dropna()), lines, name, numbers)
        if len(pandas_frame) != len(lines):
            sys.exit(f"pandas: {name} has {len(pandas_frame)} rows, and JSON {len(lines)}")
        compared += len(lines)
    # The hive layout, as one table.
    total = duckdb.sql(
        f"select count(*) from read_parquet('{directory}/**/*.parquet', hive_partitioning=true, union_by_name=true)"
        " where contains(event::varchar, '.')"
    ).fetchall()[0][0]
    if total != compared:
        sys.exit(f"duckdb: {total} rows of events, and JSON has {compared}")
    ours = []
    if "events_lost" in named:
        query = f"""select ts, cpu, "count" from '{named["events_lost"]}'"""
        ours = sorted(duckdb.sql(query).fetchall(), key=str)
    if ours != sorted(((line["ts"], line["cpu"], line["count"]) for line in lost), key=str):
        sys.exit("the lost events are not those of JSON")
    ours_of = {}
    if "symbol" in named:
        query = f"""select address, name || case "offset" when 0 then '' else '+0x' || lower(to_hex("offset")) end from '{named["symbol"]}'"""
        ours_of = dict(duckdb.sql(query).fetchall())
    if ours_of != functions:
        sys.exit(f"{len(ours_of)} functions, and JSON names {len(functions)}")
    print(f"{compared} rows of {len(events)} tables, {len(ours)} losses, {len(ours_of)} functions")


def arrow(stream, path):
    import pandas  # noqa: F401 (to_pandas needs it)
    import polars
    import pyarrow

    events, _, _ = expected(path)
    lines = [line for of in events.values() for line in of]
    frame = polars.read_ipc_stream(stream)
    if len(frame) != len(lines):
        sys.exit(f"polars: {len(frame)} rows, and JSON has {len(lines)}")
    for name, of in sorted(events.items()):
        compare("polars", frame.filter(polars.col("event") == name).to_dicts(), of, name)
    with pyarrow.ipc.open_stream(stream) as reader:
        table = reader.read_pandas()
    counts = table["event"].value_counts().to_dict()
    if counts != {name: len(of) for name, of in events.items()}:
        sys.exit("pandas: the numbers of events are not those of JSON")
    print(f"{len(frame)} rows, {len(frame.columns)} columns")


def derived(directory, sched):
    """Only of recordings without lost events."""
    import duckdb

    tables = {t.split("/event=")[1].split("/")[0] for t in glob.glob(f"{directory}/*/*/event=*/*.parquet")}
    table = lambda name: f"'{directory}/*/*/event={name}/*.parquet'"
    ask = lambda query: duckdb.sql(query).fetchall()
    compared = []

    def equal(name, ours, theirs):
        ours, theirs = ask(ours), ask(theirs)
        if ours != theirs or not ours:
            sys.exit(f"{name}: {ours}, and the events say {theirs}")
        compared.append(name)

    if "sched.sched_switch" in tables:
        # Each switch begins a slice, and they cover the time from the first switch to the last.
        equal(
            "sched_slice",
            f"select cpu, count(*), sum(dur) filter (where not open) from {table('sched_slice')} group by cpu order by cpu",
            f"select cpu, count(*), max(ts) - min(ts) from {table('sched.sched_switch')} group by cpu order by cpu",
        )
        equal(
            "thread",
            f"select distinct tid from {table('sched_slice')} join {table('thread')} using (utid) order by tid",
            f"select distinct next_pid from {table('sched.sched_switch')} order by next_pid",
        )
        buffers = json.load(open(sched))["buffers"]
        waits = sum(of["waits"]["total"] + of["preempted"]["total"] for of in buffers)
        ours = ask(f"select sum(dur) from {table('thread_state')} where state = 0 and not open")[0][0]
        if ours != waits:
            sys.exit(f"thread_state: tasks waited {ours} ns, and analyze says {waits}")
        compared.append("thread_state")

    def pairs(name, entry, exit_, key):
        """Exits right after their entry, by what they have in common."""
        if not {entry, exit_} <= tables:
            return
        each = lambda kind, event: f"select ts, {key}, {kind} as is_exit from {table(event)}"
        following = (
            f"select *, lag(ts) over w as since, lag(is_exit) over w as before from "
            f"({each('false', entry)} union all {each('true', exit_)}) window w as (partition by {key} order by ts, is_exit)"
        )
        equal(
            name,
            f"select count(*), sum(dur) from {table(name)}",
            f"select count(*), sum(ts - since) from ({following}) where is_exit and not before",
        )

    pairs("softirq_slice", "irq.softirq_entry", "irq.softirq_exit", "cpu, vec")
    pairs("irq_slice", "irq.irq_handler_entry", "irq.irq_handler_exit", "cpu, irq")
    pairs("syscall", "raw_syscalls.sys_enter", "raw_syscalls.sys_exit", "pid, id")
    print(" ".join(compared))


{"parquet": parquet, "derived": derived, "arrow": arrow}[sys.argv[1]](*sys.argv[2:])
