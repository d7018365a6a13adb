#!/bin/bash
# T-FUZZ: fuzz.sh SECONDS runs every fuzz target of the tree, one after the other, and shares the time between them.
# An input that fails is written to testdata/fuzz of its package: commit it, and every later test runs it.
set -u
total=${1:?usage: fuzz.sh SECONDS}
go=${GO:-go}
cd "$(dirname "$0")/../.." || exit 2

mapfile -t targets < <(grep -rho --include='*_test.go' -H '^func Fuzz[A-Za-z0-9_]*' internal cmd mq |
	sed -E 's#^(.*)/[^/]*_test\.go:func (Fuzz.*)$#\1 \2#' | sort)
[ "${#targets[@]}" -gt 0 ] || { echo 'fuzz: no targets found' >&2; exit 2; }
each=$((total / ${#targets[@]}))
[ "$each" -ge 1 ] || each=1
echo "fuzz: ${#targets[@]} targets, ${each} s each"
# Making a new input small takes up to a minute, in which nothing else is tried: where there is time to look further, it is not done.
small=()
[ "$each" -lt 10 ] || small=(-fuzzminimizetime 1x)

# A worker that is slow to stop when the time is up fails a target with nothing but this line, and no input: that is the machine's
# load, not the target's fault. Such a target runs again, twice at most.
late='^ *context deadline exceeded$'

run() {
	local try
	for try in 1 2 3; do
		out=$("$go" test -run '^$' -fuzz "^$2\$" -fuzztime "${each}s" "${small[@]}" "./$1" 2>&1) && return 0
		grep -q "$late" <<<"$out" || return 1
		grep -qE 'Failing input|panic|hung or terminated' <<<"$out" && return 1
	done
	return 1
}

failed=()
for t in "${targets[@]}"; do
	pkg=${t% *} name=${t#* }
	if run "$pkg" "$name"; then
		echo "fuzz: $pkg $name: $(grep -o 'execs: [0-9]*' <<<"$out" | tail -1), $(grep -o 'new interesting: [0-9]*' <<<"$out" | tail -1)"
	else
		failed+=("$pkg $name")
		printf 'fuzz: %s %s: FAILED\n%s\n' "$pkg" "$name" "$out"
	fi
done
if [ "${#failed[@]}" -gt 0 ]; then
	printf 'fuzz: failed: %s\n' "${failed[@]}" >&2
	exit 1
fi
echo "fuzz: all ${#targets[@]} passed"
