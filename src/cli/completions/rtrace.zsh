#compdef rtrace
# Completions of rtrace for zsh: put this into a folder of $fpath as `_rtrace`.
_rtrace() {
  local -a answer whole going shown_whole shown_going
  local line word shown kind
  answer=("${(@f)$("${words[1]}" complete zsh "${(@Q)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  kind=${answer[1]}
  case $kind in
    words)
      for line in "${(@)answer[2,-1]}"; do
        word=${line%%$'\t'*}
        shown=$word
        [[ $line == *$'\t'* ]] && shown="$word  -- ${line#*$'\t'}"
        # A word that goes on gets no blank.
        if [[ $word == *[:=/] ]]; then going+=("$word") shown_going+=("$shown")
        else whole+=("$word") shown_whole+=("$shown"); fi
      done
      (( $#whole )) && compadd -l -d shown_whole -a whole
      (( $#going )) && compadd -l -S '' -d shown_going -a going
      return 0
      ;;
    command*)
      local first=${kind#command }
      shift $first words
      (( CURRENT -= first ))
      _normal
      ;;
    files) _files ;;
  esac
}
if [[ $funcstack[1] == _rtrace ]]; then _rtrace "$@"; else compdef _rtrace rtrace; fi
