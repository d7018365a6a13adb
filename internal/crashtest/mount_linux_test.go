package crashtest

import (
	"fmt"
	"syscall"
	"testing"
)

// mountSmall makes a file system of its own in memory at dir, where this process may.
func mountSmall(t *testing.T, dir string, size int64) bool {
	if syscall.Mount("qmgrd-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)) != nil {
		return false
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return true
}
