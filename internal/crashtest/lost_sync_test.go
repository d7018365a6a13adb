package crashtest

import (
	"io/fs"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
)

// noSync answers a sync without having done it.
type noSync struct{ *crashfs.FS }

type noSyncFile struct{ vfs.File }

func (noSyncFile) Sync() error { return nil }

func (f noSync) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	in, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return noSyncFile{in}, nil
}

// The proof proves something: on a disk that lies about its syncs, the same oracle finds that answered work is lost.
func TestOracleSeesALostSync(t *testing.T) {
	dir := t.TempDir()
	for _, v := range []string{"put", "publish", "define", "alter"} {
		disk, err := cloneBase(dir)
		if err != nil {
			t.Fatal(err)
		}
		w, err := openWorld(noSync{disk}, worldDir)
		if err != nil {
			t.Fatal(err)
		}
		var vs []verb
		for i := range theVerbs {
			if theVerbs[i].name == v {
				vs = append(vs, theVerbs[i])
			}
		}
		may, err := play(w, disk, vs)
		if err != nil {
			t.Fatal(err)
		}
		after, err := disk.Crash(crashfs.None, 1, t.TempDir())
		w.end(store.Preempt)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifyImage(after, worldDir, may, 1); err == nil {
			t.Errorf("%s: a sync that was not done, and the oracle sees nothing", v)
		}
	}
}
