package mqsc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const corpusDir = "../../testdata/mqsc/corpus"

var corpusHeader = regexp.MustCompile(`commands: (\d+|\?), syntax errors: (\d+|\?), failed: (\d+|\?)`)

// uncertain are our counts for 31-uncertain (docs/compatibility.d/mqsc-syntax.md).
var uncertain = map[string]string{"31-uncertain.mqsc": "13 7"}

// The corpus's headers say what a run reports; -v reports the first two counts.
func TestCorpusCounts(t *testing.T) {
	files, err := filepath.Glob(corpusDir + "/*.mqsc")
	if err != nil || len(files) < 31 {
		t.Fatalf("corpus: %d files, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			m := corpusHeader.FindSubmatch(text)
			if m == nil {
				t.Fatal("no header")
			}
			want := string(m[1]) + " " + string(m[2])
			if w, ok := uncertain[filepath.Base(f)]; ok {
				want = w
			}
			var out bytes.Buffer
			res, err := Run(context.Background(), bytes.NewReader(text), &out, nil, RunOptions{Echo: true, Verify: true, Summary: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d %d", res.Commands, res.SyntaxErrors); got != want {
				t.Errorf("commands and syntax errors %s, want %s\n%s", got, want, out.String())
			}
			if !strings.HasSuffix(out.String(), "All valid MQSC commands were processed.\n") {
				t.Errorf("last line of the report: %s", out.String())
			}
		})
	}
}
