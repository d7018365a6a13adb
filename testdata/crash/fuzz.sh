#!/bin/bash
# T-FUZZ: fuzz.sh SECONDS [REGEXP] runs every fuzz target of the tree, or those whose "package name" matches, one after the other, and
# shares the time between them. An input that fails is written to testdata/fuzz of its package: commit it, and every later test runs it.
# A target that has tried nothing fails as well.
set -u -o pipefail
total=${1:?usage: fuzz.sh SECONDS [REGEXP]}
go=${GO:-go}
cd "$(dirname "$0")/../.." || exit 2
tmp=$(mktemp -d) || exit 2
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
export TMPDIR=$tmp # of the targets: one that is killed leaves its files

mapfile -t targets < <(grep -rho --include='*_test.go' -H '^func Fuzz[A-Za-z0-9_]*' internal cmd mq |
	sed -E 's#^(.*)/[^/]*_test\.go:func (Fuzz.*)$#\1 \2#' | grep -E -- "${2:-.}" | LC_ALL=C sort)
[ "${#targets[@]}" -gt 0 ] || { echo 'fuzz: no targets found' >&2; exit 2; }
each=$((total / ${#targets[@]}))
[ "$each" -ge 1 ] || each=1
echo "fuzz: ${#targets[@]} targets, ${each} s each"

# prepare PACKAGE builds its tests into $bin as `go test -fuzz` does, once for all its targets. Interesting inputs are kept in $corpus:
# a long run goes on with those of the runs before it, in Go's cache; a short one begins with the seeds of the tree wherever it runs,
# and has not to go through thousands of inputs first.
prepare() {
	bin=$tmp/$(tr / _ <<<"$1").test corpus=$tmp/corpus/$1
	[ -x "$bin" ] || "$go" test -c -fuzz . -o "$bin" "./$1" >"$tmp/out" 2>&1 || return
	[ "$each" -lt 10 ] || corpus=$("$go" env GOCACHE)/fuzz/$("$go" list "./$1")
}

# attempt PACKAGE TARGET SECONDS: its output is in $tmp/out, the number of inputs tried in $tried. The time begins when the seeds have been
# gone through, and ends with an interrupt: -fuzztime begins before them, and its end is now and then a failure by itself ("context deadline
# exceeded"). Nothing is made small: that takes up to a minute for each new input, in which nothing else is tried.
attempt() {
	local i until execs=0 seeds=0 begun=$SECONDS
	(cd "$1" && exec "$bin" -test.run '^$' -test.fuzz "^$2\$" -test.fuzzminimizetime 1x -test.fuzzcachedir "$corpus") >"$tmp/out" 2>&1 &
	pid=$!
	for ((i = 0; i < 6000; i++)); do
		kill -0 "$pid" 2>/dev/null && ! grep -qE 'now fuzzing|execs: ' "$tmp/out" || break
		sleep 0.1
	done
	until=$((${EPOCHREALTIME//[!0-9]/} + $3 * 1000000))
	while [ "${EPOCHREALTIME//[!0-9]/}" -lt $until ] && kill -0 "$pid" 2>/dev/null; do
		sleep 0.1
	done
	kill -INT "$pid" 2>/dev/null
	wait "$pid"
	local status=$?
	pid= took=$((SECONDS - begun)) tried=0
	read -r seeds < <(sed -n 's/.* \([0-9]*\)\/[0-9]* completed, now fuzzing.*/\1/p' "$tmp/out")
	read -r execs < <(grep -o 'execs: [0-9]*' "$tmp/out" | tail -n 1 | cut -d ' ' -f 2)
	tried=$((${execs:-0} - ${seeds:-0}))
	return $status
}

# by_machine PACKAGE TARGET: whether a failure may be the machine's, so that another attempt has to show. Its process was killed from outside
# (for its memory), or it had one input for more than the ten seconds that Go gives each, and that input passes alone.
by_machine() {
	grep -q 'terminated by unexpected signal' "$tmp/out" && return
	grep -q 'hung or terminated unexpectedly' "$tmp/out" && [ "$took" -ge 10 ] || return
	local input
	input=$(sed -n 's/.*Failing input written to //p' "$tmp/out")
	[ -f "$1/$input" ] || return
	(cd "$1" && "$bin" -test.run "^$2\$/^$(basename "$input")\$" -test.count 3 -test.timeout 60s) >/dev/null 2>&1 || return
	echo "fuzz: $1 $2: an input took more than ten seconds, but passes alone: $(head -c 2000 "$1/$input")" >&2
	rm "$1/$input"
}

# fuzz PACKAGE TARGET: more time where a loaded machine has tried nothing.
fuzz() {
	local factor
	prepare "$1" || return
	for factor in 1 5 25; do
		if attempt "$1" "$2" $((each * factor)); then
			[ "$tried" -le 0 ] || return 0
		else
			by_machine "$1" "$2" || return
		fi
	done
	echo "nothing tried in $((each * factor)) s, or never the whole of it"
	return 1
} >>"$tmp/out"

failed=()
for t in "${targets[@]}"; do
	: >"$tmp/out"
	if fuzz ${t% *} ${t#* }; then
		echo "fuzz: $t: $tried inputs, $(grep -o 'new interesting: [0-9]*' "$tmp/out" | tail -n 1)"
	else
		failed+=("$t")
		echo "fuzz: $t: FAILED" && cat "$tmp/out"
	fi
done
if [ "${#failed[@]}" -gt 0 ]; then
	printf 'fuzz: failed: %s\n' "${failed[@]}" >&2
	exit 1
fi
echo "fuzz: all ${#targets[@]} passed"
