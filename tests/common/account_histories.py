"""Histories of tasks as strings, a letter for each event about a task, for the scripts that check wakers and migrations.

    W  it is woken                        O  an event of its CPU, the first one or after a loss, says that it runs
    I  switch to it                       L  events were lost while it did not run on another CPU
    S  switch from it, asleep             F  its CPU switched from another task: it has left unseen
    P  switch from it, still runnable     B  it is forked
    X  switch from it, dead, or its pid is given to another task
    V  sched_wakeup, where sched_waking was seen, but not that of this wakeup
"""
import account_events as account

WAKE = {"sched_waking", "sched_wakeup", "sched_wakeup_new"}
USED = WAKE | {"sched_switch", "sched_process_fork", "sched_migrate_task", "sched_stat_iowait"}


def buffers():
    """Events of the scheduler, by buffer, of those that have switches."""
    found = account.buffers(lambda system, name: system == "sched" and name in USED)
    return {name: events for name, events in found.items() if any(event[5] == "sched_switch" for event in events)}


def letter(state):
    """Linux since 4.14: S D T t X Z P I, then the bit of the preempted."""
    return "P" if state & 0xFF == 0 else "X" if state & 0x30 else "S"


def histories(events):
    """By task: its letters, and as many notes: (time, CPU, what is running there, that code's flags)."""
    tasks, on_cpu, has_waking, begun = {}, {}, False, {}

    def note(pid, mark, *more):
        letters, notes = tasks.setdefault(pid, ([], []))
        letters.append(mark)
        notes.append(more)

    def runs_on(pid):
        letters, notes = tasks.get(pid, ([], []))
        # Wakeups of one that runs change nothing.
        last = next((at for at in reversed(range(len(letters))) if letters[at] not in "WV"), None)
        return notes[last][1] if last is not None and letters[last] in "IO" else None

    for at, cpu, current, lost, _, name, fields in events:
        flags = fields["common_flags"] if fields else 0
        if lost:
            begun.clear()
            for pid in tasks:
                if runs_on(pid) in (None, cpu):
                    note(pid, "L", at, cpu, current, flags)
        if lost or cpu not in on_cpu:
            on_cpu[cpu] = current
            if current:
                note(current, "O", at, cpu, current, flags)
        if name == "sched_switch":
            left, prev, following = on_cpu[cpu], fields["prev_pid"], fields["next_pid"]
            if left not in (0, prev) and runs_on(left) == cpu:
                note(left, "F", at, cpu, current, flags)
            if prev:
                note(prev, letter(fields["prev_state"]), at, cpu, current, flags)
            if following:
                note(following, "I", at, cpu, current, flags)
            on_cpu[cpu] = following
        elif name in WAKE and fields["pid"] and fields.get("success", 1):
            has_waking, pid, waker = has_waking or name == "sched_waking", fields["pid"], (cpu, current, flags)
            if name == "sched_waking":
                begun[pid] = waker
            elif has_waking and name == "sched_wakeup":
                # Who began the wakeup, which may have been before the task left its CPU.
                waker = begun.pop(pid, None)
            note(pid, "W" if waker else "V", at, *(waker or (cpu, current, flags)))
        elif name == "sched_process_fork":
            note(fields["child_pid"], "X", at, cpu, current, flags)
            note(fields["child_pid"], "B", at, cpu, current, flags)
    return {pid: ("".join(letters), notes) for pid, (letters, notes) in tasks.items()}
