#!/usr/bin/env python3
"""Reads each table of a directory, of many recordings and kernels, as one: with the option that docs/tables.md has for an engine.

    engines.py clickhouse|spark DIRECTORY

An engine finds as many rows and recordings as the files have, the columns of all of them, and the same sum of every number that all
files have alike. Prints the number of tables.
"""
import collections
import glob
import os
import sys

import pyarrow.parquet

engine, directory = sys.argv[1:]
directory = os.path.abspath(directory)
tables = collections.defaultdict(list)
for file in sorted(glob.glob(f"{directory}/host=*/date=*/event=*/*.parquet")):
    tables[file.split("/event=")[1].split("/")[0]].append(file)

if engine == "clickhouse":
    from chdb import session

    clickhouse = session.Session()
    clickhouse.query("set schema_inference_mode = 'union'")

    def ask(table, files, columns):
        source = f"file('{directory}/host=*/date=*/event={table}/*.parquet')"
        found = str(clickhouse.query(f"describe {source}", "TSV")).splitlines()
        found = {line.split("\t")[0] for line in found}
        sums = "".join(f", sum(toInt64(`{name}`))" for name in columns)
        row = str(clickhouse.query(f"select count(*), uniqExact(recording){sums} from {source}", "TSV"))
        return found, [int(value) for value in row.split()]

else:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = spark.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")

    def ask(table, files, columns):
        frame = spark.read.option("mergeSchema", "true").parquet(*files)
        frame.createOrReplaceTempView("asked")
        sums = "".join(f", sum(cast(`{name}` as bigint))" for name in columns)
        row = spark.sql(f"select count(*), count(distinct recording){sums} from asked").collect()[0]
        return set(frame.columns), list(row)


several = 0
for table, files in sorted(tables.items()):
    read = [pyarrow.parquet.read_table(file, partitioning=None) for file in files]
    every = set().union(*(part.column_names for part in read))
    # Sums of 64 bits do not overflow of numbers of 32.
    small = {"int32", "uint32", "int16", "uint16", "int8", "uint8"}
    columns = [
        name for name in sorted(every)
        if all(name in part.column_names and str(part[name].type) in small and part[name].null_count == 0 for part in read)
    ]
    rows = [sum(part.num_rows for part in read), len(files)]
    rows += [sum(sum(part[name].to_pylist()) for part in read) for name in columns]
    found, said = ask(table, files, columns)
    if not every <= found:
        sys.exit(f"{engine}: {table} has no {every - found}")
    if said != rows:
        sys.exit(f"{engine}: {table} has {said} of {columns}, and its files {rows}")
    several += len(files) > 1
print(f"{len(tables)} tables, {several} of several recordings")
