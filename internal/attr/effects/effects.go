// Package effects reads tables/effects.tsv: what each command and each attribute does in this release. Documents are made
// from it and tests hold it against the tables and the code; no binary contains it.
package effects

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// State of a command or an attribute.
type State string

// States. A file row may have any of them but Option.
const (
	Works    State = "works"    // has its effect; a command: done in full
	Partly   State = "partly"   // commands: the remark says what
	Client   State = "client"   // kept and given to applications and client libraries, which act on it
	Status   State = "status"   // shown live
	Stored   State = "stored"   // kept, shown, exported; no effect yet
	Absent   State = "absent"   // blank: what it would show is not built
	Nothing  State = "nothing"  // commands: parsed; there is nothing it could find yet
	NotBuilt State = "notbuilt" // commands: parsed and refused with AMQ8199E
	Group    State = "group"    // only within a queue-sharing group
	Platform State = "platform" // only on another platform of the vendor's product
	Option   State = "option"   // steers a command, is not kept
)

// words say what a state means; the order is that of the page.
var words = []struct {
	state State
	what  string
}{
	{Works, "works"},
	{Partly, "works partly"},
	{Client, "given to applications, which act on it"},
	{Status, "status, shown live"},
	{Stored, "stored only"},
	{Absent, "blank for now"},
	{Nothing, "finds nothing for now"},
	{NotBuilt, "not built: AMQ8199E"},
	{Group, "needs a queue-sharing group"},
	{Platform, "not for this platform: AMQ8200E"},
	{Option, "option of commands"},
}

func (s State) known() bool {
	for _, w := range words {
		if w.state == s {
			return true
		}
	}
	return false
}

// Effect is what is known of one command or attribute.
type Effect struct {
	State  State
	Remark string
}

// command is the keyword of a row that speaks of the command itself.
const command = "*"

// Table holds the rows of the file.
type Table struct {
	rows  map[[2]string]Effect
	order [][2]string
}

// Load reads the file: object, keyword, state, remark; the keyword * is the command that the object column names. A row of
// CHANNEL, AUTHINFO or QUEUE holds for all types of it, a row of one type wins over it.
func Load(r io.Reader) (*Table, error) {
	t := &Table{rows: map[[2]string]Effect{}}
	sc := bufio.NewScanner(r)
	for n, head := 1, true; sc.Scan(); n++ {
		line := sc.Text()
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if head { // the first line is the header
			head = false
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("line %d has %d columns, 4 are needed", n, len(f))
		}
		k, e := [2]string{f[0], f[1]}, Effect{State(f[2]), f[3]}
		if _, twice := t.rows[k]; twice {
			return nil, fmt.Errorf("line %d: %s %s is there twice", n, f[0], f[1])
		}
		if !e.State.known() || e.State == Option {
			return nil, fmt.Errorf("line %d: %q is no state", n, f[2])
		}
		t.rows[k] = e
		t.order = append(t.order, k)
	}
	return t, sc.Err()
}

// family is the object whose rows hold for a kind: CHANNEL for CHANNEL(SDR), QUEUE for QLOCAL.
func family(k attr.Kind) string {
	switch k {
	case "QLOCAL", "QMODEL", "QALIAS", "QREMOTE":
		return "QUEUE"
	}
	if obj, _, ok := strings.Cut(string(k), "("); ok && !strings.Contains(obj, " ") {
		return obj
	}
	return string(k)
}

// Of gives the effect of an attribute. Without a row only two things are known: that an option of a command is one, and
// that what the vendor has on z/OS alone is about queue-sharing groups.
func (t *Table) Of(k attr.Kind, a *attr.Attr) (Effect, bool) {
	for _, object := range []string{string(k), family(k)} {
		if e, ok := t.rows[[2]string{object, a.Name}]; ok {
			return e, true
		}
	}
	switch {
	case a.ZOS:
		return Effect{State: Group}, true
	case a.Define != attr.Yes && a.Alter != attr.Yes && a.Display != attr.Yes:
		return Effect{State: Option}, true
	}
	return Effect{}, false
}

// Command gives the effect of a command.
func (t *Table) Command(v *attr.Verb) (Effect, bool) {
	name := v.Verb
	if v.Object != "" {
		name += " " + v.Object
	}
	if e, ok := t.rows[[2]string{name, command}]; ok {
		return e, true
	}
	const zosOnly = 3
	if v.Priority == zosOnly {
		return Effect{State: Platform}, true
	}
	return Effect{}, false
}
