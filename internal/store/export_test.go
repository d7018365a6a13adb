package store

// SetCheckpointBatch makes checkpoints use many small transactions; it returns the function that undoes it.
func SetCheckpointBatch(n int) func() {
	old := ckptBytes
	ckptBytes = n
	return func() { ckptBytes = old }
}

// SetMinReserve makes the reserve small; it returns the function that undoes it.
func SetMinReserve(n int64) func() {
	old := minReserve
	minReserve = n
	return func() { minReserve = old }
}
