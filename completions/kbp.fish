# Completion of kbp for fish. Printed by `kbp completions fish`.
function __kbp_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct | string unescape 2>/dev/null; or commandline -ct)
    set -l program (string replace -r '^~(?=/)' $HOME -- $before[1])
    set -l lines ($program __complete fish -- $before "$current" 2>/dev/null)
    switch "$lines[1]"
        case plain nospace
            printf '%s\n' $lines[2..-1]
        case '*'
            __fish_complete_path (commandline -ct)
    end
end
complete -c kbp -f -a '(__kbp_complete)'
