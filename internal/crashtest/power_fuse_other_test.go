//go:build !linux

package crashtest

const diskEnv = "QMGRD_CRASHTEST_DISK"

// diskMain: FUSE is of Linux here.
func diskMain(string) int { return 1 }
