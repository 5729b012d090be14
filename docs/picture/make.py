#!/usr/bin/env python3
"""Makes docs/picture/terminal.svg: what a terminal shows of the recordings in tests/data/readme.

    docs/picture/make.py [--check] [RTRACE]         default: target/release/rtrace

Each command runs in a terminal of its own, 116 columns wide, and what stands there at its end is drawn. With --check nothing is written:
the picture must be the same, byte for byte.
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
import termios
import time

COLUMNS, ROWS = 116, 60
HERE = os.path.dirname(os.path.abspath(__file__))

# What is typed.
COMMANDS = [
    "rtrace report late.dat --comm server -F sched_switch --first 3",
    "rtrace why server late.dat",
    "rtrace diff before.json -- after.json --metric 'mean(wait(server))'",
    "rtrace check late.dat --assert 'max(wait(server)) < 1ms'",
    "rtrace report late.dat --filter 'sched:sched_switch: nxt_pid == 1'",
]

PALETTE = {31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd"}


class Screen:
    """As much of a terminal as the program uses: text, colours, and moving within the lines."""

    def __init__(self):
        self.lines, self.row, self.column = [[]], 0, 0
        self.style = (None, False, False)  # colour, bold, dim

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
    """The lines at the command's end."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {"PATH": os.path.dirname(rtrace) + ":" + os.environ["PATH"], "TERM": "xterm-256color", "RTRACE_PAGER": "cat"}
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
    lines = screen.lines
    while lines and not "".join(cell[0] for cell in lines[-1]).strip():
        lines.pop()
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
        "<title>rtrace reports, says why a task was late and what got worse, holds an assertion, and points at a mistake</title>",
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
    check = "--check" in sys.argv
    named = [argument for argument in sys.argv[1:] if argument != "--check"]
    rtrace = os.path.abspath(named[0] if named else os.path.join(root, "target/release/rtrace"))
    picture = []
    for command in COMMANDS:
        lines = run(command, rtrace, os.path.join(root, "tests/data/readme"))
        if not lines:
            sys.exit(f"{command}: printed nothing")
        picture += [typed(command)] + lines + [[]]
    picture = [line[:COLUMNS - 1] + [("…", line[COLUMNS - 1][1])] if len(line) > COLUMNS else line for line in picture]
    path, drawn = os.path.join(HERE, "terminal.svg"), draw(picture[:-1])
    if check:
        with open(path, encoding="utf-8") as there:
            if there.read() != drawn:
                sys.exit("docs/picture/terminal.svg is another: docs/picture/make.py draws it again")
        return
    with open(path, "w", encoding="utf-8") as out:
        out.write(drawn)
    for line in picture:
        print("".join(cell[0] for cell in line))


main()
