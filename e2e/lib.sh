# What the scripts of this directory share; to be sourced. It makes $tmp, which goes when the script ends, and builds.
# shellcheck shell=bash
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
top=$PWD
tmp=$(mktemp -d) || exit 1
export QMGRD_DATA=$tmp/d PATH=$tmp:$PATH
unset QMGRD_QM MQ_QMGR_NAME MQ_DEV MQ_APP_PASSWORD_FILE MQ_ADMIN_PASSWORD_FILE # what a user of qmgrd has set
bad=0
trap 'cleanup' EXIT

cleanup() {
  [ -z "${server:-}" ] || kill "$server" 2>/dev/null
  [ ! -d "$tmp/d/QM1" ] || qmgrd stop QM1 -i -w >/dev/null 2>&1
  rm -rf "$tmp"
}

# build PACKAGE … puts the project's programs in $tmp and builds the Java ones, unless `make e2e` has done that a moment ago.
build() {
  ${GO:-go} build -buildvcs=false -o "$tmp/" "$@" || exit 1 # the stamp fails where the tree is another user's
  [ "${E2E_BUILT:-}" = 1 ] || e2e/package || exit 1
}

# start_dev MQSC [OPTION …] starts QM1 with the objects for developers on a free port, which is in $port afterwards. It lies below
# those that systems give away by themselves: after a restart the queue manager listens on it again, and between, a client that
# connects again all the time could be given it for its own end.
start_dev() {
  local mqsc=$1 said
  shift
  for _ in $(seq 20); do
    port=$((20000 + RANDOM % 12000))
    said=$(MQ_APP_PASSWORD=$pass MQ_ADMIN_PASSWORD=$pass-2 qmgrd start QM1 --dev --listen "127.0.0.1:$port" --mqsc "$mqsc" --detach "$@" 2>&1) &&
      echo "$said" && return
    [[ $said = *'address already in use'* ]] || break
  done
  echo "$said" >&2
  exit 1
}

# A client of a Turkish user does not understand its own words (İ is its capital letter of i): not what is tested.
java=(java -XX:TieredStopAtLevel=1 -Duser.language=en -Duser.country=GB)

# program CLIENT CLASS [-Doption …] -- ARGUMENT …: runs a Java program over one of the client libraries.
program() {
  local client=$1 class=$2 options=()
  shift 2
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  shift
  (cd "$tmp" && # the client writes its log, and what it finds wrong, to the current directory
    timeout 600 "${java[@]}" "${options[@]}" \
      -cp "$top/e2e/java/$client/target/classes:$top/e2e/java/$client/target/lib/*" "qmgrd.e2e.$class" "$@")
}

finish() {
  [ $bad = 0 ] && echo "$0: all runs passed" || echo "$0: $bad runs failed" >&2
  exit $bad
}
