"""Asks Perfetto's engine about a trace.

    query.py ENGINE_FOLDER TRACE SQL...

ENGINE_FOLDER is what fetch-engine made. Prints each query's rows as one line: a JSON list of objects. A trace that the
engine refuses, or a query, ends with 1 and the engine's words.
"""
import json
import os
import subprocess
import sys

folder, trace, queries = sys.argv[1], sys.argv[2], sys.argv[3:]
sys.path.insert(0, os.path.join(folder, "python"))
from perfetto.common.query_result_iterator import QueryResultIterator  # noqa: E402
from perfetto.trace_processor.platform import PlatformDelegate  # noqa: E402
from perfetto.trace_processor.protos import ProtoFactory  # noqa: E402

protos = ProtoFactory(PlatformDelegate())
Rpc = protos.TraceProcessorRpc
shim = os.path.join(os.path.dirname(os.path.abspath(__file__)), "engine.cjs")
engine = subprocess.Popen(["node", shim, os.path.join(folder, "ui")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
number = 0


def send(**request):
    global number
    stream = protos.TraceProcessorRpcStream()
    stream.msg.add(seq=number, **request)
    number += 1
    engine.stdin.write(stream.SerializeToString())
    engine.stdin.flush()


def read(size):
    data = b""
    while len(data) < size:
        more = engine.stdout.read(size - len(data))
        if not more:
            sys.exit("the engine ended")
        data += more
    return data


def receive():
    assert read(1) == b"\n"
    size = shift = 0
    while True:
        byte = read(1)[0]
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return Rpc.FromString(read(size))


with open(trace, "rb") as file:
    while block := file.read(4 << 20):
        send(request=Rpc.TPM_APPEND_TRACE_DATA, append_trace_data=block)
        error = receive().append_result.error
        if error:
            sys.exit(f"{trace}: {error}")
send(request=Rpc.TPM_FINALIZE_TRACE_DATA)
receive()
for query in queries:
    send(request=Rpc.TPM_QUERY_STREAMING, query_args=protos.QueryArgs(sql_query=query))
    result = protos.QueryResult()
    while not (result.batch and result.batch[-1].is_last_batch):
        part = receive().query_result
        if part.error:
            sys.exit(f"{query}: {part.error}")
        result.MergeFrom(part)
    rows = QueryResultIterator(result.column_names, result.batch)
    print(json.dumps([dict(row.__dict__) for row in rows], default=repr))
engine.stdin.close()
