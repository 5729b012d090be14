"""Compares `rtrace report --syscalls` of a recording with what strace printed of the same tasks in the same run.

    account_strace.py RTRACE RECORDING STRACE'S-OUTPUT

strace ran as `strace -f -s 0 -e verbose=none -o FILE`, so that structures are addresses in both; texts and lists, which strace
reads out of the program's memory, are only held to be addresses here. Names, arguments and results must be equal; flags are
compared as sets of names. Prints `N tasks, N calls, N differences` at the end.
"""

import json
import re
import subprocess
import sys

# Names of one number under which strace and the headers know it.
SAME = {
    "FUTEX_WAIT_PRIVATE": "FUTEX_WAIT|FUTEX_PRIVATE_FLAG",
    "FUTEX_WAKE_PRIVATE": "FUTEX_WAKE|FUTEX_PRIVATE_FLAG",
    "FUTEX_WAIT_BITSET_PRIVATE": "FUTEX_WAIT_BITSET|FUTEX_PRIVATE_FLAG",
    "FUTEX_BITSET_MATCH_ANY": "0xffffffff",
    "PR_SET_VMA_ANON_NAME": "0",
    "IPPROTO_IP": "0", "IPPROTO_TCP": "6", "IPPROTO_UDP": "17",
    "FASYNC": "O_ASYNC",
}
# strace names the arguments of clone, and orders them otherwise.
CLONE = {"flags": "clone_flags", "child_stack": "newsp", "parent_tid": "parent_tidptr", "child_tidptr": "child_tidptr",
         "tls": "tls"}


def split(text):
    """The arguments between the commas that no bracket or quote holds."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, letter in enumerate(text):
        if letter == '"':
            quoted = not quoted
        elif not quoted and letter in "([{":
            depth += 1
        elif not quoted and letter in ")]}":
            depth -= 1
        elif not quoted and letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return parts + [last] if parts or last else []


def straced(path):
    """By task, its calls as (name, arguments, result)."""
    calls, begun = {}, {}
    for line in open(path, errors="replace"):
        pid, rest = line.rstrip("\n").split(None, 1)
        if rest.startswith(("---", "+++")):
            continue
        if rest.endswith("<unfinished ...>"):
            begun[pid] = rest[:-len("<unfinished ...>")].rstrip()
            continue
        resumed = re.match(r"<\.\.\. (\w+) resumed>(.*)", rest)
        if resumed:
            before = begun.pop(pid)
            rest = before + (" " if before.endswith(",") else "") + resumed[2]
        whole = re.match(r"(\w+)\((.*)\)\s+= (.*)$", rest)
        if whole:
            calls.setdefault(int(pid), []).append((whole[1], split(whole[2]), whole[3]))
    return calls


def number(text):
    if re.fullmatch(r"0[0-7]+", text):
        return int(text, 8)
    return int(text, 0)


def names(text):
    """A sum of names and numbers as (set of names, rest)."""
    found, rest = set(), 0
    for word in SAME.get(text, text).split("|"):
        word = SAME.get(word, word)
        for part in word.split("|"):
            try:
                rest |= number(part)
            except ValueError:
                found.add(part)
    return found, rest


def is_text(argument):
    return argument.startswith(('"', "[", "{", "~["))


def equal(theirs, ours):
    if is_text(theirs):
        return re.fullmatch(r"0x[0-9a-f]+", ours) is not None
    theirs = re.sub(r"\s*/\*.*?\*/", "", theirs)
    if theirs == ours:
        return True
    try:
        return number(theirs) % 2**64 == number(ours) % 2**64
    except ValueError:
        return names(theirs) == names(ours)


def result(theirs):
    """strace's result as ours would be written."""
    theirs = theirs.split(" (")[0].strip()
    return theirs


def ours(rtrace, recording):
    """By task, its calls; arguments as texts by name."""
    out = subprocess.run([rtrace, "report", "--syscalls", "--format", "json", recording], check=True, capture_output=True)
    calls = {}
    for line in out.stdout.splitlines()[1:]:
        call = json.loads(line)
        if call["type"] != "syscall":
            raise SystemExit(f"an event among the calls: {line}")
        calls.setdefault(call["pid"], []).append(call)
    return calls


def texts(rtrace, recording):
    """By task, the calls of the text report, without the duration."""
    out = subprocess.run([rtrace, "report", "--syscalls", recording], check=True, capture_output=True, text=True)
    calls = {}
    for line in out.stdout.splitlines()[1:]:
        # `COMM-PID [CPU] FLAGS TIME: TEXT`
        front, text = line.split(": ", 1)
        pid = int(re.search(r"-(\d+)\s+\[\d+\]", front)[1])
        calls.setdefault(pid, []).append(text)
    return calls


def line_of(call):
    """The line that the text report has of a call, from the JSON's facts."""
    if call["state"] == "resumed":
        return None
    args = "(" + ", ".join(str(value) for value in call["args"].values())
    if call["state"] in ("unfinished", "lost"):
        return call["call"] + args + " <"
    if call["state"] == "never returns":
        return call["call"] + args + ") = ?"
    micros = (call["duration"] + 500) // 1000
    shown = {"error": call["error"], "result": call["result"]}
    if shown["error"]:
        value = ("? " if -517 < call["result"] < -511 else "-1 ") + shown["error"]
    else:
        value = None
    return call["call"] + args + ") = " + (value or ""), f" <{micros // 10**6}.{micros % 10**6:06}>", value is None


def main():
    rtrace, recording, strace = sys.argv[1:4]
    recorded, lines = ours(rtrace, recording), texts(rtrace, recording)
    tasks = calls = differences = 0
    kinds = set()

    def differ(*what):
        nonlocal differences
        differences += 1
        if differences < 20:
            print(*what)

    for pid, found in recorded.items():
        texts_of = lines.get(pid, [])
        if len(found) != len(texts_of):
            differ(pid, "has", len(found), "calls in JSON and", len(texts_of), "lines")
            continue
        for call, text in zip(found, texts_of):
            expected = line_of(call)
            if isinstance(expected, tuple):
                start, end, any_result = expected
                if not (text.startswith(start) and text.endswith(end) and (any_result or text == start + end)):
                    differ(pid, "text", text, "JSON", expected)
            elif expected is not None and not text.startswith(expected):
                differ(pid, "text", text, "JSON", expected)

    for pid, theirs in straced(strace).items():
        tasks += 1
        mine = recorded.get(pid, [])
        # strace sees a task from its execve, or from the return of the clone that made it.
        if theirs and theirs[0][0] == "execve":
            at = next((at for at, call in enumerate(mine) if call["call"] == "execve"), 0)
        else:
            at = next((at for at, call in enumerate(mine) if call["state"] == "resumed"), -1) + 1
        mine = mine[at:]
        if len(mine) != len(theirs):
            differ(pid, "strace has", len(theirs), "calls, rtrace", len(mine))
        for (name, arguments, value), call in zip(theirs, mine):
            calls += 1
            kinds.add(name)
            if name != call["call"]:
                differ(pid, "strace:", name, "rtrace:", call["call"])
                break
            found = {key: str(argument) for key, argument in (call["args"] or {}).items()}
            if name == "clone":
                pairs = [argument.split("=", 1) for argument in arguments]
                wrong = [pair for pair in pairs if not equal(pair[1], found[CLONE[pair[0]]])]
            elif name == "rt_sigreturn":
                wrong = []  # strace shows the mask that it finds in memory
            else:
                wrong = [pair for pair in zip(arguments, found.values()) if not equal(*pair)]
                if len(arguments) != len(found):
                    wrong.append((arguments, found))
            if wrong:
                differ(pid, name, "arguments", wrong)
            value = result(value)
            if value == "?":
                good = call["state"] in ("never returns", "unfinished")
            elif call["result"] is None:
                good = False
            elif value.startswith(("-1 ", "? ")):
                good = value.split(" ")[1] == call["error"]
            else:
                good = call["error"] is None and number(value) % 2**64 == call["result"] % 2**64
            if not good:
                differ(pid, name, "result", value, "rtrace:", call["result"], call["error"], call["state"])
    print(len(kinds), "different calls:", " ".join(sorted(kinds)))
    print(f"{tasks} tasks, {calls} calls, {differences} differences")


main()
