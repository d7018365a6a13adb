//go:build !linux || !(amd64 || arm64)

package crashtest

const diskEnv = "QMGRD_CRASHTEST_DISK"

// diskMain: FUSE is of Linux here.
func diskMain(string) int { return 1 }
