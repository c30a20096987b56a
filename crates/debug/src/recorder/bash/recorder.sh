# Records the commands of a bash script as they were expanded. Bash reads it before a script because BASH_ENV names it.
if [[ -n ${STEPWELL_RECORD-} && -d $STEPWELL_RECORD ]]; then
  __stepwell_known=" $(compgen -v | tr '\n' ' ') __stepwell_known __stepwell_fd BASH_XTRACEFD PS4 BASH_ENV "
  __stepwell_end() {
    { set +x; } 2>/dev/null
    trap - EXIT
    printf '\036exit\037%s\037%s\037%s\n' "$1" "$2" "$3" >&"$__stepwell_fd"
    local __stepwell_name __stepwell_kind
    for __stepwell_name in $(compgen -v); do
      [[ $__stepwell_known == *" $__stepwell_name "* || $__stepwell_name == __stepwell_* || $__stepwell_name == BASH* ]] && continue
      case $__stepwell_name in PIPESTATUS | FUNCNAME | _ | LINENO | RANDOM | SRANDOM | SECONDS | EPOCH* | HISTCMD | COMP_* | MAPFILE) continue ;; esac
      __stepwell_kind=$(declare -p -- "$__stepwell_name" 2>/dev/null) || continue
      printf '\036variable\037%s\037%s\n' "$__stepwell_name" "${__stepwell_kind:0:400}" >&"$__stepwell_fd"
    done
    exit "$1"
  }
  exec {__stepwell_fd}>>"$STEPWELL_RECORD/$$.xtrace"
  BASH_XTRACEFD=$__stepwell_fd
  trap '__stepwell_end "$?" "${PIPESTATUS[*]}" "$BASH_COMMAND"' EXIT
  PS4=$'+\036run\037${BASH_SOURCE[0]-}\037${LINENO-}\037${FUNCNAME[0]-}\037'
  set -x
fi
