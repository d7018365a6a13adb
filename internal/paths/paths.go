// Package paths knows where queue managers live on disk: the data directory, the folder of each manager and its socket.
//
// It is the one place that turns a queue manager's name into a path and back. Nothing here creates a folder or reads
// a configuration.
package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// MaxQMName is the greatest length of a queue manager's name (MQ_Q_MGR_NAME_LENGTH).
const MaxQMName = 48

// SocketName is the file name of a manager's socket in its folder.
const SocketName = "admin.sock"

// systemDir is the data directory of root and of system services.
const systemDir = "/var/lib/qmgrd"

// DataDir resolves the data directory: the flag, QMGRD_DATA, systemd's state directory, /var/lib/qmgrd for root, else
// the user's state directory. The result is absolute; the directory need not exist.
func DataDir(flag string) (string, error) {
	dir := flag
	if dir == "" {
		dir = os.Getenv("QMGRD_DATA")
	}
	if dir == "" {
		// systemd joins several directories with colons; ours is the first.
		dir, _, _ = strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	}
	if dir == "" && os.Geteuid() == 0 {
		dir = systemDir
	}
	if dir == "" {
		if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
			dir = filepath.Join(state, "qmgrd")
		}
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no data directory: %w; give --data or set QMGRD_DATA", err)
		}
		dir = filepath.Join(home, ".local", "state", "qmgrd")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data directory %s: %w", dir, err)
	}
	return abs, nil
}

// ValidName reports what is wrong with a queue manager's name, nil when it is a good one.
func ValidName(qm string) error {
	if qm == "" {
		return errors.New("queue manager name is empty")
	}
	if len(qm) > MaxQMName {
		return fmt.Errorf("queue manager name %.60q has %d characters, at most %d are allowed", qm, len(qm), MaxQMName)
	}
	for _, c := range qm {
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == '/', c == '%':
		default:
			return fmt.Errorf("queue manager name %q: character %q is not allowed, use A-Z a-z 0-9 . _ / %%", qm, c)
		}
	}
	return nil
}

// Folder gives the name of a manager's folder: a dot becomes '!', a slash '&', so that no name can leave the data
// directory.
func Folder(qm string) string {
	return strings.NewReplacer(".", "!", "/", "&").Replace(qm)
}

// QMName is the reverse of Folder.
func QMName(folder string) string {
	return strings.NewReplacer("!", ".", "&", "/").Replace(folder)
}

// Dir is the folder of a manager in the data directory.
func Dir(dir, qm string) string { return filepath.Join(dir, Folder(qm)) }

// Socket is the path of a manager's socket.
func Socket(dir, qm string) string { return filepath.Join(dir, Folder(qm), SocketName) }

// List gives the names of the managers in a data directory, sorted. A folder counts when its name is a manager's
// name and it holds a qm.ini. No directory means no manager.
func List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	var names []string
	for _, e := range entries {
		name := QMName(e.Name())
		if ValidName(name) != nil || Folder(name) != e.Name() {
			continue
		}
		// A folder that may not be looked into is one: who may not see it must not take it for absent.
		if _, err := os.Stat(filepath.Join(dir, e.Name(), "qm.ini")); err == nil || errors.Is(err, fs.ErrPermission) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names, nil
}
