package store

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The file log/durable names the highest LSN that was durable when it was written (docs/format/log.md). It is written after
// each sync and never synced itself: what it says was true then and stays true, so an old one does no harm. A log that ends
// before it was cut or damaged, which nothing in the log itself could tell from an unfinished write.

const durableLen = 12 // LSN u64 | checksum u32

func (l *files) durableName() string { return filepath.Join(l.dir, "durable") }

// durable reads it. A missing or torn file says nothing: 0.
func (l *files) durable() uint64 {
	b, err := readFile(l.fs, l.durableName(), durableLen)
	if err != nil || len(b) != durableLen || crc32.Checksum(b[:8], castagnoli) != le.Uint32(b[8:]) {
		return 0
	}
	return le.Uint64(b)
}

// voucher writes it. Without the file the store works: that it cannot be written is no failure.
type voucher struct {
	f   vfs.File // nil when it cannot be made
	lsn uint64
}

// open takes the file over from the last run, whose word lsn replaces. When that was higher, the loss of what lay between has
// been accepted: the old word must not come back.
func (v *voucher) open(l *files, lsn uint64) error {
	said := l.durable()
	var err error
	if v.f, err = l.fs.OpenFile(l.durableName(), os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		err = v.write(lsn)
		if said <= lsn {
			return nil
		}
		if err == nil {
			err = v.f.Sync()
		}
	}
	if err != nil && said > lsn {
		v.close()
		return fmt.Errorf("store: %s says more than the log has, and it cannot be written: %w", l.durableName(), err)
	}
	return nil
}

func (v *voucher) say(lsn uint64) {
	if v.f != nil && lsn != v.lsn {
		_ = v.write(lsn)
	}
}

func (v *voucher) write(lsn uint64) error {
	v.lsn = lsn
	b := le.AppendUint64(make([]byte, 0, durableLen), lsn)
	_, err := v.f.WriteAt(le.AppendUint32(b, crc32.Checksum(b, castagnoli)), 0)
	return err
}

func (v *voucher) close() {
	if v.f != nil {
		v.f.Close()
	}
}
