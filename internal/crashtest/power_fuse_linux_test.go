//go:build amd64 || arm64

package crashtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// T-POWER, the second opinion (reliability.md §3.2b): T-KILL's clients and oracle on a disk that loses what was not synced when the
// daemon is killed. The disk is a process of its own, so that whoever waits for it, by a page fault too, waits for somebody else.

const diskEnv = "QMGRD_CRASHTEST_DISK"

// diskMain serves a lossy disk at dir. A line of standard input with a seed is a power cut; the end of it is the end.
func diskMain(dir string) int {
	d := newLossyDisk()
	serve := func() (*fuse.Server, error) {
		s, err := fuse.NewServer(d, dir, &fuse.MountOptions{SingleThreaded: true, DirectMountStrict: true, DisableXAttrs: true,
			DisableReadDirPlus: true, FsName: "lossy", MaxWrite: 1 << 20})
		if err != nil {
			return nil, err
		}
		go s.Serve()
		return s, s.WaitMount()
	}
	s, err := serve()
	if err != nil {
		fmt.Println("cannot mount:", err)
		return 1
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	fmt.Println("ready 0")
	for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
		seed, err := strconv.ParseUint(sc.Text(), 10, 64)
		if err == nil {
			err = syscall.Unmount(dir, syscall.MNT_DETACH)
		}
		if err == nil {
			s.Wait()
			d.cut(random(seed, 0))
			s, err = serve()
		}
		if err != nil {
			fmt.Println("cannot go on:", err)
			return 1
		}
		fmt.Println("ready", d.lost)
	}
	return 0
}

// disk is the process.
type disk struct {
	in   io.Writer
	out  *bufio.Reader
	lost int
}

// startDisk is nil where this process cannot mount one.
func startDisk(t *testing.T, dir string) *disk {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), diskEnv+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // what was wrong it has said
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	})
	d := &disk{in: in, out: bufio.NewReader(out)}
	if _, err := d.answer(); err != nil {
		t.Logf("no lossy disk: %v", err)
		return nil
	}
	return d
}

func (d *disk) answer() (lost int, err error) {
	line, err := d.out.ReadString('\n')
	if err == nil {
		if _, err = fmt.Sscanf(line, "ready %d", &lost); err != nil {
			err = fmt.Errorf("%s", strings.TrimSpace(line))
		}
	}
	return lost, err
}

// cut is the loss of power; nobody may have a file open.
func (d *disk) cut(seed uint64) error {
	if _, err := fmt.Fprintln(d.in, seed); err != nil {
		return err
	}
	lost, err := d.answer()
	d.lost += lost
	return err
}

func TestPowerFuse(t *testing.T) {
	loops := budget{test: 8, crash: 50, release: 2_000}.of(t)
	for _, seed := range seeds(t, "fuse") {
		dir := filepath.Join(t.TempDir(), "disk")
		must(t, os.Mkdir(dir, 0o700))
		d := startDisk(t, dir)
		if d == nil {
			if b := os.Getenv("QMGRD_BUDGET"); (b == "crash" || b == "release") && os.Getenv("QMGRD_NO_FUSE") == "" {
				t.Fatal("this part needs root and /dev/fuse; QMGRD_NO_FUSE=1 leaves it out")
			}
			t.Skip("this part needs root and /dev/fuse")
		}
		r := &killRun{t: t, seed: seed, rnd: random(seed, 0), data: dir, l: newLedger(), where: map[string]int{}}
		r.cut = func() { must(t, d.cut(r.rnd.Uint64()>>1)) }
		r.run(loops)
		if t.Logf("%d changes that were not synced were lost", d.lost); d.lost == 0 && loops >= 8 { // of a few cuts none may hit any
			t.Error("nothing was lost: the cuts proved nothing")
		}
	}
}
