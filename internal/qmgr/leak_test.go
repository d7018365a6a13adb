package qmgr

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/qmgrd/qmgrd/internal/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(wholeRun{m}) }

// wholeRun looks, after all tests of the package, whether they have met every reason code that they are said to.
type wholeRun struct{ m *testing.M }

func (w wholeRun) Run() int {
	code := w.m.Run()
	if !reflect.ValueOf(*resting).IsZero() {
		fmt.Fprintln(os.Stderr, "something wrote to what the queues at rest share: Queue.use is missing before it")
		return 1
	}
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
