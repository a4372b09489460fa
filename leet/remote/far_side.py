"""What the far side is taught when a connection begins: shell functions that answer under a mark (see `shell`).

Any POSIX sh will do, with `dd`, `tail`, `ls` and `date`, and `stat` as GNU, BusyBox or BSD has it where there is one.
`dd` finds its place in a file without reading what lies before it, and `tail` drops what it gave too much of.

    leet_range MARK FILE OFFSET LENGTH     ok LENGTH SIZE INODE MODIFIED NOW   and the bytes that there are of the range
                                           no REASON
    leet_look MARK PATH                    file             and the directory that it is in
                                           directory NOW    and the directory, what its `latest-run` links point to, and
                                                            groups of names, an empty one, lines SIZE INODE MODIFIED
                                           no REASON
    leet_list MARK DIRECTORY…              ok NOW    and the same groups, of the logs in the run directories there
    leet_recent MARK MINUTES DIRECTORY…    ok NOW    and groups: each directory, and the logs written to of late in it
    leet_find MARK PATH DEPTH              ok        and lines: directories called `wandb`; empty ones while it seeks
"""

FUNCTIONS = r"""
LC_ALL=C; export LC_ALL; unset CDPATH
if stat -L -c %s / >/dev/null 2>&1; then LEET_STAT='stat -L -c "%s %i %Y" "$@"'
elif stat -L -f %z / >/dev/null 2>&1; then LEET_STAT='stat -L -f "%z %i %m" "$@"'
else LEET_STAT='
  for leet_f; do
    ( set -f; set -- "$leet_f" $(ls -Lnid "$leet_f")
      [ "$#" -gt 7 ] && echo "$7 $2 $(date -r "$1" +%s || echo 0)" ) 2>/dev/null
  done'
fi
LEET_STATS='[ "$#" -gt 0 ] && printf "%s\0" "$@" && printf "\0" && { eval "$LEET_STAT" 2>/dev/null; printf "\0"; }'
export LEET_STAT LEET_STATS
leet_stat() { eval "$LEET_STAT"; }
if [ "$(printf abc | head -c 2 2>/dev/null)" = ab ]; then
  leet_head() { head -c "$1"; }
else
  leet_head() { cat; }
fi
leet_why() {
  if [ -d "$1" ]; then echo directory
  elif [ ! -e "$1" ]; then echo missing
  elif [ ! -r "$1" ]; then echo denied
  elif [ ! -f "$1" ]; then echo irregular
  else echo unreadable; fi
}
leet_range() {
  leet_m=$1
  [ -f "$2" ] && [ -r "$2" ] && leet_s=$(leet_stat "$2" 2>/dev/null) || {
    printf '\n%s no %s\n\n%s end\n' "$leet_m" "$(leet_why "$2")" "$leet_m"
    return
  }
  leet_n=$((${leet_s%% *} - $3))
  [ "$leet_n" -gt "$4" ] && leet_n=$4
  [ "$leet_n" -lt 0 ] && leet_n=0
  printf '\n%s ok %s %s %s\n' "$leet_m" "$leet_n" "$leet_s" "$(date +%s)"
  leet_b=$(($3 % 4096))
  [ "$leet_n" -gt 0 ] &&
    dd if="$2" bs=4096 skip=$(($3 / 4096)) count=$(((leet_b + leet_n + 4095) / 4096)) 2>/dev/null |
    tail -c +$((leet_b + 1)) | leet_head "$leet_n"
  printf '\n%s end\n' "$leet_m"
}
leet_stats() {
  for leet_f; do
    shift
    [ -f "$leet_f" ] && set -- "$@" "$leet_f"
  done
  eval "$LEET_STATS"
}
leet_all() {
  while [ "$#" -gt 0 ]; do
    leet_i=0 leet_q=
    while [ "$leet_i" -lt 100 ] && [ "$leet_i" -lt "$#" ]; do
      leet_i=$((leet_i + 1))
      leet_q="$leet_q \"\${$leet_i}\""
    done
    eval "leet_stats $leet_q"
    shift "$leet_i"
  done
}
leet_look() {
  leet_m=$1
  if [ -f "$2" ]; then
    printf '\n%s file\n' "$leet_m"
    ( cd -P "${2%/*}/" && pwd -P )
  elif ( cd -P "$2" && ls ) >/dev/null 2>&1; then
    printf '\n%s directory %s\n' "$leet_m" "$(date +%s)"
    ( cd -P "$2"
      for leet_d in . latest-run wandb/latest-run .wandb/latest-run; do
        ( cd -P "$leet_d" 2>/dev/null && pwd -P )
        printf '\0'
      done
      leet_all ./run-*.wandb ./*/run-*.wandb ./wandb/*/run-*.wandb ./.wandb/*/run-*.wandb )
  else
    printf '\n%s no %s\n' "$leet_m" "$(leet_why "$2")"
  fi
  printf '\n%s end\n' "$leet_m"
}
leet_list() {
  leet_m=$1
  shift
  printf '\n%s ok %s\n' "$leet_m" "$(date +%s)"
  for leet_d; do
    leet_all "$leet_d"/*/run-*.wandb
  done
  printf '\n%s end\n' "$leet_m"
}
leet_recent() {
  leet_m=$1 leet_t=$2
  shift 2
  printf '\n%s ok %s\n' "$leet_m" "$(date +%s)"
  for leet_d; do
    leet_s=$(leet_stat "$leet_d" 2>/dev/null)
    printf '%s\0\0%s\n\0' "$leet_d" "${leet_s:-0 0 0}"
    find "$leet_d/" -maxdepth 2 -name 'run-*.wandb' -mmin "-$leet_t" -exec sh -c "$LEET_STATS" sh {} + 2>/dev/null
  done
  printf '\n%s end\n' "$leet_m"
}
leet_find() {
  leet_m=$1
  printf '\n%s ok\n' "$leet_m"
  ( while sleep 5; do echo; done ) &
  leet_k=$!
  find -L "$2" -maxdepth "$3" -type d \( -name files -o -name media -o -name node_modules -o -name site-packages \
    -o -name venv -o -name .git \) -prune -o -type d \( -name wandb -o -name .wandb \) -print -prune 2>/dev/null
  kill "$leet_k" 2>/dev/null
  printf '\n%s end\n' "$leet_m"
}
"""
