# Records the commands of a bash script as they were expanded. Bash reads it before a script because BASH_ENV names it.
if [[ -n ${STEPWELL_RECORD-} && -d $STEPWELL_RECORD ]]; then
  __stepwell_known=" $(compgen -v | tr '\n' ' ') __stepwell_known __stepwell_fd BASH_XTRACEFD PS4 BASH_ENV "
  # Writes how the script ends and its variables, and returns the status it ends with.
  __stepwell_end() {
    { set +x; } 2>/dev/null
    printf '\036exit\037%s\037%s\037%s\n' "$1" "$2" "$3" >&"$__stepwell_fd"
    local __stepwell_name __stepwell_kind
    for __stepwell_name in $(compgen -v); do
      [[ $__stepwell_known == *" $__stepwell_name "* || $__stepwell_name == __stepwell_* || $__stepwell_name == BASH* ]] && continue
      case $__stepwell_name in PIPESTATUS | FUNCNAME | _ | LINENO | RANDOM | SRANDOM | SECONDS | EPOCH* | HISTCMD | COMP_* | MAPFILE) continue ;; esac
      __stepwell_kind=$(declare -p -- "$__stepwell_name" 2>/dev/null) || continue
      printf '\036variable\037%s\037%s\n' "$__stepwell_name" "${__stepwell_kind:0:400}" >&"$__stepwell_fd"
    done
    return "$1"
  }
  # Marks where the commands of a trap begin and end: they are no commands of the script.
  __stepwell_trap() {
    printf '\036trap\n' >&"$__stepwell_fd"
    return "$1"
  }
  __stepwell_trapped() {
    printf '\036trapped\n' >&"$__stepwell_fd"
  }
  # Traps of the script run behind ours. `&& :` keeps the status for them without ending a script under `set -e`.
  __stepwell_set_trap() {
    local __stepwell_action=$1 __stepwell_signal=$2
    [[ $__stepwell_action != - ]] || __stepwell_action=
    case $__stepwell_signal in
      EXIT | 0)
        # A subshell has an end of its own.
        ((BASH_SUBSHELL > 0)) || __stepwell_action="__stepwell_end \"\$?\" \"\${PIPESTATUS[*]}\" \"\$BASH_COMMAND\" && :; $__stepwell_action"
        ;;
      ERR) __stepwell_action="__stepwell_trap \"\$?\" && :; ${__stepwell_action:-:}"$'\n'"__stepwell_trapped" ;;
      # Bash brings those back that a function takes away.
      DEBUG | RETURN) __stepwell_action=${__stepwell_action:-:} ;;
    esac
    builtin trap -- "$__stepwell_action" "$__stepwell_signal"
  }
  # In this mode no function can have the name.
  if [[ ! -o posix ]]; then
    trap() {
      local - __stepwell_action __stepwell_signal __stepwell_status=0
      set +x
      [[ ${1-} == -- ]] && shift
      if [[ $# == 0 || $1 == -[lp]* ]]; then
        builtin trap "$@"
        return
      fi
      if [[ $# -gt 1 && ! $1 =~ ^[0-9]+$ ]]; then
        __stepwell_action=$1
        shift
      else
        __stepwell_action=-
      fi
      for __stepwell_signal in "$@"; do
        __stepwell_signal=${__stepwell_signal^^}
        case ${__stepwell_signal#SIG} in
          EXIT | 0 | ERR | DEBUG | RETURN) __stepwell_set_trap "$__stepwell_action" "${__stepwell_signal#SIG}" ;;
          *) builtin trap -- "$__stepwell_action" "$__stepwell_signal" ;;
        esac || __stepwell_status=$?
      done
      return "$__stepwell_status"
    }
  fi
  exec {__stepwell_fd}>>"$STEPWELL_RECORD/$$.xtrace"
  BASH_XTRACEFD=$__stepwell_fd
  builtin trap '__stepwell_end "$?" "${PIPESTATUS[*]}" "$BASH_COMMAND" && :' EXIT
  PS4=$'+\036run\037${BASH_SOURCE[0]-}\037${LINENO-}\037${FUNCNAME[0]-}\037'
  set -x
fi
