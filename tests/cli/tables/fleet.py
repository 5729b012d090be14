#!/usr/bin/env python3
"""Asks a directory of tables some queries, on an engine.

    fleet.py duckdb|spark|clickhouse DIRECTORY QUERY...

Each table is a view of its name. Prints the rows of each query as a line, a JSON array.
"""
import glob
import json
import sys

engine, directory, *queries = sys.argv[1:]
# Files that `convert` wrote have the host in their paths, parts as a column.
is_compacted = not glob.glob(f"{directory}/host=*")
layout = "date=*" if is_compacted else "host=*/date=*"
tables = sorted({path.rsplit("/event=", 1)[1] for path in glob.glob(f"{directory}/{layout}/event=*")})
# A name with a dot is one of a raw event, which the queries have no need of.
tables = [table for table in tables if "." not in table]
if engine == "duckdb":
    import duckdb

    for table in tables:
        files = f"{directory}/{layout}/event={table}/*.parquet"
        duckdb.sql(f"create view {table} as select * from read_parquet('{files}', hive_partitioning = true)")

    def ask(query):
        rows = duckdb.sql(query)
        return [dict(zip(rows.columns, row)) for row in rows.fetchall()]

elif engine == "clickhouse":
    import os

    from chdb import session

    clickhouse = session.Session()
    clickhouse.query("set use_hive_partitioning = 0")
    for table in tables:
        files = f"{os.path.abspath(directory)}/{layout}/event={table}/*.parquet"
        host = "" if is_compacted else ", extract(_path, 'host=([^/]+)') as host"
        clickhouse.query(f"create view {table} as select *{host} from file('{files}')")

    def ask(query):
        rows = clickhouse.query(query + " settings output_format_json_quote_64bit_integers = 0", "JSON")
        # A column is called as the query has it, with the table's name where that is there.
        rows = json.loads(str(rows))["data"]
        return [{name.split(".")[-1]: value for name, value in row.items()} for row in rows]

else:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    # The default, 200, is for a cluster.
    session = session.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for table in tables:
        files = f"{directory}/{layout}/event={table}"
        session.read.option("basePath", directory).parquet(files).createOrReplaceTempView(table)

    def ask(query):
        return [row.asDict() for row in session.sql(query).collect()]

for query in queries:
    print(json.dumps(ask(query), default=str))
