// Package wiretest has the recorded segments of internal/fap/wire/testdata for tests of other packages, which fuzz with them.
package wiretest

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FromClient and FromServer are the directions of segments.
const (
	FromClient = "C->S"
	FromServer = "S->C"
)

// Recorded returns the segments of one direction by the file that they are in. testdata is where the files are.
func Recorded(tb testing.TB, testdata, dir string) map[string][][]byte {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(testdata, "*.hex"))
	if err != nil || len(files) < 30 {
		tb.Fatalf("recorded segments: %d files, %v", len(files), err)
	}
	all := map[string][][]byte{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		name, wanted := strings.TrimSuffix(filepath.Base(f), ".hex"), false
		for _, line := range strings.Split(string(text), "\n") {
			switch {
			case line == "" || line[0] == '#':
			case strings.Contains(line, "->"):
				if wanted = strings.HasPrefix(line, dir); wanted {
					all[name] = append(all[name], nil)
				}
			case wanted:
				b, err := hex.DecodeString(line)
				if err != nil {
					tb.Fatalf("%s: %v", f, err)
				}
				last := &all[name][len(all[name])-1]
				*last = append(*last, b...)
			}
		}
	}
	return all
}
