# The two commands for a newcomer are `make demo` and `make test`. Everything else is below.
GO       ?= go
BIN      := bin
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X github.com/qmgrd/qmgrd/internal/daemon.Version=$(VERSION)
BUILD    := CGO_ENABLED=0 $(GO) build -buildvcs=false -trimpath -ldflags '$(LDFLAGS)'
PREFIX   ?= /usr/local
DESTDIR  ?=
UNITDIR  ?= /lib/systemd/system
SHELL    := /bin/bash

.PHONY: all build demo test check locks fmt vet staticcheck tidy race bench bench-servers fuzz crash e2e samples bench-java install cross clean

all: build

build:
	@mkdir -p $(BIN)
	$(BUILD) -o $(BIN)/qmgrd ./cmd/qmgrd
	$(BUILD) -o $(BIN)/runmqsc ./cmd/runmqsc

# A queue manager from nothing to surviving a restart, in a temporary directory.
demo: build
	@BIN='$(CURDIR)/$(BIN)' testdata/demo.sh

# All tests, with about a fifth of what `make crash` runs (docs/robustness.md).
FUZZ_SHARE ?= 96
test: build
	$(GO) vet ./...
	QMGRD_CRASH_ROUNDS=50 $(GO) test -timeout 60m ./...
	$(GO) test -tags invariants -timeout 30m $(DOORS)
	$(GO) test -tags invariants -timeout 30m -run 'Lock|Instrument|Crash' ./internal/qmgr
	$(GO) test -tags invariants -timeout 30m -run 'Hold' ./internal/pubsub
	GO=$(GO) testdata/crash/fuzz.sh $(FUZZ_SHARE)
	@if command -v java >/dev/null && command -v mvn >/dev/null; then \
	  $(MAKE) --no-print-directory e2e; \
	elif [ "$$REQUIRE_JAVA" = 1 ]; then echo 'e2e: REQUIRE_JAVA=1, but java or mvn is missing' >&2; exit 1; \
	else echo 'e2e: SKIPPED, java and mvn are not installed (REQUIRE_JAVA=1 makes this an error)'; fi

# What must be clean before a commit.
check: fmt vet staticcheck tidy race locks

# With the tag a lock taken out of order, or held over a sync, a write to a peer, or a wait for one, ends the test (internal/invariants).
DOORS := ./internal/invariants ./internal/vfs ./internal/pcf ./internal/fap/... ./internal/web ./internal/daemon ./mq
locks:
	$(GO) vet -tags invariants ./internal/...
	$(GO) test -tags invariants -timeout 20m $(DOORS) ./internal/store ./internal/qmgr
	$(GO) test -tags invariants -timeout 10m -run 'Hold' ./internal/pubsub

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "gofmt: $$out" >&2; exit 1; }

vet:
	$(GO) vet ./...

staticcheck:
	$(GO) tool staticcheck ./...

tidy:
	$(GO) mod tidy -diff

race:
	QMGRD_CRASH_ROUNDS=10 $(GO) test -race -timeout 30m ./...

# qmgrd beside other brokers in one run (docs/bench.md), after the benchmarks inside the process. Peers that are not
# installed are left out and named.
BENCH_PEERS ?= floor,qmgrd,nats,mosquitto,rabbit-classic
BENCH_WORK  ?= W1,W2,W3,W4,W5,W8
BENCH_FLAGS ?= -d 1s -reps 3 -big 1000000
bench: build bench-servers
	$(GO) test -run '^$$' -bench . -benchmem ./internal/... ./mq
	cd bench && $(GO) build -buildvcs=false -o ../$(BIN)/bench .
	cd bench && ../$(BIN)/bench -servers ../$(BIN)/servers -qmgrd ../$(BIN)/qmgrd -peers $(BENCH_PEERS) \
	  -work $(BENCH_WORK) -json ../$(BIN)/bench.json $(BENCH_FLAGS)

# The peers that the Go module proxy has. The others: bench/README.md.
bench-servers:
	@mkdir -p $(BIN)/servers
	@[ -x $(BIN)/servers/nats-server ] || GOBIN='$(CURDIR)/$(BIN)/servers' $(GO) install github.com/nats-io/nats-server/v2@v2.15.2
	@for s in etcd mochi; do [ -x $(BIN)/servers/$$s ] || (cd bench/servers/$$s && $(GO) build -buildvcs=false -o ../../../$(BIN)/servers/$$s .); done

# The proof suite (docs/robustness.md). The same code runs a share in `make test`, the numbers of the continuous
# integration in `make crash`, and the large ones in `make release-check`. QMGRD_SEED repeats a run, QMGRD_SCALE is a
# percentage of the budget.
PROOF := $(GO) test -count 1 -v ./internal/crashtest

# FUZZ_BUDGET is in seconds, for all targets together.
FUZZ_BUDGET ?= 440
fuzz:
	GO=$(GO) testdata/crash/fuzz.sh $(FUZZ_BUDGET)

# CRASH_ROUNDS are of kill -9 through the programs, CRASH_SEED repeats them.
CRASH_ROUNDS ?= 250
crash: build
	QMGRD_BUDGET=crash $(PROOF) -timeout 90m
	QMGRD_CRASH_ROUNDS=$(CRASH_ROUNDS) QMGRD_CRASH_SEED=$(CRASH_SEED) \
	  $(GO) test -count 1 -timeout 60m -v -run 'TestCrash' ./cmd/qmgrd
	GO=$(GO) testdata/crash/fuzz.sh 600

# Days: T-KILL 10,000 loops, T-POWER all sequences and 2,000,000 images, 80 hours of fuzzing.
release-check: build
	QMGRD_BUDGET=release $(PROOF) -timeout 96h
	QMGRD_CRASH_ROUNDS=2000 $(GO) test -count 1 -timeout 12h -v -run 'TestCrash' ./cmd/qmgrd
	QMGRD_LONG_TESTS=1 $(GO) test -count 1 -timeout 12h ./internal/store/... ./internal/qmgr/...
	GO=$(GO) testdata/crash/fuzz.sh 288000

# The vendor's unchanged Java clients (docs/clients.md).
e2e:
	e2e/package
	E2E_BUILT=1 e2e/run
	E2E_BUILT=1 e2e/security
	E2E_BUILT=1 e2e/clients
	E2E_BUILT=1 e2e/recovery

# The vendor's public sample programs, from jars that you have built: SAMPLES_JMS and SAMPLES_JAVA (docs/clients.md).
samples:
	e2e/samples

# JMS producers and consumers beside Apache Artemis in one run (docs/clients.md).
bench-java:
	e2e/bench

# Static builds of every platform we ship; the developers' laptops, and a platform of 32 bits, compiled and vetted.
cross:
	@mkdir -p dist
	GOOS=linux GOARCH=amd64 $(BUILD) -o dist/linux-amd64/ ./cmd/...
	GOOS=linux GOARCH=arm64 $(BUILD) -o dist/linux-arm64/ ./cmd/...
	GOOS=darwin GOARCH=arm64 $(BUILD) -o dist/darwin-arm64/ ./cmd/...
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=linux GOARCH=386 $(GO) vet ./...

install: build
	install -D -m 0755 $(BIN)/qmgrd $(DESTDIR)$(PREFIX)/bin/qmgrd
	install -D -m 0755 $(BIN)/runmqsc $(DESTDIR)$(PREFIX)/bin/runmqsc
	sed 's#@PREFIX@#$(PREFIX)#' packaging/systemd/qmgrd@.service | \
	  install -D -m 0644 /dev/stdin $(DESTDIR)$(UNITDIR)/qmgrd@.service
	install -D -m 0644 packaging/systemd/qmgrd.sysusers $(DESTDIR)/usr/lib/sysusers.d/qmgrd.conf
	install -D -m 0644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/qmgrd/LICENSE

clean:
	rm -rf $(BIN) dist
