# Completion of kbp for bash. Printed by `kbp completions bash`.
_kbp() {
    local follows value
    COMPREPLY=()
    {
        IFS= read -r follows
        while IFS=$'\t' read -r value _; do
            COMPREPLY+=("$value")
        done
    } < <("${1/#\~/$HOME}" __complete bash "$COMP_LINE" "$COMP_POINT" "$COMP_WORDBREAKS" 2>/dev/null)
    case $follows in
        nospace) compopt -o nospace 2>/dev/null ;;
        plain) ;;
        *) compopt -o default 2>/dev/null ;;
    esac
}
complete -F _kbp kbp
