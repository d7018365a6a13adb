package crashtest

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if o := os.Getenv(childEnv); o != "" {
		os.Exit(childMain(o))
	}
	if dir := os.Getenv(diskEnv); dir != "" {
		os.Exit(diskMain(dir))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if baseDir, err = os.MkdirTemp("", "qmgrd-crashtest-base-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(baseDir)
	return m.Run()
}
