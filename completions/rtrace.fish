# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_rtrace_global_optspecs
    string join \n h/help V/version
end

function __fish_rtrace_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_rtrace_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_rtrace_using_subcommand
    set -l cmd (__fish_rtrace_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c rtrace -n "__fish_rtrace_needs_command" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_needs_command" -s V -l version -d 'Print version'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "record" -d 'Record events into a trace.dat file'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "report" -d 'Print a recording as text'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "stream" -d 'Trace and print the events as they happen, without a file'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "recover" -d 'Finish a recording whose recorder was killed'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "restore" -d 'Finish a recording whose recorder was killed'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "convert" -d 'Write a recording in another format, version or compression'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "dump" -d 'Inspect or validate a trace.dat file'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "extract" -d 'Save a ring buffer\'s contents to a trace.dat file'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "profile" -d 'Show where tasks spend their time'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "stack" -d 'Show the deepest kernel stack so far'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "split" -d 'Cut a recording into parts by time, events or sub-buffers'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "list" -d 'List what this kernel can trace'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "mem" -d 'Show which functions hold how much of the kernel\'s memory'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "analyze" -d 'Say where time went in a recording'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "check" -d 'Hold assertions against a recording: pass, fail, or not known'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "options" -d 'List options that change how `report` formats events'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "check-events" -d 'Check that every event of this kernel is understood'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "start" -d 'Start tracing and leave it running'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "set" -d 'Change settings of tracing, and nothing else'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "stop" -d 'Pause tracing (buffers keep their contents)'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "restart" -d 'Resume tracing after `stop`'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "clear" -d 'Empty the ring buffers'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "reset" -d 'Reset tracing to boot defaults, or undo what a killed recording left behind'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "show" -d 'Print the ring buffer as text, or the value of tracefs settings'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "stat" -d 'Show tracing settings that differ from the boot defaults'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "filter" -d 'Set, show, clear and check event filters'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "trigger" -d 'Add, list and remove triggers'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "snapshot" -d 'Take, show and clear snapshots of the ring buffer'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "instance" -d 'Create, show, change and remove instances'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "probe" -d 'Add, list and remove dynamic events: kprobe, uprobe, eprobe, fprobe, tprobe and user events'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "hist" -d 'Count events in the kernel and show the table'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "latency" -d 'Show how the time between two or more events is distributed'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "synth" -d 'Create synthetic events that combine two events'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "sqlhist" -d 'Print, and with -e run, the commands that an SQL statement means'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "generate" -d 'Write the man pages and the shell completions'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "help" -d 'Show help on a command or a topic'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l temp -d 'Taken for trace-cmd\'s sake: there are no temporary files, the spools become the file' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s e -l event -d 'Record events: SYSTEM:EVENT, SYSTEM, EVENT or all; globs in either' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l for -d 'Record the events that an analysis reads: sched, irq, syscalls, io' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s f -l filter -d 'Filter for the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s R -l trigger -d 'Set a trigger on the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s P -l pid -d 'Only events of these processes; end with the last of them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l user -d 'Run CMD as this user, with its groups, HOME, USER and LOGNAME' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s p -l tracer -d 'Run a tracer: function, function_graph, ... (rtrace list -t)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s l -l function -d 'Trace only these functions (name or glob), or FUNC:COMMAND' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s g -l graph-function -d 'function_graph: trace these functions and what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l max-graph-depth -d 'function_graph: follow calls to this depth' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s O -l option -d 'Enable a trace option; `noOPTION` disables it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s n -l no-function -d 'Do not trace these functions; function_graph: nor what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l module -d 'The -l, -n and -g that follow mean functions of this module; alone: all of them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l threshold -d 'Only trace functions/latencies of at least this long: latency tracers, function_graph, hwlat, osnoise, timerlat (microseconds)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l cmdlines-size -d 'Number of task names the kernel remembers' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l device -d '-p blk: record this block device only; all disks without it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s B -l instance -d 'Record in this instance too; options after it belong to it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s b -l buffer-size -d 'Ring buffer per CPU: KiB, or with K, M, G; the kernel has 1408K' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s C -l clock -d 'Trace clock: local, global, mono, boot, tsc2nsec, ... (list -C)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s M -l cpumask -d 'Only these CPUs: a hexadecimal mask, -1 for all' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l subbuf-size -d 'Size of a sub-buffer: KiB, or with K, M (since Linux 6.8)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s H -l hook -d 'Profile the time between two events, as in `irq_handler_entry,irq/irq_handler_exit,irq,ps`, and record them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s o -l output -d 'Write to FILE' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l max-size -d 'End recording before the file is larger than SIZE' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l ring -d 'Keep only the newest events: SIZE on the disk' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l ring-time -d 'Keep only the newest events: those of the last TIME' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l min-free -d 'End recording, with 4, before the file system has less than SIZE left' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s m -l max-per-cpu -d 'Keep only the newest events of each CPU: SIZE on the disk for each (KiB, or with K, M, G)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l compression -d 'Compress with zstd[:LEVEL], zlib[:LEVEL] or any (zstd), or none; zstd without it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l file-version -d 'File format: 7, or 6 for older tools (uncompressed; briefly needs twice the disk space)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l ts-offset -d 'Store a number to be added to every time stamp' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l duration -d 'End after TIME (seconds, or with ms, m, h)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l timeout -d 'End CMD after TIME and exit with 124' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l max-lost -d 'Exit with 4 if more than N events were lost' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l assert -d 'Hold an assertion against the recording: `rtrace help assertions`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l summary-json -d 'Write the summary to FILE as JSON' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l pid-file -d 'With --daemonize: file to write the recorder\'s PID to' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s r -l priority -d 'Give the recording threads real-time priority PRIO (1 to 99)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s s -l sleep -d 'With --poll: look so often; without it readers sleep until the kernel wakes them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s G -d 'Taken as in trace-cmd: it is for report --profile'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l daemonized -d 'The process that --daemonize starts'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l debug -d 'Taken for trace-cmd\'s sake'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s v -d 'Leave out the events of every -e that follows'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s i -l ignore-unknown -d 'Go on without the events that this kernel does not have'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s F -l follow -d 'Only events of CMD'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s c -l children -d 'With -F or -P: events of the tasks they fork as well'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s T -l stack-trace -d 'A stack trace with each event (-O stacktrace)'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l func-stack -d 'A stack trace with each function that -l names'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s d -l no-function-trace -d 'Latency tracers: no functions on the way'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s D -l no-ftrace -d 'No tracing of functions in the whole system (ftrace_enabled)'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l top -d 'Trace in the top-level buffer, where trace_printk() writes, instead of one of our own'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l self -d 'Events of rtrace\'s own threads too'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l profile -d 'Record what report --profile wants: the scheduler with stack traces, interrupts, page faults, system calls, functions'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s S -l only-named -d 'For the profile, record only the events and the tracer that are named'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l by-comm -d 'Taken as in trace-cmd: it is for report --profile'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s q -l quiet -d 'Print nothing but errors'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s a -l all-formats -d 'Store the formats of all events, not only of those recorded'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l proc-map -d 'Store the memory maps of CMD and the -P processes'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l date -d 'Store the wall clock\'s time, which reports then show'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l tsc2nsec -d 'Store the factor that converts x86-tsc timestamps to ns (-C tsc2nsec also selects that clock)'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l stderr -d 'Taken for trace-cmd\'s sake: what rtrace itself says always goes to stderr'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l dry-run -d 'Print the tracefs writes as shell commands without performing them'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l daemonize -d 'Return as soon as recording runs, and record in the background'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s k -l keep -d 'Leave tracing set up (but off) afterwards; records at the top level'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s K -l keep-all -d 'As -k; trace-cmd also needs it to keep what was set before, which rtrace always does'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l poll -d 'Poll the ring buffers instead of sleeping until woken: fewer interrupts on the traced CPUs, more work on the others'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l nosplice -d 'Read the ring buffers instead of splicing them'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -l verbose -d 'Show each write to tracefs as a line of shell'
complete -c rtrace -n "__fish_rtrace_using_subcommand record" -s h -l help -d 'Print help (-h: the common options; --help: all)'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s V -l verbose -d 'Taken as in trace-cmd, without effect' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s i -l input -d 'File to print; may be given several times' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s F -d 'Only the events that match, as in `sched_switch: next_pid == 1`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l filter -d 'Only the events that pass a filter of the kernel\'s language' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l cpu -d 'Only the events of these CPUs, as in 0,2-4' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l pid -d 'Only events of these tasks' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l comm -d 'Only what tasks of this name did' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l first -d 'Only the first N events that would be shown' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l last -d 'Only the last N events that would be shown' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l tgid -d 'Only what the tasks of these processes did, in recordings made with -O record-tgid' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l since -d 'Only from this time on (as printed; +TIME, -TIME: of start, end)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l until -d 'Only up to this time' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l around -d 'Only around this time: 1 ms to each side, or W' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l align -d 'Shift the other files\' times until this comes at the first one\'s time: start, end, or an event\'s first occurrence' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l ts-offset -d 'Number to add to every time stamp, in the clock\'s unit' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l ts2secs -d 'Show a clock of HZ ticks per second in seconds' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l format -d 'Output format of the events' -r -f -a "text\t'Lines as of trace-cmd report'
kernel\t'Lines as of the kernel\'s `trace` file'
json\t'One JSON object per line, every field named and typed'
csv\t'Comma-separated values'
raw\t'`name=value` lines: every field, no print formats'"
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l fields -d 'Columns of --format csv' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l color -d 'Colour the text' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always; control characters are shown as `\\xNN` then, wherever the text goes'
never\t'Never'"
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s r -l raw-events -d 'Fields by name for events or systems that match this expression' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s n -l no-handler -d 'The kernel\'s print format for events or systems that match this expression' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s O -l option -d 'Option of a plugin, as in fgraph:tailprint or ftrace:indent=0 (`rtrace options` lists them)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l symbols -d 'Name the functions of user-space stacks, by the memory maps of `record --proc-map` and the files mapped then' -r -f -a "user\t'Those of programs and libraries'"
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l symfs -d 'Look for these files below DIR' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l kallsyms -d 'Symbols to use instead of those the file holds, as /proc/kallsyms has them' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l top-tasks -d 'Number of the busiest tasks that --summary shows' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s H -l hook -d 'With --profile: the time between two events, as in `irq_handler_entry,irq/irq_handler_exit,irq,p`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l event -d 'The formats of the events that match this expression, as in sched:.*switch' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l threads -d 'Number of threads; the output is the same for any number [default: one per CPU]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s q -l quiet -d 'Taken as in trace-cmd, without effect'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s v -l invert -d 'Hide the events that match the filters after this'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s I -l no-irq -d 'Hide events in hard-interrupt context'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s S -l no-softirq -d 'Hide events in soft-interrupt context'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s T -l filter-test -d 'Show the filters of -F as they were understood, and no events'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s t -d 'Time stamps in nanoseconds'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l ts-diff -d 'The time since the line before, after each time stamp'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l align-ts -d 'Time stamps from the first event on'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l raw-ts -d 'Raw time stamps, without any correction'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l nodate -d 'Do not turn the time stamps of a recording with --date into wall clock times'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s R -d 'Fields by name instead of the events\' texts'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s l -d 'Short columns, as the kernel\'s latency format'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s N -d 'Ignore built-in plugins; use the kernel\'s print formats'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s L -d 'Only plugins of the user: rtrace has none, so this changes nothing'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l boundary -d 'A line where a sub-buffer of the ring buffer begins'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l json-schema -d 'The JSON Schema of what --format json prints: of any file, or of the files given'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l summary -d 'Print the numbers of events by kind, CPU and task, instead of the events'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l count -d 'Print the number of each event, instead of the events'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s w -l wakeups -d 'Print how long each task waited for its CPU after it was woken'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l profile -d 'Print where tasks spent their time'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l json -d '--count, --summary or --profile as one JSON object'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s G -l global-irqs -d 'Put interrupts down to their CPU, not to the task that they interrupt'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l by-comm -d 'Put tasks of the same name together'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l ts-check -d 'Say where the time stamps of a CPU go backwards'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l stat -d 'The buffers\' statistics when recording ended, and where the data lies'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l uname -d 'The recorded machine and kernel, and the recorder\'s version'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s E -l event-names -d 'The names of the events whose formats the file holds'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l version -d 'The version of the program that recorded'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l cpus -d 'The CPUs that have data'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l events -d 'The formats of the events'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l first-event -d 'Print the time of the first event of each CPU'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l last-event -d 'Print the time of the last event of each CPU'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l check-events -d 'Check that all events\' formats are understood; 1 if not'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s e -l endian -d 'The byte order of the file and of this machine'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s p -l page-size -d 'The page size of the file and of this machine'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s f -l functions -d 'The functions whose addresses the file holds'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s P -l printk -d 'The constant strings of trace_printk() that the file holds'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s h -l help -d 'Print help (-h: the common options; --help: all)'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s e -l event -d 'Record events: SYSTEM:EVENT, SYSTEM, EVENT or all; globs in either' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l for -d 'Record the events that an analysis reads: sched, irq, syscalls, io' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s f -l filter -d 'Filter for the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s R -l trigger -d 'Set a trigger on the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s P -l pid -d 'Only events of these processes; end with the last of them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l user -d 'Run CMD as this user, with its groups, HOME, USER and LOGNAME' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s p -l tracer -d 'Run a tracer: function, function_graph, ... (rtrace list -t)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s l -l function -d 'Trace only these functions (name or glob), or FUNC:COMMAND' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s g -l graph-function -d 'function_graph: trace these functions and what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l max-graph-depth -d 'function_graph: follow calls to this depth' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s O -l option -d 'Enable a trace option; `noOPTION` disables it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s n -l no-function -d 'Do not trace these functions; function_graph: nor what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l module -d 'The -l, -n and -g that follow mean functions of this module; alone: all of them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l threshold -d 'Only trace functions/latencies of at least this long: latency tracers, function_graph, hwlat, osnoise, timerlat (microseconds)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l cmdlines-size -d 'Number of task names the kernel remembers' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s B -l instance -d 'Record in this instance too; options after it belong to it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s b -l buffer-size -d 'Ring buffer per CPU: KiB, or with K, M, G; the kernel has 1408K' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s C -l clock -d 'Trace clock: local, global, mono, boot, tsc2nsec, ... (list -C)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s M -l cpumask -d 'Only these CPUs: a hexadecimal mask, -1 for all' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l subbuf-size -d 'Size of a sub-buffer: KiB, or with K, M (since Linux 6.8)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l format -d 'Output format of the events' -r -f -a "text\t'Lines as of report'
raw\t'Fields by name, as of report -R'
json\t'One JSON object per line, as of report --format json'"
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l duration -d 'End after TIME (seconds, or with ms, m, h)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l timeout -d 'End CMD after TIME and exit with 124' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s v -d 'Leave out the events of every -e that follows'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s i -l ignore-unknown -d 'Go on without the events that this kernel does not have'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s F -l follow -d 'Only events of CMD'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s c -l children -d 'With -F or -P: events of the tasks they fork as well'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s T -l stack-trace -d 'A stack trace with each event (-O stacktrace)'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l func-stack -d 'A stack trace with each function that -l names'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s d -l no-function-trace -d 'Latency tracers: no functions on the way'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s D -l no-ftrace -d 'No tracing of functions in the whole system (ftrace_enabled)'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l top -d 'Trace in the top-level buffer, where trace_printk() writes, instead of one of our own'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l self -d 'Events of rtrace\'s own threads too'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l json -d 'The same as --format json'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s t -d 'Time stamps in nanoseconds'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s q -l quiet -d 'Print nothing but events and errors'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s N -d 'Ignore built-in plugins; use the kernel\'s print formats'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -l verbose -d 'Show each write to tracefs as a line of shell'
complete -c rtrace -n "__fish_rtrace_using_subcommand stream" -s h -l help -d 'Print help (-h: the common options; --help: all)'
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -s i -l input -d 'Make a recording of trace-cmd\'s per-CPU files: HEADER says all but the events' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -s o -l output -d 'Write per-CPU files to OUTPUT instead of trace.dat, a header instead of trace-partial.dat' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -s t -d 'Take the formats from this tracing directory' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -s k -l kallsyms -d 'Take the symbols from FILE instead of /proc/kallsyms' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -s c -l create -d 'Make such a HEADER of the running kernel'
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -l json -d 'JSON instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -l force -d 'Overwrite the file to write if there is one'
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -s i -l input -d 'Make a recording of trace-cmd\'s per-CPU files: HEADER says all but the events' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -s o -l output -d 'Write per-CPU files to OUTPUT instead of trace.dat, a header instead of trace-partial.dat' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -s t -d 'Take the formats from this tracing directory' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -s k -l kallsyms -d 'Take the symbols from FILE instead of /proc/kallsyms' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -s c -l create -d 'Make such a HEADER of the running kernel'
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -l json -d 'JSON instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -l force -d 'Overwrite the file to write if there is one'
complete -c rtrace -n "__fish_rtrace_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -s i -l input -d 'File to read; several are merged by time [default: trace.dat]' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -s o -l output -d 'File to write; `-` is standard output, except for trace.dat' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l to -d 'Format to write [default: that of OUT\'s ending]' -r -f -a "trace.dat\t'A recording, as `record` and trace-cmd write it'
perfetto\t'Perfetto\'s trace format, for ui.perfetto.dev and its SQL'
folded\t'A line per call stack with its time or count, for flame graphs'
speedscope\t'Call stacks in the order of time, for speedscope.app'
chrome\t'Chrome\'s trace events, as JSON: for viewers that read nothing newer'
json\t'One JSON object per line, as of `report --format json`'
csv\t'Comma-separated values, as of `report --format csv`'"
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l file-version -d 'Version of a trace.dat file: 6 or 7 [default: 7]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l compression -d 'Compression of a trace.dat file: zstd, zlib, none, or any for the best there is; version 6 is never compressed' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -s F -d 'Only the events that match, as in `sched_switch: next_pid == 1`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l filter -d 'Only the events that pass a filter of the kernel\'s language' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l cpu -d 'Only the events of these CPUs, as in 0,2-4' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l pid -d 'Only events of these tasks' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l comm -d 'Only what tasks of this name did' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l first -d 'Only the first N events that would be shown' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l last -d 'Only the last N events that would be shown' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l tgid -d 'Only what the tasks of these processes did, in recordings made with -O record-tgid' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l since -d 'Only from this time on (as printed; +TIME, -TIME: of start, end)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l until -d 'Only up to this time' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l around -d 'Only around this time: 1 ms to each side, or W' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l align -d 'Shift the other files\' times until this comes at the first one\'s time: start, end, or an event\'s first occurrence' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l ts-offset -d 'Number to add to every time stamp, in the clock\'s unit' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l ts2secs -d 'Show a clock of HZ ticks per second in seconds' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l fields -d 'Columns of csv, as of `report --fields`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l threads -d 'Number of threads; the output is the same for any number [default: one per CPU]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l force -d 'Overwrite the file to write if there is one'
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -s v -l invert -d 'Hide the events that match the filters after this'
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -s I -l no-irq -d 'Hide events in hard-interrupt context'
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -s S -l no-softirq -d 'Hide events in soft-interrupt context'
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l align-ts -d 'Time stamps from the first event on'
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l raw-ts -d 'Raw time stamps, without any correction'
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -l nodate -d 'Do not turn the time stamps of a recording with --date into wall clock times'
complete -c rtrace -n "__fish_rtrace_using_subcommand convert" -s h -l help -d 'Print help (-h: the common options; --help: all)'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -s i -l input -d 'File to look at' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -s v -l validate -d 'Read everything and name each defect'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l summary -d 'The summary (what is shown without any option)'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l sections -d 'The sections (version 7): place, size, compression'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l options -d 'The options: place, size, content'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l flyrecord -l buffers -d 'The buffers: CPUs, places, sizes'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l head-page -d 'The text of header_page'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l head-event -d 'The text of header_event'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l ftrace-events -d 'The formats of the ftrace system'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l systems -d 'The systems'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l events -d 'The formats of all other systems'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l kallsyms -d 'The kernel\'s symbols'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l printk -d 'The formats of trace_printk()'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l cmd-lines -d 'The names of tasks'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l modules -d 'The kernel\'s modules'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l clock -d 'The trace clock'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l strings -d 'The texts that section headers refer to (version 7), with their offsets'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l all -d 'All parts'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -l json -d 'The summary as JSON'
complete -c rtrace -n "__fish_rtrace_using_subcommand dump" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s o -l output -d 'Write to FILE' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s B -l instance -d 'Instance to use, instead of the top level; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -l compression -d 'Compress with zstd[:LEVEL], or none' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s p -d 'Taken for trace-cmd\'s sake: the events say what they are, and options do not change what is stored' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s O -d 'Taken for trace-cmd\'s sake' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s s -l snapshot -d 'The snapshot instead of the ring buffer'
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s a -l all -d 'Every instance; with -t, the top level too'
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s t -l top -d 'The top level too, beside -B or -a'
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s k -l keep -d 'Taken for trace-cmd\'s sake: settings are always kept'
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -l date -d 'Store the wall clock\'s time, which reports then show; of what this boot has traced'
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s q -l quiet -d 'Print nothing but errors'
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand extract" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s e -l event -d 'Record events: SYSTEM:EVENT, SYSTEM, EVENT or all; globs in either' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l for -d 'Record the events that an analysis reads: sched, irq, syscalls, io' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s f -l filter -d 'Filter for the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s R -l trigger -d 'Set a trigger on the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s P -l pid -d 'Only events of these processes; end with the last of them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l user -d 'Run CMD as this user, with its groups, HOME, USER and LOGNAME' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s p -l tracer -d 'Run a tracer: function, function_graph, ... (rtrace list -t)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s l -l function -d 'Trace only these functions (name or glob), or FUNC:COMMAND' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s g -l graph-function -d 'function_graph: trace these functions and what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l max-graph-depth -d 'function_graph: follow calls to this depth' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s O -l option -d 'Enable a trace option; `noOPTION` disables it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s n -l no-function -d 'Do not trace these functions; function_graph: nor what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l module -d 'The -l, -n and -g that follow mean functions of this module; alone: all of them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l threshold -d 'Only trace functions/latencies of at least this long: latency tracers, function_graph, hwlat, osnoise, timerlat (microseconds)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l cmdlines-size -d 'Number of task names the kernel remembers' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s B -l instance -d 'Record in this instance too; options after it belong to it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s b -l buffer-size -d 'Ring buffer per CPU: KiB, or with K, M, G; the kernel has 1408K' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s C -l clock -d 'Trace clock: local, global, mono, boot, tsc2nsec, ... (list -C)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s M -l cpumask -d 'Only these CPUs: a hexadecimal mask, -1 for all' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l subbuf-size -d 'Size of a sub-buffer: KiB, or with K, M (since Linux 6.8)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s H -l hook -d 'Profile the time between two events, as in `irq_handler_entry,irq/irq_handler_exit,irq,ps`, and record them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s o -l output -d 'Write the profile to FILE' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l input -d 'Profile what a file holds, instead of what happens now' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l duration -d 'End after TIME (seconds, or with ms, m, h)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l timeout -d 'End CMD after TIME and exit with 124' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s a -d 'Taken as in trace-cmd: the formats of all events are known anyway'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s v -d 'Leave out the events of every -e that follows'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s i -l ignore-unknown -d 'Go on without the events that this kernel does not have'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s F -l follow -d 'Only events of CMD'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s c -l children -d 'With -F or -P: events of the tasks they fork as well'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s T -l stack-trace -d 'A stack trace with each event (-O stacktrace)'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l func-stack -d 'A stack trace with each function that -l names'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s d -l no-function-trace -d 'Latency tracers: no functions on the way'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s D -l no-ftrace -d 'No tracing of functions in the whole system (ftrace_enabled)'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l top -d 'Trace in the top-level buffer, where trace_printk() writes, instead of one of our own'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l self -d 'Events of rtrace\'s own threads too'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s S -l only-named -d 'For the profile, record only the events and the tracer that are named'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s G -l global-irqs -d 'Put interrupts down to their CPU, not to the task that they interrupt'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l by-comm -d 'Put tasks of the same name together'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s q -l quiet -d 'Print nothing but the profile and errors'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l stderr -d 'Write the profile to standard error, so that CMD has standard output for itself'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -l verbose -d 'Show each write to tracefs as a line of shell'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -s h -l help -d 'Print help (-h: the common options; --help: all)'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and not __fish_seen_subcommand_from functions" -a "functions" -d 'Count the kernel\'s functions and the time they take'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and __fish_seen_subcommand_from functions" -s l -l function -d 'Only these functions: names or the kernel\'s globs' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and __fish_seen_subcommand_from functions" -l sort -d 'Column to sort by' -r -f -a "hits\t''
total\t''
avg\t''
deviation\t''
name\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and __fish_seen_subcommand_from functions" -l limit -d 'So many functions' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and __fish_seen_subcommand_from functions" -l duration -d 'Count for TIME (`5s`, `500ms`); CMD goes on' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and __fish_seen_subcommand_from functions" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and __fish_seen_subcommand_from functions" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and __fish_seen_subcommand_from functions" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand profile; and __fish_seen_subcommand_from functions" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand stack" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand stack" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand stack" -l start -d 'Start the stack tracer'
complete -c rtrace -n "__fish_rtrace_using_subcommand stack" -l stop -d 'Stop the stack tracer'
complete -c rtrace -n "__fish_rtrace_using_subcommand stack" -l reset -d 'Forget the deepest stack'
complete -c rtrace -n "__fish_rtrace_using_subcommand stack" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand stack" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand stack" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s i -l input -d 'File to cut [default: trace.dat]' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s o -l output -d 'Name of the part; with -r, the name before .0001, .0002 [default: the file\'s name]' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s s -l seconds -d 'A part every N seconds (or with a unit: 1m)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s m -l milliseconds -d 'A part every N milliseconds' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s u -l microseconds -d 'A part every N microseconds' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s e -l events -d 'A part every N events' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s p -l pages -d 'A part every N sub-buffers of each CPU' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s C -l cpu -d 'Only this CPU' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s B -l instance -d 'Only this instance; with -t it becomes the top buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s b -l rename-top -d 'Call the top buffer so in the parts' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s r -l repeat -d 'Go on until END, instead of one part only'
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s c -l per-cpu -d 'With -e: N events of each CPU'
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s t -d 'The instance becomes the top buffer'
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -l top -d 'Also the top buffer, beside -B'
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -l json -d 'JSON instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -l force -d 'Overwrite the file to write if there is one'
complete -c rtrace -n "__fish_rtrace_using_subcommand split" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s e -l events -d 'Events; PATTERN is a glob (`sched:*`), a regular expression (`^sys.*open`) or part of a name' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s f -l functions -d 'Functions that can be traced; PATTERN is a glob, a regular expression or part of a name' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s F -l format -d 'The format of each event: its fields, their places and sizes'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l full -d 'With -F, also the kernel\'s print format'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s t -s p -l tracers -d 'Tracers'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s C -l clocks -d 'Trace clocks, the one in use in brackets'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s B -l instances -d 'Instances'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s o -l options -d 'Trace options, with `no` before those that are off'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s s -l systems -d 'Event systems'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l proto -d 'Functions as C declares them, from the kernel\'s BTF; all that can be traced, or those of -f'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s R -l triggers -d 'With -e: only events with triggers, and these'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s l -l filters -d 'With -e: only events with a filter, and it'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s c -l compressions -d 'Compressions of files'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s P -l plugins -d 'Events with a wording of their own, which trace-cmd has plugins for'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s O -l plugin-options -d 'Options of that wording, for `rtrace report -O`'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l debug -d 'Taken for trace-cmd\'s sake'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand mem" -s i -l input -d 'The same, as trace-cmd has it' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand mem" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand mem" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and not __fish_seen_subcommand_from all io irq sched syscalls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and not __fish_seen_subcommand_from all io irq sched syscalls" -f -a "all" -d 'All analyses of what was recorded, in one pass: sched, irq, syscalls, io'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and not __fish_seen_subcommand_from all io irq sched syscalls" -f -a "io" -d 'Requests to block devices: how long they waited in the queue and were at the device, how many at once'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and not __fish_seen_subcommand_from all io irq sched syscalls" -f -a "irq" -d 'Interrupts, soft interrupts, timers and work items: how long they ran, and how long they were waited for'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and not __fish_seen_subcommand_from all io irq sched syscalls" -f -a "sched" -d 'Time of tasks and CPUs: running, waiting for a CPU, preempted, asleep, blocked'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and not __fish_seen_subcommand_from all io irq sched syscalls" -f -a "syscalls" -d 'System calls: how many, how long, how many failed and why, and how long their tasks were off the CPU'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from all" -s i -l input -d 'Recording to read' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from all" -l since -d 'Only from this time on (as printed; +TIME, -TIME: of start, end)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from all" -l until -d 'Only up to this time' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from all" -l around -d 'Only around this time: 1 ms to each side, or W' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from all" -l threads -d 'Number of threads; the output is the same for any number [default: one per CPU]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from all" -l top -d 'Number of rows in a table; 0 for all [default: 20; all with --json]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from all" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from all" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from io" -s i -l input -d 'Recording to read' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from io" -l since -d 'Only from this time on (as printed; +TIME, -TIME: of start, end)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from io" -l until -d 'Only up to this time' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from io" -l around -d 'Only around this time: 1 ms to each side, or W' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from io" -l threads -d 'Number of threads; the output is the same for any number [default: one per CPU]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from io" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from io" -l csv -d 'The requests as comma-separated values instead of text; times in the clock\'s unit'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from io" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -s i -l input -d 'Recording to read' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l since -d 'Only from this time on (as printed; +TIME, -TIME: of start, end)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l until -d 'Only up to this time' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l around -d 'Only around this time: 1 ms to each side, or W' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l threads -d 'Number of threads; the output is the same for any number [default: one per CPU]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l kind -d 'Only handlers of these kinds' -r -f -a "irq\t''
vector\t''
softirq\t''
tasklet\t''
timer\t''
hrtimer\t''
work\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l top -d 'Number of rows in a table; 0 for all [default: 20; all with --json and --csv]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l sort -d 'Order of the handlers, the greatest first' -r -f -a "own\t'Own time'
count\t'Number of runs'
max\t'The longest run'
max-delay\t'The longest delay'"
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -l csv -d 'The handlers as comma-separated values instead of text; times in the clock\'s unit'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from irq" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -s i -l input -d 'Recording to read' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l since -d 'Only from this time on (as printed; +TIME, -TIME: of start, end)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l until -d 'Only up to this time' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l around -d 'Only around this time: 1 ms to each side, or W' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l threads -d 'Number of threads; the output is the same for any number [default: one per CPU]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l pid -d 'Only these tasks' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l comm -d 'Only tasks of this name; may be a glob and be given several times' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l top -d 'Number of tasks in a table; 0 for all [default: 20; all with --json and --csv]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l sort -d 'Order of the tasks, the greatest first' -r -f -a "run\t'Time on a CPU'
wait\t'Time from wakeup to CPU, all waits together'
max-wait\t'The longest wait from wakeup to CPU'
preempted\t'Time preempted'
blocked\t'Time blocked (state D)'
switches\t'Number of switches'"
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -l csv -d 'The tasks as comma-separated values instead of text; times in the clock\'s unit'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from sched" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -s i -l input -d 'Recording to read' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l since -d 'Only from this time on (as printed; +TIME, -TIME: of start, end)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l until -d 'Only up to this time' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l around -d 'Only around this time: 1 ms to each side, or W' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l threads -d 'Number of threads; the output is the same for any number [default: one per CPU]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l pid -d 'Only calls of these tasks' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l comm -d 'Only calls of tasks of this name; may be a glob and be given several times' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l call -d 'Only calls of this name; may be a glob and be given several times' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l top -d 'Number of rows in a table; 0 for all [default: 20; all with --json and --csv]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l sort -d 'Order of the calls, the greatest first' -r -f -a "total\t'Time of all calls together'
count\t'Number of calls'
mean\t'Mean time'
p99\t'The time that 99 of 100 calls do not exceed'
max\t'The longest call'
errors\t'Number of failed calls'
off-cpu\t'Time off the CPU'"
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -l csv -d 'The calls as comma-separated values instead of text; times in the clock\'s unit'
complete -c rtrace -n "__fish_rtrace_using_subcommand analyze; and __fish_seen_subcommand_from syscalls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -s i -l input -d 'Recording to read' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l since -d 'Only from this time on (as printed; +TIME, -TIME: of start, end)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l until -d 'Only up to this time' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l around -d 'Only around this time: 1 ms to each side, or W' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l threads -d 'Number of threads; the output is the same for any number [default: one per CPU]' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -s a -l assert -d 'What must hold' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l spec -d 'File of assertions: a TOML table `[assert]` of names and assertions, perhaps `min-samples`' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l buffer -d 'Buffer to look at, if several hold events; the empty name for the top buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l min-samples -d 'Least number of durations that a mean, a quantile, a minimum or a maximum says something of' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l junit -d 'Write a JUnit report too' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -l github -d 'Annotations for GitHub instead of text, and a table in the job\'s summary'
complete -c rtrace -n "__fish_rtrace_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand options" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand options" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -s v -l verbose -d 'Name each event'
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -s N -l no-plugins -d 'Leave out the events\' own handlers: only what print formats say'
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s e -l event -d 'Enable an event: SYSTEM:EVENT, SYSTEM, EVENT or all; globs in either half' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l for -d 'Record the events that an analysis reads: sched, irq, syscalls, io' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s f -l filter -d 'Filter for the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s R -l trigger -d 'Set a trigger on the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s P -l pid -d 'Only events of these processes' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l user -d 'Run CMD as this user, with its groups, HOME, USER and LOGNAME' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s p -l tracer -d 'Run a tracer: function, function_graph, ... (rtrace list -t)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s l -l function -d 'Trace only these functions (name or glob), or FUNC:COMMAND' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s g -l graph-function -d 'function_graph: trace these functions and what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l max-graph-depth -d 'function_graph: follow calls to this depth' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s O -l option -d 'Enable a trace option; `noOPTION` disables it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s n -l no-function -d 'Do not trace these functions; function_graph: nor what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l module -d 'The -l, -n and -g that follow mean functions of this module; alone: all of them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l threshold -d 'Only trace functions/latencies of at least this long: latency tracers, function_graph, hwlat, osnoise, timerlat (microseconds)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l cmdlines-size -d 'Number of task names the kernel remembers' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s B -l instance -d 'Options after it belong to this instance (made if absent)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s b -l buffer-size -d 'Ring buffer per CPU: KiB, or with K, M, G; the kernel has 1408K' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s C -l clock -d 'Trace clock: local, global, mono, boot, ... (rtrace list -C)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s M -l cpumask -d 'Only these CPUs: a hexadecimal mask, -1 for all' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l subbuf-size -d 'Size of a sub-buffer: KiB, or with K, M (since Linux 6.8)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s v -d 'Disable the events of every -e that follows'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s i -l ignore-unknown -d 'Go on without the events that this kernel does not have'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s F -l follow -d 'Only events of CMD'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s c -l children -d 'With -F or -P: events of the tasks they fork as well'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s T -l stack-trace -d 'A stack trace with each event (-O stacktrace)'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l func-stack -d 'A stack trace with each function that -l names'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s d -l no-function-trace -d 'Latency tracers: no functions on the way'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s D -l no-ftrace -d 'No tracing of functions in the whole system (ftrace_enabled)'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s q -l quiet -d 'Taken for trace-cmd\'s sake: only errors are said anyway'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l fork -d 'Do not wait for CMD'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -l verbose -d 'Show each write to tracefs as a line of shell'
complete -c rtrace -n "__fish_rtrace_using_subcommand start" -s h -l help -d 'Print help (-h: the common options; --help: all)'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s e -l event -d 'Enable an event: SYSTEM:EVENT, SYSTEM, EVENT or all; globs in either half' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l for -d 'Record the events that an analysis reads: sched, irq, syscalls, io' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s f -l filter -d 'Filter for the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s R -l trigger -d 'Set a trigger on the -e before it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s P -l pid -d 'Only events of these processes' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l user -d 'Run CMD as this user, with its groups, HOME, USER and LOGNAME' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s p -l tracer -d 'Run a tracer: function, function_graph, ... (rtrace list -t)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s l -l function -d 'Trace only these functions (name or glob), or FUNC:COMMAND' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s g -l graph-function -d 'function_graph: trace these functions and what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l max-graph-depth -d 'function_graph: follow calls to this depth' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s O -l option -d 'Enable a trace option; `noOPTION` disables it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s n -l no-function -d 'Do not trace these functions; function_graph: nor what they call' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l module -d 'The -l, -n and -g that follow mean functions of this module; alone: all of them' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l threshold -d 'Only trace functions/latencies of at least this long: latency tracers, function_graph, hwlat, osnoise, timerlat (microseconds)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l cmdlines-size -d 'Number of task names the kernel remembers' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s B -l instance -d 'Options after it belong to this instance (made if absent)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s b -l buffer-size -d 'Ring buffer per CPU: KiB, or with K, M, G; the kernel has 1408K' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s C -l clock -d 'Trace clock: local, global, mono, boot, ... (rtrace list -C)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s M -l cpumask -d 'Only these CPUs: a hexadecimal mask, -1 for all' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l subbuf-size -d 'Size of a sub-buffer: KiB, or with K, M (since Linux 6.8)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s v -d 'Disable the events of every -e that follows'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s i -l ignore-unknown -d 'Go on without the events that this kernel does not have'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s F -l follow -d 'Only events of CMD'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s c -l children -d 'With -F or -P: events of the tasks they fork as well'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s T -l stack-trace -d 'A stack trace with each event (-O stacktrace)'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l func-stack -d 'A stack trace with each function that -l names'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s d -l no-function-trace -d 'Latency tracers: no functions on the way'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s D -l no-ftrace -d 'No tracing of functions in the whole system (ftrace_enabled)'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s q -l quiet -d 'Taken for trace-cmd\'s sake: only errors are said anyway'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l fork -d 'Do not wait for CMD'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -l verbose -d 'Show each write to tracefs as a line of shell'
complete -c rtrace -n "__fish_rtrace_using_subcommand set" -s h -l help -d 'Print help (-h: the common options; --help: all)'
complete -c rtrace -n "__fish_rtrace_using_subcommand stop" -s B -l instance -d 'Instance to use, instead of the top level; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stop" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand stop" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand stop" -s a -l all -d 'Every instance; with -t, the top level too'
complete -c rtrace -n "__fish_rtrace_using_subcommand stop" -s t -l top -d 'The top level too, beside -B or -a'
complete -c rtrace -n "__fish_rtrace_using_subcommand stop" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand restart" -s B -l instance -d 'Instance to use, instead of the top level; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand restart" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand restart" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand restart" -s a -l all -d 'Every instance; with -t, the top level too'
complete -c rtrace -n "__fish_rtrace_using_subcommand restart" -s t -l top -d 'The top level too, beside -B or -a'
complete -c rtrace -n "__fish_rtrace_using_subcommand restart" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand restart" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand clear" -s B -l instance -d 'Instance to use, instead of the top level; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand clear" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand clear" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand clear" -s a -l all -d 'Every instance; with -t, the top level too'
complete -c rtrace -n "__fish_rtrace_using_subcommand clear" -s t -l top -d 'The top level too, beside -B or -a'
complete -c rtrace -n "__fish_rtrace_using_subcommand clear" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand clear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s B -l instance -d 'Instance to use, instead of the top level; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s b -l buffer-size -d 'Ring buffer size of the -B, -a or -t before it, in KiB per CPU or with a unit (`4M`)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s k -l keep -d 'Dynamic events to keep; may be given more than once' -r -f -a "kprobe\t''
kretprobe\t''
uprobe\t''
uretprobe\t''
eprobe\t''
fprobe\t''
tprobe\t''
synth\t''
all\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -l stale -d 'Undo what killed recordings left behind, and nothing else'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s a -l all -d 'Every instance; with -t, the top level too'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s t -l top -d 'The top level too, beside -B or -a'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s d -l delete -d 'Remove the instance of the -B before it, after -a all instances, instead of resetting them'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -s c -l cpu -d 'One CPU\'s buffer only' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l hist -d 'The hist triggers\' tables of an event (`sys:ev` or `ev`)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l trigger -d 'The triggers of an event' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l filter -d 'The filter of an event' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -s p -l pipe -d 'trace_pipe: consume events, and wait for more'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -s s -l snapshot -d 'The snapshot buffer'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l tracing-on -d 'tracing_on: whether the ring buffer takes events'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l current-tracer -d 'current_tracer'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l buffer-size -d 'buffer_size_kb: KiB per CPU'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l buffer-total-size -d 'buffer_total_size_kb: KiB of all CPUs'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l buffer-subbuf-size -d 'buffer_subbuf_size_kb: KiB of a sub-buffer'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l buffer-percent -d 'buffer_percent: how full a buffer must be to wake its reader'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l ftrace-filter -d 'set_ftrace_filter: functions to trace'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l ftrace-notrace -d 'set_ftrace_notrace: functions not to trace'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l ftrace-pid -d 'set_ftrace_pid: tasks whose functions are traced'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l graph-function -d 'set_graph_function'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l graph-notrace -d 'set_graph_notrace'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l cpumask -d 'tracing_cpumask: CPUs that are traced'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l max-latency -d 'tracing_max_latency, in microseconds'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -s f -l path -d 'Print each file\'s path before it'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -l json -d 'One JSON object instead of text: the content of each file'
complete -c rtrace -n "__fish_rtrace_using_subcommand show" -s h -l help -d 'Print help (-h: the common options; --help: all)'
complete -c rtrace -n "__fish_rtrace_using_subcommand stat" -s B -l instance -d 'Instance to use, instead of the top level; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand stat" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand stat" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand stat" -s a -l all -d 'Every instance; with -t, the top level too'
complete -c rtrace -n "__fish_rtrace_using_subcommand stat" -s t -l top -d 'The top level too, beside -B or -a'
complete -c rtrace -n "__fish_rtrace_using_subcommand stat" -s o -l options -d 'All options, not only those that differ'
complete -c rtrace -n "__fish_rtrace_using_subcommand stat" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand stat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and not __fish_seen_subcommand_from set show clear check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and not __fish_seen_subcommand_from set show clear check" -f -a "set" -d 'Set a filter on events, or choose the processes that are traced'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and not __fish_seen_subcommand_from set show clear check" -f -a "show" -d 'Show the filters that are set'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and not __fish_seen_subcommand_from set show clear check" -f -a "clear" -d 'Clear filters'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and not __fish_seen_subcommand_from set show clear check" -f -a "check" -d 'Check a filter without setting it'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -s P -l pid -d 'Trace only these processes (`set_event_pid`)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -l not-pid -d 'Do not trace these processes (`set_event_notrace_pid`)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -l fork -d 'Children of listed processes are listed as well (option `event-fork`)'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -l explain -d 'Tell in words what the filter lets pass'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from show" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from show" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from show" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from show" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from show" -l explain -d 'Tell each filter in words'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from clear" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from clear" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from clear" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from clear" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from check" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from check" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from check" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from check" -l explain -d 'Tell in words what the filter lets pass'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and not __fish_seen_subcommand_from add list remove clear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and not __fish_seen_subcommand_from add list remove clear" -f -a "add" -d 'Add a trigger to an event or a function'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and not __fish_seen_subcommand_from add list remove clear" -f -a "list" -d 'List the triggers that are set'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and not __fish_seen_subcommand_from add list remove clear" -f -a "remove" -d 'Remove a trigger'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and not __fish_seen_subcommand_from add list remove clear" -f -a "clear" -d 'Remove all triggers'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -s n -l count -d 'Act this many times, then no more' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -l if -d 'Act only if the event passes this filter' -r -f -a "COMM\t''
CPU\t''
CPUS\t''
common_pid\t''
.ustring\t''
.function\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -l function -d 'Trigger of this function, or glob of functions, instead of an event' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from list" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from list" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from list" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from list" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from remove" -l function -d 'Trigger of this function instead of an event' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from remove" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from remove" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from remove" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from clear" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from clear" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from clear" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from clear" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -s c -l cpu -d 'Only this CPU\'s buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -s s -d 'Take one (trace-cmd\'s option)'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -s r -d 'Clear it (trace-cmd\'s option)'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -s f -d 'Free its buffer (trace-cmd\'s option)'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -f -a "take" -d 'Take a snapshot, now or when an event happens'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -f -a "show" -d 'Show the snapshot as text'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -f -a "save" -d 'Save the snapshot as a trace.dat, which `rtrace report` and trace-cmd decode'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -f -a "clear" -d 'Empty the snapshot\'s buffer, without freeing it'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -f -a "free" -d 'Free the snapshot\'s buffer'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and not __fish_seen_subcommand_from take show save clear free status" -f -a "status" -d 'Say whether there is a snapshot, and what is in it'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -l on -d 'Take it when this event happens (a trigger, which stays)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -l if -d 'Only if the event passes this filter' -r -f -a "COMM\t''
CPU\t''
CPUS\t''
common_pid\t''
.ustring\t''
.function\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -s n -l count -d 'This many times, then no more' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -s c -l cpu -d 'Only this CPU\'s buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from take" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s c -l cpu -d 'Only this CPU\'s buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from show" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from save" -s c -l cpu -d 'Only this CPU\'s buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from save" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from save" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from save" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from save" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from save" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from clear" -s c -l cpu -d 'Only this CPU\'s buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from clear" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from clear" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from clear" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from clear" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from free" -s c -l cpu -d 'Only this CPU\'s buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from free" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from free" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from free" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from free" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from free" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from status" -s c -l cpu -d 'Only this CPU\'s buffer' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from status" -s B -l instance -d 'Instance to use, instead of the top level' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from status" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from status" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from status" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand snapshot; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and not __fish_seen_subcommand_from create list show set save remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and not __fish_seen_subcommand_from create list show set save remove" -f -a "create" -d 'Create an instance, with all its settings in one go'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and not __fish_seen_subcommand_from create list show set save remove" -f -a "list" -d 'List the instances'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and not __fish_seen_subcommand_from create list show set save remove" -f -a "show" -d 'Show the settings of an instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and not __fish_seen_subcommand_from create list show set save remove" -f -a "set" -d 'Change settings of an instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and not __fish_seen_subcommand_from create list show set save remove" -f -a "save" -d 'Save what is in an instance\'s buffer as a trace.dat, which `rtrace report` and trace-cmd decode'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and not __fish_seen_subcommand_from create list show set save remove" -f -a "remove" -d 'Remove instances'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -s b -l buffer-size -d 'Ring buffer of each CPU; a bare number is KiB' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -l sub-buffer-size -d 'Sub-buffer, the unit in which the ring buffer is read (Linux 6.8); a bare number is KiB' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -s C -l clock -d 'Trace clock: local, global, mono, boot, ...' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -s p -l tracer -d 'Tracer: function, function_graph, ...' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -s e -l event -d 'Enable events; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -s O -l option -d 'Set a trace option, or with `no` before it clear it; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -s M -l cpumask -d 'CPUs to trace, as a hexadecimal mask' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -l tracing -d 'Switch the ring buffer on or off' -r -f -a "on\t''
off\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from list" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from list" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from list" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from show" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from show" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from show" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -s b -l buffer-size -d 'Ring buffer of each CPU; a bare number is KiB' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -l sub-buffer-size -d 'Sub-buffer, the unit in which the ring buffer is read (Linux 6.8); a bare number is KiB' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -s C -l clock -d 'Trace clock: local, global, mono, boot, ...' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -s p -l tracer -d 'Tracer: function, function_graph, ...' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -s e -l event -d 'Enable events; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -s O -l option -d 'Set a trace option, or with `no` before it clear it; may be given more than once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -s M -l cpumask -d 'CPUs to trace, as a hexadecimal mask' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -l tracing -d 'Switch the ring buffer on or off' -r -f -a "on\t''
off\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from save" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from save" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from save" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from save" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from remove" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from remove" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from remove" -s f -l force -d 'Remove it although triggers are set in it'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand instance; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and not __fish_seen_subcommand_from add list remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and not __fish_seen_subcommand_from add list remove" -f -a "add" -d 'Add a probe'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and not __fish_seen_subcommand_from add list remove" -f -a "list" -d 'List the dynamic events'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and not __fish_seen_subcommand_from add list remove" -f -a "remove" -d 'Remove probes'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from add" -s n -l name -d 'Name of the event: EVENT or SYSTEM/EVENT; without it, made from the place' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from add" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from add" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from add" -l dry-run -d 'Only print the line that would be written'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from list" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from list" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from list" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from remove" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from remove" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from remove" -l all -d 'Every dynamic event but synthetic ones'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -s i -l input -d 'Show the call chains of this recording instead, as trace-cmd hist does' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l val -d 'Fields to sum up, besides the number of events' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -s s -l sort -d 'Keys or values to sort by, with .desc or .asc' -r -f -a "hitcount\t''
hitcount.desc\t''
hitcount.asc\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l if -d 'Only events that pass this filter' -r -f -a "COMM\t''
CPU\t''
CPUS\t''
common_pid\t''
.ustring\t''
.function\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l size -d 'Number of entries' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l name -d 'Name; histograms of one name share a table' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l var -d 'Variable: `ts0=common_timestamp.usecs`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l action -d 'Action: \'onmax($lat).save(next_comm)\'' -r -f -a "onmatch\t''
onmax\t''
onchange\t''
trace\t''
save\t''
snapshot\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l weight -d 'With --folded: weigh stacks by their first value (`time`: of latency the time), or by the number of events' -r -f -a "time\t'The first value'
count\t'The number of events'"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -s n -l limit -d 'Only the N largest entries (by the order of --sort)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l follow -d 'Show the table again at every INTERVAL (1s if none is given), with the time and the number of the reading' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l max-lost -d 'Fail (4) if more than N events found no room in the table' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l duration -d 'Count for TIME (`5s`, `500ms`); CMD goes on' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -s k -l key -d 'Keys: fields with modifiers (.hex .sym .sym-offset .syscall .execname .log2 .buckets=N), common_stacktrace, ...' -r -f -a "common_pid\t''
common_pid.execname\t''
common_cpu\t''
common_stacktrace\t''
common_timestamp\t''
common_timestamp.usecs\t''
common_preempt_count\t''
.hex\t''
.sym\t''
.sym-offset\t''
.syscall\t''
.log2\t''
.buckets=\t''
.stacktrace\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -s P -l all-tasks -d 'With -i: count all tasks together'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l nohitcount -d 'Do not show the number of events (needs a value)'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l dry-run -d 'Print the writes instead of doing them'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l json -d 'JSON instead of text; with --follow a document per line'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l csv -d 'CSV instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l folded -d 'Stacks as folded text, for flame graphs'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l raw -d 'The kernel\'s own text'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -l diff -d 'With --follow: what was counted since the last time'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -a "start" -d 'Start a histogram and leave it there'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -a "show" -d 'Show histograms that were started'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -a "pause" -d 'Stop counting'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -a "continue" -d 'Count on'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -a "clear" -d 'Forget what was counted'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and not __fish_seen_subcommand_from start show pause continue clear stop" -a "stop" -d 'Remove histograms'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -s k -l key -d 'Keys: fields with modifiers (.hex .sym .sym-offset .syscall .execname .log2 .buckets=N), common_stacktrace, ...' -r -f -a "common_pid\t''
common_pid.execname\t''
common_cpu\t''
common_stacktrace\t''
common_timestamp\t''
common_timestamp.usecs\t''
common_preempt_count\t''
.hex\t''
.sym\t''
.sym-offset\t''
.syscall\t''
.log2\t''
.buckets=\t''
.stacktrace\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l val -d 'Fields to sum up, besides the number of events' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -s s -l sort -d 'Keys or values to sort by, with .desc or .asc' -r -f -a "hitcount\t''
hitcount.desc\t''
hitcount.asc\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l if -d 'Only events that pass this filter' -r -f -a "COMM\t''
CPU\t''
CPUS\t''
common_pid\t''
.ustring\t''
.function\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l size -d 'Number of entries' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l name -d 'Name; histograms of one name share a table' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l var -d 'Variable: `ts0=common_timestamp.usecs`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l action -d 'Action: \'onmax($lat).save(next_comm)\'' -r -f -a "onmatch\t''
onmax\t''
onchange\t''
trace\t''
save\t''
snapshot\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l nohitcount -d 'Do not show the number of events (needs a value)'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -l dry-run -d 'Print the writes instead of doing them'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l weight -d 'With --folded: weigh stacks by their first value (`time`: of latency the time), or by the number of events' -r -f -a "time\t'The first value'
count\t'The number of events'"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -s n -l limit -d 'Only the N largest entries (by the order of --sort)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l follow -d 'Show the table again at every INTERVAL (1s if none is given), with the time and the number of the reading' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l max-lost -d 'Fail (4) if more than N events found no room in the table' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l against -d 'Compare with the first table of FILE, which `--raw` wrote earlier' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l json -d 'JSON instead of text; with --follow a document per line'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l csv -d 'CSV instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l folded -d 'Stacks as folded text, for flame graphs'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l raw -d 'The kernel\'s own text'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -l diff -d 'With --follow: what was counted since the last time'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from pause" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from pause" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from pause" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from pause" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from pause" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from continue" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from continue" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from continue" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from continue" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from continue" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from continue" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from clear" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from clear" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from clear" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from clear" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from clear" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from clear" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from stop" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from stop" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from stop" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from stop" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from stop" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand hist; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l by -d 'Fields that are equal in all events: `pid=next_pid`, one of each event in their order, or one name for all' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l split -d 'A distribution for each value of these fields of END, or of START: `next_comm`, `id.syscall`, `start.STACKTRACE`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l buckets -d 'Classes of N instead of powers of two' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l if-start -d 'Only START events that pass this filter' -r -f -a "COMM\t''
CPU\t''
CPUS\t''
common_pid\t''
.ustring\t''
.function\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l if-end -d 'Only END events that pass this filter' -r -f -a "COMM\t''
CPU\t''
CPUS\t''
common_pid\t''
.ustring\t''
.function\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l size -d 'Number of entries of each table: STARTs that can wait for their END at once, and classes' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l weight -d 'With --folded: weigh stacks by their first value (`time`: of latency the time), or by the number of events' -r -f -a "time\t'The first value'
count\t'The number of events'"
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -s n -l limit -d 'Only the N largest entries (by the order of --sort)' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l follow -d 'Show the table again at every INTERVAL (1s if none is given), with the time and the number of the reading' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l max-lost -d 'Fail (4) if more than N events found no room in the table' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l duration -d 'Count for TIME (`5s`, `500ms`); CMD goes on' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l ns -d 'Nanoseconds instead of microseconds'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l dry-run -d 'Print the writes instead of doing them'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l json -d 'JSON instead of text; with --follow a document per line'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l csv -d 'CSV instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l folded -d 'Stacks as folded text, for flame graphs'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l raw -d 'The kernel\'s own text'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -l diff -d 'With --follow: what was counted since the last time'
complete -c rtrace -n "__fish_rtrace_using_subcommand latency" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and not __fish_seen_subcommand_from create define list show remove sql" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and not __fish_seen_subcommand_from create define list show remove sql" -f -a "create" -d 'Make a synthetic event'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and not __fish_seen_subcommand_from create define list show remove sql" -f -a "define" -d 'Make a synthetic event by its fields alone, for the action `trace()` of histograms to fire'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and not __fish_seen_subcommand_from create define list show remove sql" -f -a "list" -d 'List the synthetic events'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and not __fish_seen_subcommand_from create define list show remove sql" -f -a "show" -d 'Show a synthetic event and the triggers that fire it'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and not __fish_seen_subcommand_from create define list show remove sql" -f -a "remove" -d 'Remove synthetic events and the triggers that fire them'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and not __fish_seen_subcommand_from create define list show remove sql" -f -a "sql" -d 'Make a synthetic event or a histogram from an SQL statement'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l start -d 'Event that starts it' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l end -d 'Event that ends it, and fires' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l match -d 'Fields that are equal in both; `:NAME` makes the value a field: pid=next_pid:pid' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l field -d 'Fields to take over: `start.prio`, `end.next_comm=comm`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l delta -d 'Differences, end less start: `usecs:lat`, `ns:lat` (times), `prio=next_prio:less` (fields)' -r -f -a "usecs:\t''
ns:\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l sum -d 'Sums of two fields: `prio=next_prio:both`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l if-start -d 'Only START events that pass this filter' -r -f -a "COMM\t''
CPU\t''
CPUS\t''
common_pid\t''
.ustring\t''
.function\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l if-end -d 'Only END events that pass this filter' -r -f -a "COMM\t''
CPU\t''
CPUS\t''
common_pid\t''
.ustring\t''
.function\t''"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l size -d 'Number of entries of both tables: matches that can be waited for at once' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l max -d 'Act when this field exceeds what it was, for this match' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l change -d 'Act when this field is not what it was, for this match' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l save -d 'Action: keep these fields of END in the histogram' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l snapshot -d 'Action: take a snapshot'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l trace -d 'Action: fire the event (so it does if no other action is given)'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -l dry-run -d 'Print the writes instead of doing them'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from define" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from define" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from define" -l dry-run -d 'Only print the line that would be written'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from define" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from define" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from list" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from list" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from list" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from show" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from show" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from remove" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from remove" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from remove" -l all -d 'All synthetic events'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from remove" -s f -l force -d 'Also those that are in use: disable them and remove their own triggers, wherever that is'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -s f -l file -d 'Read the statement from FILE, `-` for stdin' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -s n -l name -d 'Name of the synthetic event, or of the histogram' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l max -d 'Act when this field exceeds what it was, for this match' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l change -d 'Act when this field is not what it was, for this match' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l save -d 'Action: keep these fields of END in the histogram' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -s B -l instance -d 'Instance to use (made if it is not there), instead of a private one' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l snapshot -d 'Action: take a snapshot'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l trace -d 'Action: fire the event (so it does if no other action is given)'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l top -d 'Use the top level instead of a private instance'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -l dry-run -d 'Print the writes instead of doing them'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s n -d 'Name of the synthetic event' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s f -d 'Read the statement from FILE, `-` for stdin' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s t -d 'Tracing directory' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s B -d 'Instance' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s m -d 'Act when VAR exceeds what it was' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s c -d 'Act when VAR is not what it was' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s S -d 'Keep these fields then' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -l journal-dir -d 'Directory of the journals of changes' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s e -d 'Run the commands, too'
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s s -d 'Take a snapshot then'
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s T -d 'Fire the event then, too'
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand generate" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand help" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from set" -a "COMM CPU CPUS common_pid .ustring .function"
complete -c rtrace -n "__fish_rtrace_using_subcommand filter; and __fish_seen_subcommand_from check" -a "COMM CPU CPUS common_pid .ustring .function"
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from add" -a "traceon traceoff snapshot stacktrace enable_event: disable_event: enable_hist: disable_hist: hist:keys="
complete -c rtrace -n "__fish_rtrace_using_subcommand trigger; and __fish_seen_subcommand_from remove" -a "traceon traceoff snapshot stacktrace enable_event: disable_event: enable_hist: disable_hist: hist:keys="
complete -c rtrace -n "__fish_rtrace_using_subcommand probe; and __fish_seen_subcommand_from add" -a "kprobe kretprobe uprobe uretprobe eprobe fprobe fretprobe tprobe user"
complete -c rtrace -n "__fish_rtrace_using_subcommand synth; and __fish_seen_subcommand_from sql" -a "select from join on where as cast TIMESTAMP TIMESTAMP_USECS TIMESTAMP_DELTA TIMESTAMP_DELTA_USECS STACKTRACE COMM _COUNTER_"
complete -c rtrace -n "__fish_rtrace_using_subcommand sqlhist" -a "select from join on where as cast TIMESTAMP TIMESTAMP_USECS TIMESTAMP_DELTA TIMESTAMP_DELTA_USECS STACKTRACE COMM _COUNTER_"
complete -c rtrace -n "__fish_rtrace_using_subcommand help" -a "add all analyses analyze assertions check check-events clear continue convert create define dump exit-codes extract filter free functions help hist instance io irq latency list mem options pause probe profile recipes record recover remove report reset restart save sched set show snapshot split sql stack start stat status stop stream synth syscalls take trigger"
