# Completions of rtrace for fish: put this into ~/.config/fish/completions/rtrace.fish.
function __rtrace_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($before[1] complete fish $before "$current" 2>/dev/null)
    switch "$answer[1]"
        case words
            for line in $answer[2..-1]
                echo $line
            end
        case 'command *'
            set -l first (math (string replace 'command ' '' -- $answer[1]) + 1)
            complete -C (string join ' ' -- (string escape -- $before[$first..-1]) "$current")
        case files
            complete -C "'' $current"
    end
end
complete -c rtrace -f -a '(__rtrace_complete)'
