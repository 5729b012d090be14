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
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "list" -d 'List what this kernel can trace'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "check-events" -d 'Check that every event of this kernel is understood'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "reset" -d 'Put tracing back as it was'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "generate" -d 'Write the man pages and the shell completions'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "help" -d 'Show help on a command or a topic'
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
