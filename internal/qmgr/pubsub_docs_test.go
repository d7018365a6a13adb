package qmgr

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// Acceptance 000/50: the user guide says what keeps a topic and how to see it, in commands that work.
func TestAcceptance000Guide(t *testing.T) {
	b, err := os.ReadFile("../../docs/topics.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(b)
	for _, want := range []string{"a topic object", "a retained publication", "a topic below it", "a publisher", "a subscriber",
		"RETAINED", "'USA/Alabama/+'", "TYPE(PUB) ACTCONN", "TYPE(SUB)", "DISPLAY PUBSUB ALL", "TPCOUNT", "TREELIFE(900)",
		"CLEAR TOPICSTR"} {
		if !strings.Contains(guide, want) {
			t.Errorf("docs/topics.md does not say %q", want)
		}
	}
	n := 0
	for _, m := range regexp.MustCompile("(?m)(?:^    |`)((?:DISPLAY|ALTER|CLEAR|DELETE|STOP) [^`\n]+)").FindAllStringSubmatch(guide, -1) {
		n++
		if _, serr := mqsc.ParseCommand(m[1]); serr != nil {
			t.Errorf("%s: %v", m[1], serr)
		}
	}
	if n < 15 {
		t.Errorf("only %d commands found in docs/topics.md", n)
	}
}
