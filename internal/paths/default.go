package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// defaultFile names the default queue manager of a data directory; no manager's folder can have its name.
const defaultFile = ".default"

// Default is the queue manager that commands mean which name none, "" when there is no such.
func Default(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, defaultFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("default queue manager: %w", err)
	}
	qm := strings.TrimSpace(string(b))
	if err := ValidName(qm); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, defaultFile), err)
	}
	return qm, nil
}

// SetDefault makes qm the default queue manager; "" leaves none.
func SetDefault(dir, qm string) error {
	name := filepath.Join(dir, defaultFile)
	if qm == "" {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	tmp := name + ".new"
	if err := os.WriteFile(tmp, []byte(qm+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}
