//go:build !linux

package vfs

func (f osFile) Sync() error { return f.File.Sync() }

func (f osFile) Allocate(off, size int64) error { return writeZeros(f, off, size) }
