#!/usr/bin/env python3
"""Makes docs/picture/terminal.svg: what a terminal shows of real runs.

    docs/picture/make.py [RTRACE]         as root; default: target/release/rtrace

Each command runs in a terminal of its own, 108 columns wide, and what stands there at its end is drawn; of a recording the
line that it shows while it runs is kept as well. Times and numbers are those of the machine that draws.
"""

import fcntl
import html
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

COLUMNS, ROWS = 108, 60
HERE = os.path.dirname(os.path.abspath(__file__))

# What is typed, and the lines to keep of what it prints: (start, end), None for all.
COMMANDS = [
    ("rtrace record -e sched -e raw_syscalls -- sh -c 'ls -R /usr/share > list; sleep 1'", None),
    ("rtrace report --comm ls -F sched_switch --first 3", None),
    ("rtrace report --syscalls --comm ls -F raw_syscalls --first 19", None),
    ("rtrace latency -i trace.dat sched:sched_waking sched:sched_switch --by pid=next_pid", (0, 13)),
    ("rtrace report --filter 'sched:sched_switch: nxt_pid == 1'", None),
]

PALETTE = {31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd"}


class Screen:
    """As much of a terminal as the program uses: text, colours, and moving within the lines."""

    def __init__(self):
        self.lines, self.row, self.column = [[]], 0, 0
        self.style = (None, False, False)  # colour, bold, dim
        self.erased = None  # the last line that was taken away as a whole

    def put(self, letter):
        line = self.lines[self.row]
        while len(line) <= self.column:
            line.append((" ", (None, False, False)))
        line[self.column] = (letter, self.style)
        self.column += 1

    def feed(self, data):
        for part in re.finditer(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b.|\r|\n|[^\x1b\r\n]+", data):
            token = part[0]
            if token == "\r":
                self.column = 0
            elif token == "\n":
                self.row, self.column = self.row + 1, 0
                while len(self.lines) <= self.row:
                    self.lines.append([])
            elif part[2]:
                self.control(part[1], part[2])
            elif not token.startswith("\x1b"):
                for letter in token:
                    self.put(letter)

    def control(self, arguments, letter):
        first = int(arguments or 0) if arguments.isdigit() or not arguments else 0
        if letter == "K":
            line = self.lines[self.row]
            if line and self.column == 0:
                self.erased = list(line)
            if first == 2:
                line.clear()
            else:
                del line[self.column:]
        elif letter == "A":
            self.row = max(0, self.row - max(1, first))
        elif letter == "J":
            del self.lines[self.row + 1:]
            del self.lines[self.row][self.column:]
        elif letter == "m":
            colour, bold, dim = self.style
            for number in (int(n or 0) for n in arguments.split(";")):
                if number == 0:
                    colour, bold, dim = None, False, False
                elif number == 1:
                    bold = True
                elif number == 2:
                    dim = True
                elif number in PALETTE or number - 60 in PALETTE:
                    colour = number if number in PALETTE else number - 60
            self.style = (colour, bold, dim)


def run(command, rtrace, directory):
    """The lines at the command's end, and the last line that it showed meanwhile and took away again."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {"PATH": os.path.dirname(rtrace) + ":" + os.environ["PATH"], "TERM": "xterm-256color", "HOME": directory}
    child = subprocess.Popen(["sh", "-c", command], stdin=slave, stdout=slave, stderr=slave, cwd=directory, env=environment)
    os.close(slave)
    screen = Screen()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([master], [], [], 0.05)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            screen.feed(data.decode(errors="replace"))
        elif child.poll() is not None:
            break
    child.wait(timeout=10)
    os.close(master)
    lines = [line for line in screen.lines]
    while lines and not "".join(cell[0] for cell in lines[-1]).strip():
        lines.pop()
    if screen.erased and screen.erased not in lines:
        lines.insert(0, screen.erased)
    return lines


def typed(command):
    """A prompt and the command."""
    plain = (None, False, False)
    return [("$", (32, True, False)), (" ", plain)] + [(letter, (None, True, False)) for letter in command]


def draw(lines):
    height, width, left, top = 18, 8.4, 16, 44
    total = (int(COLUMNS * width) + 2 * left, top + len(lines) * height + 16)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total[0]}" height="{total[1]}" viewBox="0 0 {total[0]} {total[1]}">',
        "<title>rtrace records, reports, shows system calls and latencies, and points at a mistake</title>",
        f'<rect width="{total[0]}" height="{total[1]}" rx="8" fill="#0d1117"/>',
        '<circle cx="20" cy="18" r="6" fill="#ff5f56"/><circle cx="40" cy="18" r="6" fill="#ffbd2e"/>'
        '<circle cx="60" cy="18" r="6" fill="#27c93f"/>',
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">',
    ]
    for number, line in enumerate(lines):
        y = top + number * height
        at = 0
        while at < len(line):
            style = line[at][1]
            end = at
            while end < len(line) and line[end][1] == style:
                end += 1
            text = "".join(cell[0] for cell in line[at:end])
            colour, bold, dim = style
            attributes = f' fill="{PALETTE[colour]}"' if colour else ""
            attributes += ' font-weight="bold"' if bold else ""
            attributes += ' fill-opacity="0.6"' if dim else ""
            if text.strip():
                lead = len(text) - len(text.lstrip())
                shown = html.escape(text.strip())
                length = len(text.strip()) * width
                out.append(f'<text x="{left + (at + lead) * width:.1f}" y="{y}" textLength="{length:.1f}" '
                           f'xml:space="preserve"{attributes}>{shown}</text>')
            at = end
    out.append("</g></svg>")
    return "\n".join(out) + "\n"


def main():
    root = os.path.dirname(os.path.dirname(HERE))
    rtrace = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "target/release/rtrace"))
    picture = []
    with tempfile.TemporaryDirectory() as directory:
        for command, keep in COMMANDS:
            lines = run(command, rtrace, directory)
            if not lines:
                sys.exit(f"{command}: printed nothing")
            if keep:
                lines = lines[keep[0]:keep[1]]
            picture += [typed(command)] + lines + [[]]
    picture = [line[:COLUMNS - 1] + [("…", line[COLUMNS - 1][1])] if len(line) > COLUMNS else line for line in picture]
    with open(os.path.join(HERE, "terminal.svg"), "w", encoding="utf-8") as out:
        out.write(draw(picture[:-1]))
    for line in picture:
        print("".join(cell[0] for cell in line))


main()
