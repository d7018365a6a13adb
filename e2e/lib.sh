# What the scripts of this directory share; to be sourced. It makes $tmp, which goes when the script ends, and builds.
# shellcheck shell=bash
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
top=$PWD
tmp=$(mktemp -d) || exit 1
export QMGRD_DATA=$tmp/d PATH=$tmp:$PATH
bad=0
trap 'cleanup' EXIT

cleanup() {
  [ -z "${server:-}" ] || kill "$server" 2>/dev/null
  [ ! -d "$tmp/d/QM1" ] || qmgrd stop QM1 -i -w >/dev/null 2>&1
  rm -rf "$tmp"
}

# build PACKAGE … puts the project's programs in $tmp and builds the Java ones, unless `make e2e` has done that a moment ago.
build() {
  ${GO:-go} build -o "$tmp/" "$@" || exit 1
  [ "${E2E_BUILT:-}" = 1 ] || (cd e2e/java && mvn -q -B -ntp package) || exit 1
}

# start_dev MQSC [OPTION …] starts QM1 with the objects for developers on a free port, which is in $port afterwards. It lies below
# those that systems give away by themselves: after a restart the queue manager listens on it again, and between, a client that
# connects again all the time could be given it for its own end.
start_dev() {
  local mqsc=$1
  shift
  port=$((20000 + RANDOM % 12000))
  while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((20000 + RANDOM % 12000)); done
  MQ_APP_PASSWORD=$pass MQ_ADMIN_PASSWORD=$pass-2 qmgrd start QM1 --dev --listen "127.0.0.1:$port" --mqsc "$mqsc" --detach "$@" || exit 1
}

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
    timeout 600 java -XX:TieredStopAtLevel=1 "${options[@]}" \
      -cp "$top/e2e/java/$client/target/classes:$top/e2e/java/$client/target/lib/*" "qmgrd.e2e.$class" "$@")
}

finish() {
  [ $bad = 0 ] && echo "$0: all runs passed" || echo "$0: $bad runs failed" >&2
  exit $bad
}
