#!/usr/bin/env python3
"""Sums of each table of a directory, with DuckDB, polars and pyarrow: those of files and of parts are to be the same.

    sums.py DIRECTORY [ENGINE...]

Prints a JSON object: by engine, table, host and column the number of values and a sum over them, which hangs on no order.
"""
import collections
import glob
import json
import sys
import urllib.parse

import duckdb
import polars
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet

directory = sys.argv[1]
UNKNOWN = "__HIVE_DEFAULT_PARTITION__"
# Parts have the host as a column, other files in their paths.
tables = collections.defaultdict(lambda: ([], []))
for layout, pattern in enumerate(["host=*/date=*", "date=*"]):
    for file in sorted(glob.glob(f"{directory}/{pattern}/event=*/*.parquet")):
        tables[file.split("/event=")[1].split("/")[0]][layout].append(file)


def partition(file, key):
    value = file.split(f"/{key}=")[1].split("/")[0]
    return None if value == UNKNOWN else urllib.parse.unquote(value)


def of_duckdb(files, parts):
    reads = [
        f"select * exclude (event) from read_parquet({some}, hive_partitioning = true, union_by_name = true, "
        f"hive_types = {{{types}'date': varchar, 'event': varchar}})"
        for some, types in [(files, "'host': varchar, "), (parts, "")]
        if some
    ]
    duckdb.sql("create or replace temp view rows as " + " union all by name ".join(reads))
    columns = sorted(duckdb.sql("from rows").columns)
    sums = ", ".join(f'count("{name}"), sum(hash("{name}"::varchar)::hugeint)::varchar' for name in columns)
    found = {}
    for host, count, *values in duckdb.sql(f"select host, count(*), {sums} from rows group by host").fetchall():
        found[str(host)] = {"rows": count, **dict(zip(columns, zip(values[::2], values[1::2])))}
    # A column that has no value may be missing.
    return {host: {name: of for name, of in sums.items() if name == "rows" or of[0]} for host, sums in found.items()}


def number(column, kind):
    """The sum of a column's numbers, or of the lengths of its texts."""
    if pyarrow.types.is_list(kind):
        return sum(pyarrow.compute.list_flatten(column).to_pylist())
    if pyarrow.types.is_string(kind) or pyarrow.types.is_binary(kind):
        return pyarrow.compute.sum(pyarrow.compute.binary_length(column)).as_py()
    if pyarrow.types.is_timestamp(kind):
        column = column.cast(pyarrow.int64())
    return sum(int(value) for value in column.drop_null().to_pylist())


def of_pyarrow(files, parts):
    found = collections.Counter()
    for file in files + parts:
        parquet = pyarrow.parquet.ParquetFile(file, page_checksum_verification=True)
        table = parquet.read()
        table.validate(full=True)
        found["rows"] += table.num_rows
        for name in table.column_names:
            column = table[name]
            values = len(column) - column.null_count
            if name != "host" and values:
                found[name] += values
                found[f"sum {name}"] += number(column, column.type)
    return {"all": {name: str(of) for name, of in found.items()}}


def of_polars(files, parts):
    frames = [
        polars.scan_parquet(file, hive_partitioning=False).with_columns(host=polars.lit(partition(file, "host"), polars.String))
        for file in files
    ]
    frames += [polars.scan_parquet(file, hive_partitioning=False) for file in parts]
    frame = polars.concat(frames, how="diagonal_relaxed").collect()
    found = collections.defaultdict(dict)
    for (host,), rows in frame.group_by("host"):
        found[str(host)]["rows"] = len(rows)
        for name in rows.columns:
            column = rows[name].drop_nulls()
            if len(column) and not isinstance(column.dtype, polars.List):
                text = column if column.dtype == polars.Binary else column.cast(polars.String)
                found[str(host)][name] = (len(column), str(sum(text.hash(7).to_list())))
    return found


answers = {}
for engine in of_duckdb, of_polars, of_pyarrow:
    if sys.argv[2:] and engine.__name__ not in sys.argv[2:]:
        continue
    answers[engine.__name__] = {table: engine(*files) for table, files in sorted(tables.items())}
print(json.dumps(answers, sort_keys=True))
