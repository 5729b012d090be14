#!/usr/bin/env python3
"""Reads each table of a directory, of many recordings, as one: with DuckDB, pyarrow and polars, as docs/tables.md has it.

    types.py DIRECTORY

A column has one type in all files of a table, and the engines find as many rows as the files have. Prints the number of tables.
"""
import collections
import glob
import sys

import duckdb
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

directory = sys.argv[1]
tables = collections.defaultdict(list)
for file in sorted(glob.glob(f"{directory}/host=*/date=*/event=*/*.parquet")):
    tables[file.split("/event=")[1].split("/")[0]].append(file)
several = 0
for table, files in sorted(tables.items()):
    types, rows = {}, 0
    for file in files:
        parquet = pyarrow.parquet.ParquetFile(file, page_checksum_verification=True)
        parquet.read().validate(full=True)
        rows += parquet.metadata.num_rows
        for field in parquet.schema_arrow:
            if types.setdefault(field.name, field.type) != field.type:
                sys.exit(f"{table}.{field.name} is {types[field.name]}, and {field.type} in {file}")
    pattern = f"{directory}/host=*/date=*/event={table}/*.parquet"
    found = duckdb.sql(
        f"select count(*), count(distinct recording) from read_parquet('{pattern}', hive_partitioning = true, union_by_name = true)"
    ).fetchall()[0]
    if found != (rows, len(files)):
        sys.exit(f"duckdb: {table} has {found} rows and recordings, and its {len(files)} files {rows} rows")
    if any("\0" in name for name in types):
        sys.exit(f"{table}: {list(types)}")
    schemas = [pyarrow.parquet.read_schema(file) for file in files]
    schema = pyarrow.unify_schemas(schemas, promote_options="permissive")
    found = pyarrow.dataset.dataset(files, schema=schema).to_table().num_rows
    if found != rows:
        sys.exit(f"pyarrow: {table} has {found} rows, and its files {rows}")
    frame = polars.concat([polars.scan_parquet(file, hive_partitioning=False) for file in files], how="diagonal_relaxed").collect()
    if len(frame) != rows:
        sys.exit(f"polars: {table} has {len(frame)} rows, and its files {rows}")
    several += len(files) > 1
print(f"{len(tables)} tables, {several} of several recordings")
