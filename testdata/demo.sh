#!/usr/bin/env bash
# make demo: a queue manager from nothing, through a restart. Ends with an error at the first thing that is not as it
# should be. BIN is where the binaries are.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export QMGRD_DATA="$work/data" PATH="${BIN:?}:$PATH"
unset QMGRD_QM MQ_QMGR_NAME
cleanup() { qmgrd stop QM1 -p -w >/dev/null 2>&1 || true; rm -rf "$work"; }
trap cleanup EXIT
exec 3>&1 # commands are shown, but are no part of what is compared
say()  { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run()  { printf '$ %s\n' "$*" >&3; "$@"; }
want() { # want TEXT FILE: the text must be there
  grep -qF -- "$1" "$2" || { printf 'demo: expected "%s", got:\n' "$1" >&2; cat "$2" >&2; exit 1; }
}

say "Create and start queue manager QM1"
run qmgrd create QM1
run qmgrd start QM1 --listen 127.0.0.1:0 --detach
run qmgrd status
qmgrd status QM1 --json > "$work/status"; want '"status":"Running"' "$work/status"

say "MQSC: testdata/demo.mqsc piped into runmqsc"
run runmqsc QM1 < "$here/demo.mqsc" | tee "$work/report"
want 'No commands have a syntax error.' "$work/report"
want 'All valid MQSC commands were processed.' "$work/report"

say "Messages: put through the alias, browse, get one"
printf 'order %s\n' 1 2 3 | run qmgrd put QM1 ORDERS
printf 'quick %s\n' 1 2 | run qmgrd put QM1 ORDERS.FAST
run qmgrd browse QM1 ORDERS.IN --json --count 1
run qmgrd get QM1 ORDERS --count 1 | tee "$work/got"
want 'order 1' "$work/got"

say "Publish and subscribe"
run qmgrd subscribe QM1 'Price/#' --count 2 --wait 20 > "$work/prices" &
sub=$!
for _ in $(seq 100); do # publications before the subscription is there would be nobody's
  [[ $(runmqsc QM1 <<< "DISPLAY TPSTATUS('Price/#') TYPE(SUB)") == *'SUBID('* ]] && break
  sleep 0.05
done
printf '%s\n' 1.20 1.25 | run qmgrd publish QM1 Price/Fruit/Apples
wait $sub
cat "$work/prices"
[ "$(cat "$work/prices")" = $'1.20\n1.25' ] || { echo 'demo: the subscriber has not what was published' >&2; exit 1; }

say "DISPLAY while it runs"
printf "DISPLAY QLOCAL(ORDERS.IN) CURDEPTH DEFPSIST\nDISPLAY QSTATUS(ORDERS.FAST) CURDEPTH\nDISPLAY CHLAUTH(APP.SVRCONN)\n" |
  run runmqsc QM1 | tee "$work/show"
want 'CURDEPTH(2)' "$work/show"
want 'ADDRESS(10.*)' "$work/show"

say "Stop, check the files, start again"
run qmgrd stop QM1 -w
run qmgrd status
run qmgrd check QM1
run qmgrd start QM1 --detach

say "All that must be there is there"
printf "DISPLAY QLOCAL(ORDERS.IN) CURDEPTH DESCR\nDISPLAY QLOCAL(AUDIT.LOG) DESCR\nDISPLAY TOPIC(PRICES) TOPICSTR\nDISPLAY QMGR DEADQ\n" |
  run runmqsc QM1 | tee "$work/after"
want 'CURDEPTH(2)' "$work/after"
want 'DESCR(orders, persistent by default)' "$work/after"
want 'TOPICSTR(Price/Fruit)' "$work/after"
want 'DEADQ(ORDERS.DEAD)' "$work/after"
run qmgrd get QM1 ORDERS | tee "$work/got"
[ "$(cat "$work/got")" = $'order 2\norder 3' ] || { echo 'demo: the persistent messages are not as they were' >&2; exit 1; }
run qmgrd get QM1 ORDERS.FAST | tee "$work/got"
[ "$(cat "$work/got")" = $'quick 1\nquick 2' ] || { echo 'demo: NPMCLASS(HIGH) did not keep its messages' >&2; exit 1; }

say "The same objects as MQSC: qmgrd export"
run qmgrd export QM1 > "$work/export"
grep -A4 "ORDERS.IN" "$work/export" | sed 8q
want 'ORDERS.IN' "$work/export"
run qmgrd stop QM1 -i -w
printf '\n\033[1mdemo: all as it should be.\033[0m\n'
