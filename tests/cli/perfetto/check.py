"""Compares a table of events with the descriptors that Perfetto publishes.

    check.py ENGINE_FOLDER TABLE

ENGINE_FOLDER is what fetch-engine made; the table is that of src/export/perfetto. Prints each difference and ends with
1, or prints the number of events.
"""
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "python"))
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as trace  # noqa: E402

# Types of FieldDescriptorProto, as the table's letters.
LETTERS = {3: "l", 4: "w", 5: "i", 8: "b", 9: "s", 12: "y", 13: "u", 14: "e"}


def repeated(field):
    known = getattr(field, "is_repeated", None)
    return field.label == field.LABEL_REPEATED if known is None else known


def described(field):
    return f"{field.name}={field.number}{LETTERS.get(field.type, '?')}{'*' if repeated(field) else ''}"


events = trace.FtraceEvent.DESCRIPTOR.fields_by_name
checked = wrong = 0
with open(sys.argv[2]) as table:
    for line in table:
        event, number, *fields = line.split()
        known = events.get(event.split(":")[1])
        expected = known and [str(known.number), *sorted(described(field) for field in known.message_type.fields)]
        checked += 1
        if [number, *sorted(fields)] != expected:
            wrong += 1
            print(f"{line.strip()}: Perfetto has {expected}")
if wrong:
    sys.exit(1)
print(f"{checked} events")
