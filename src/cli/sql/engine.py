import sys

# Nothing of the current directory, which is the first of them.
layout, directory, *places = sys.argv[1:]
sys.path[:] = [*filter(None, sys.path), *places]

import csv
import json
import os

import duckdb

if layout == "probe":
    sys.exit(0)
os.chdir(directory)
views, query = sys.stdin.read().split("-- query\n", 1)
try:
    database = duckdb.connect()
    database.execute(views)
    if layout == "box":
        rows = database.sql(query)
        if rows is not None:
            rows.show(max_rows=1 << 30, max_width=10000, max_col_width=10000)
        sys.exit(0)
    rows = database.execute(query)
    names, number = [column[0] for column in rows.description or []], 0
    out = csv.writer(sys.stdout, lineterminator="\n")
    if layout == "csv":
        out.writerow(names)
    while some := rows.fetchmany(10000):
        for row in some:
            if layout == "csv":
                out.writerow(row)
            else:
                print("[" if number == 0 else ",", json.dumps(dict(zip(names, row)), default=str), sep="")
            number += 1
    if layout == "json":
        print("]" if number else "[]")
except duckdb.Error as error:
    sys.exit(str(error))
except BrokenPipeError:
    sys.stderr.close()
