package qmgr

import (
	"flag"
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(wholeRun{m}) }

// wholeRun looks, after all tests of the package, whether they have met every reason code that they are said to.
type wholeRun struct{ m *testing.M }

func (w wholeRun) Run() int {
	code := w.m.Run()
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" || testing.Short() {
		return code // only some
	}
	if f := flag.Lookup("test.list"); code != 0 || f.Value.String() != "" {
		return code
	}
	for _, s := range unprovoked() {
		fmt.Println(s)
		code = 1
	}
	return code
}
