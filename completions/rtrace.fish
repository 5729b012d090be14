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
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "generate" -d 'Write the man pages and the shell completions'
complete -c rtrace -n "__fish_rtrace_needs_command" -f -a "help" -d 'Show help on a command or a topic'
complete -c rtrace -n "__fish_rtrace_using_subcommand generate" -s h -l help -d 'Print help'
complete -c rtrace -n "__fish_rtrace_using_subcommand help" -s h -l help -d 'Print help'
