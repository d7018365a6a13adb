// Command bench measures queue managers and brokers side by side on one
// machine. Every peer runs on loopback with its data in a folder of its own;
// rounds go through the peers in turn, and the median of the rounds counts.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Result is one number of one peer on one workload.
type Result struct {
	Peer    string    `json:"peer"`
	Work    string    `json:"work"`
	Metric  string    `json:"metric"`
	Unit    string    `json:"unit"`
	Value   float64   `json:"value"`
	Samples []float64 `json:"samples,omitempty"`
	Note    string    `json:"note,omitempty"`
}

var peers = map[string]func() Peer{
	"nats":           func() Peer { return newNATS("always") },
	"nats-2m":        func() Peer { return newNATS("2m") },
	"mosquitto":      newMosquitto,
	"mochi":          func() Peer { return newMochi(false) },
	"mochi-bolt":     func() Peer { return newMochi(true) },
	"rabbit-classic": func() Peer { return newRabbit("classic") },
	"rabbit-quorum":  func() Peer { return newRabbit("quorum") },
	"artemis-nio":    func() Peer { return newArtemis("nio") },
	"artemis-aio":    func() Peer { return newArtemis("aio") },
	"etcd":           newEtcd,
	"floor":          newFloor,
	"qmgrd":          newQmgrd,
}

var servers = flag.String("servers", ".", "folder with the servers that are not on PATH")

func serverPath(name string) string { return filepath.Join(*servers, name) }

func main() {
	names := flag.String("peers", "floor,qmgrd,nats", "peers, or 'limits' for the machine alone")
	work := flag.String("work", "W1,W2,W3,W4,W5,W6", "workloads")
	d := flag.Duration("d", 2*time.Second, "length of one measurement")
	reps := flag.Int("reps", 3, "rounds; the median counts")
	big := flag.Int("big", 1_000_000, "messages or topics of W7, W8 and W9")
	size := flag.Int("size", msgSize, "bytes in a message")
	dir := flag.String("dir", os.TempDir(), "folder for data files")
	out := flag.String("json", "", "file for the results as JSON")
	profile := flag.String("cpuprofile", "", "file for a CPU profile of the bench, that is of the clients")
	floor := flag.String("floor", "", "address: serve as the floor peer with data in -dir (used by the bench itself)")
	flag.Parse()

	var rs []Result
	if *floor != "" {
		fmt.Fprintln(os.Stderr, "bench:", runFloor(*floor, *dir))
		os.Exit(1)
	}
	stop, err := profileTo(*profile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if *names == "limits" {
		rs, err = runLimits(*dir, *d, *reps)
	} else {
		rs, err = runPeers(strings.Split(*names, ","), strings.Split(*work, ","), *dir, *d, *reps, *big, *size)
	}
	stop()
	table(rs)
	report(os.Stdout, rs, *big)
	if *out != "" {
		b, _ := json.MarshalIndent(rs, "", " ")
		err = errors.Join(err, os.WriteFile(*out, append(b, '\n'), 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// programs are those that a peer needs, in -servers or on PATH.
var programs = map[string]string{"nats": "nats-server", "nats-2m": "nats-server", "mosquitto": "mosquitto", "mochi": "mochi",
	"mochi-bolt": "mochi", "rabbit-classic": "rabbitmq-server", "rabbit-quorum": "rabbitmq-server",
	"artemis-nio": "apache-artemis-2.40.0", "artemis-aio": "apache-artemis-2.40.0", "etcd": "etcd"}

// available says why a peer cannot run here.
func available(name string) error {
	prog := programs[name]
	if prog == "" {
		return nil
	}
	if _, err := os.Stat(serverPath(prog)); err == nil {
		return nil
	}
	_, err := exec.LookPath(prog)
	return err
}

// runPeers goes reps times through the peers. A workload that fails is
// reported and left out; the others go on.
func runPeers(names, work []string, base string, d time.Duration, reps, big, size int) ([]Result, error) {
	out := &results{at: map[string]int{}}
	var errs error
	for rep := range reps {
		for _, name := range names {
			mk := peers[name]
			if mk == nil {
				return nil, fmt.Errorf("no peer %q", name)
			}
			dir, err := os.MkdirTemp(base, "bench-"+name+"-")
			if err != nil {
				return nil, err
			}
			if err := available(name); err != nil {
				if rep == 0 {
					fmt.Fprintf(os.Stderr, "%s: left out: %v\n", name, err)
				}
				os.RemoveAll(dir)
				continue
			}
			b := &bench{p: mk(), dir: dir, d: d, body: make([]byte, size), big: big, out: out}
			fmt.Fprintf(os.Stderr, "round %d: %s\n", rep+1, name)
			errs = errors.Join(errs, b.round(work))
			b.p.Stop(true)
			os.RemoveAll(dir)
		}
	}
	return out.order, errs
}

func (b *bench) round(work []string) error {
	var errs error
	for _, w := range workloads {
		if !slices.Contains(work, w.name) {
			continue
		}
		b.now = w.name
		if w.fresh {
			b.p.Stop(true)
		} else if b.p.Pid() == 0 {
			if err := b.p.Start(filepath.Join(b.dir, "shared")); err != nil {
				return err
			}
			if err := b.warmUp(); err != nil {
				return err
			}
		}
		err := w.run(b)
		if w.fresh {
			b.p.Stop(true)
		}
		if err != nil && !errors.Is(err, errUnsupported) {
			fmt.Fprintf(os.Stderr, "  %s %s: %v\n", b.p.Name(), w.name, err)
			errs = errors.Join(errs, fmt.Errorf("%s %s: %w", b.p.Name(), w.name, err))
		}
	}
	return errs
}

func table(rs []Result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "work\tmetric\tpeer\tmedian\tunit\tmin\tmax\tn")
	s := slices.Clone(rs)
	slices.SortStableFunc(s, func(a, b Result) int {
		return strings.Compare(a.Work+a.Metric, b.Work+b.Metric)
	})
	for _, r := range s {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.4g\t%s\t%.4g\t%.4g\t%d\n", r.Work, r.Metric, r.Peer, r.Value, r.Unit,
			slices.Min(r.Samples), slices.Max(r.Samples), len(r.Samples))
	}
	w.Flush()
}
