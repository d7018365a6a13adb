package store

// SetCheckpointBatch makes checkpoints use many small transactions; it returns the function that undoes it.
func SetCheckpointBatch(n int) func() {
	old := ckptBytes
	ckptBytes = n
	return func() { ckptBytes = old }
}
