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
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "report" -d 'Print a recording as text'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "recover" -d 'Finish a recording whose recorder was killed'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "list" -d 'List what this kernel can trace'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "check-events" -d 'Check that every event of this kernel is understood'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "reset" -d 'Put tracing back as it was'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "generate" -d 'Write the man pages and the shell completions'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "help" -d 'Show help on a command or a topic'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s i -l input -d 'File to print; may be given several times' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s F -l filter -d 'Only the events that match, as in `sched/sched_switch: next_pid == 1`' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l cpu -d 'Only the events of these CPUs, as in 0,2-4' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l ts-offset -d 'Number to add to every time stamp, in the clock\'s unit' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s v -l invert -d 'Not the events that match the filters behind this'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s t -d 'Time stamps in nanoseconds'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s l -d 'Short columns, as the kernel\'s latency format'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s R -d 'Fields by name instead of the events\' texts'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s N -d 'No wording of trace-cmd\'s plugins: the kernel\'s print formats only'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s L -d 'Only plugins of the user: rtrace has none, so this changes nothing'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l ts-diff -d 'The time since the line before, behind each time stamp'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l raw-ts -d 'Raw time stamps, without any correction'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l nodate -d 'Do not turn the time stamps of a recording with --date into wall clock times'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l stat -d 'The buffers\' statistics when recording ended, and where the data lies'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l uname -d 'The recorded machine and kernel, and the recorder\'s version'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l version -d 'The version of the program that recorded'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l cpus -d 'The CPUs that have data'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s E -l event-names -d 'The names of the events whose formats the file holds'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -l events -d 'The formats of the events'
complete -c rtrace -n "__fish_rtrace_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand recover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s e -l events -d 'Events; PATTERN is a glob (`sched:*`), a regular expression (`^sys.*open`) or part of a name' -r
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l journal-dir -d 'Where the journals of changes lie' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s F -l format -d 'The format of each event: its fields, their places and sizes'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l full -d 'With -F, also the kernel\'s print format'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s t -s p -l tracers -d 'Tracers'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s C -l clocks -d 'Trace clocks, the one in use in brackets'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s B -l instances -d 'Instances'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s o -l options -d 'Trace options, with `no` before those that are off'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s s -l systems -d 'Event systems'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -l json -d 'One JSON document instead of text'
complete -c rtrace -n "__fish_rtrace_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -l journal-dir -d 'Where the journals of changes lie' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -s v -l verbose -d 'Name each event'
complete -c rtrace -n "__fish_rtrace_using_subcommand check-events" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -l tracefs -d 'Tracing directory to use, instead of where tracefs is mounted' -r -f -a "(__fish_complete_directories)"
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -l journal-dir -d 'Where the journals of changes lie' -r -F
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -l stale -d 'Undo what killed recordings left behind'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s v -l verbose -d 'Show each write to tracefs as a shell line'
complete -c rtrace -n "__fish_rtrace_using_subcommand reset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rtrace -n "__fish_rtrace_using_subcommand generate" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand help" -s h -l help -d 'Print help'
