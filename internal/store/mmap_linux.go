package store

import "golang.org/x/sys/unix"

// dontNeed drops pages of a read-only shared map from this process; they stay in the system's cache.
func dontNeed(addr uintptr, size int64) error {
	if _, _, errno := unix.Syscall(unix.SYS_MADVISE, addr, uintptr(size), unix.MADV_DONTNEED); errno != 0 {
		return errno
	}
	return nil
}
