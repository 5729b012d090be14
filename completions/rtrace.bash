# Completions of rtrace for bash: `source` this, or put it into bash-completion's folder as `rtrace`.
_rtrace() {
  local answer word kind at width=0
  COMPREPLY=()
  mapfile -t answer < <("${COMP_WORDS[0]}" complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  kind=${answer[0]}
  case $kind in
    words)
      for word in "${answer[@]:1}"; do COMPREPLY+=("${word%%$'\t'*}"); done
      # Lists have meanings too; menus, which insert what they show, have not.
      if [[ ${#COMPREPLY[@]} -gt 1 && -n ${COMP_TYPE-} && $COMP_TYPE != 37 && $COMP_TYPE != 42 ]]; then
        for word in "${COMPREPLY[@]}"; do ((${#word} > width)) && width=${#word}; done
        for ((at = 0; at < ${#COMPREPLY[@]}; at++)); do
          word=${answer[at + 1]}
          [[ $word != *$'\t'* ]] && continue
          printf -v word "%-${width}s  %s" "${word%%$'\t'*}" "${word#*$'\t'}"
          COMPREPLY[at]=${word:0:${COLUMNS:-80} - 1}
        done
      fi
      # A word that goes on gets no blank.
      if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[:=/] ]]; then compopt -o nospace 2>/dev/null; fi
      ;;
    command*)
      compopt -o filenames 2>/dev/null
      # The first word is a command, those after it are what it takes.
      if [[ ${COMP_LINE:0:COMP_POINT} == *" -- $2" || ${COMP_CWORD} -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$2" | sort -u)
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
      fi
      ;;
    files)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$2")
      ;;
  esac
}
complete -F _rtrace rtrace
