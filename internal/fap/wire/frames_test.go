package wire

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// frame is one recorded segment of testdata.
type frame struct {
	file   string
	dir    string // "C->S" or "S->C"
	typ    string
	bytes  []byte
	header Header
	body   []byte
}

// loadFrames reads every recorded segment.
func loadFrames(tb testing.TB) []frame {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.hex")
	if err != nil || len(files) < 30 {
		tb.Fatalf("recorded segments: %d files, %v", len(files), err)
	}
	var all []frame
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, parseFrames(tb, strings.TrimSuffix(filepath.Base(f), ".hex"), string(text))...)
	}
	return all
}

func parseFrames(tb testing.TB, file, text string) []frame {
	tb.Helper()
	var out []frame
	for _, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || line[0] == '#':
		case strings.Contains(line, "->"):
			dir, typ, _ := strings.Cut(line, " ")
			out = append(out, frame{file: file, dir: dir, typ: typ})
		default:
			b, err := hex.DecodeString(line)
			if err != nil {
				tb.Fatalf("%s: %v", file, err)
			}
			last := &out[len(out)-1]
			last.bytes = append(last.bytes, b...)
		}
	}
	for i := range out {
		h, body, err := ReadSegment(bytes.NewReader(out[i].bytes), 1<<16)
		if err != nil {
			tb.Fatalf("%s, frame %d: %v", file, i, err)
		}
		out[i].header, out[i].body = h, body
	}
	return out
}

// find returns the n-th frame of a type in a file.
func find(tb testing.TB, all []frame, file string, t Type, n int) frame {
	tb.Helper()
	for _, f := range all {
		if f.file == file && f.header.Type == t {
			if n--; n < 0 {
				return f
			}
		}
	}
	tb.Fatalf("no frame %v in %s", t, file)
	return frame{}
}
