package qmgr

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Acceptance 000/41, 42, counted: a publication beside 100,000 unused topics allocates what it does alone, and so it does
// when they have gone. (TestManyTopicsCostNothing of the topic tree counts the steps of the search,
// BenchmarkPublishBesideUnused takes the time.)
func TestAcceptance000ManyTopics(t *testing.T) {
	r := newPSRig(t)
	q, _ := r.managed(r.c, "one/topic", 0)
	h := r.openTopic(r.c, "one/topic")
	publish := func() float64 {
		return testing.AllocsPerRun(200, func() {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			if err := r.c.Put(bg, h, &md, &pmo, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, _, err := tryGet(r.c, q, 0); err != nil {
				t.Fatal(err)
			}
		})
	}
	alone, base := publish(), r.count()
	for i := range 100_000 {
		r.pub(fmt.Sprint("many/", i), "x", 0)
	}
	if n := r.count(); n != base+100_001 {
		t.Fatalf("%d topics, %d at first", n, base)
	}
	if n := publish(); n > 1.2*alone+1 {
		t.Errorf("000/41: %v allocations beside 100,000 topics, %v alone", n, alone)
	}
	for r.count() != base {
		r.pass(1801 * time.Second)
	}
	if n := publish(); n > 1.2*alone+1 {
		t.Errorf("000/42: %v allocations afterwards, %v at first", n, alone)
	}
}

// Every example of acceptance 000 is named by a test, alone or within a range.
func TestAcceptance000AllNamed(t *testing.T) {
	named := map[int]bool{}
	note := regexp.MustCompile(`(?m)^// (?:Acceptance )?000/([0-9 ,to–]+)`)
	parts := regexp.MustCompile(`(\d+)(?: to (\d+))?`)
	for _, f := range []string{"pubsub_acceptance_test.go", "pubsub_docs_test.go", "pubsub_work_test.go"} {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range note.FindAllStringSubmatch(string(text), -1) {
			for _, p := range parts.FindAllStringSubmatch(m[1], -1) {
				from, _ := strconv.Atoi(p[1])
				to, err := strconv.Atoi(p[2])
				if err != nil {
					to = from
				}
				for n := from; n <= to; n++ {
					named[n] = true
				}
			}
		}
	}
	for n := 1; n <= 52; n++ {
		if !named[n] {
			t.Errorf("no test names 000/%d", n)
		}
	}
}
