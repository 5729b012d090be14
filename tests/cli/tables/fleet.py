#!/usr/bin/env python3
"""Asks a directory of tables some queries, on an engine.

    fleet.py duckdb|spark DIRECTORY QUERY...

Each table is a view of its name. Prints the rows of each query as a line, a JSON array.
"""
import glob
import json
import sys

engine, directory, *queries = sys.argv[1:]
tables = sorted({path.rsplit("/event=", 1)[1] for path in glob.glob(f"{directory}/host=*/date=*/event=*")})
# A name with a dot is one of a raw event, which the queries have no need of.
tables = [table for table in tables if "." not in table]
if engine == "duckdb":
    import duckdb

    for table in tables:
        files = f"{directory}/host=*/date=*/event={table}/*.parquet"
        duckdb.sql(f"create view {table} as select * from read_parquet('{files}', hive_partitioning = true)")

    def ask(query):
        rows = duckdb.sql(query)
        return [dict(zip(rows.columns, row)) for row in rows.fetchall()]

else:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    # The default, 200, is for a cluster.
    session = session.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for table in tables:
        files = f"{directory}/host=*/date=*/event={table}"
        session.read.option("basePath", directory).parquet(files).createOrReplaceTempView(table)

    def ask(query):
        return [row.asDict() for row in session.sql(query).collect()]

for query in queries:
    print(json.dumps(ask(query), default=str))
