package qmgr

import (
	"os"
	"testing"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/attr/effects"
)

// The compatibility page calls a command built when there is code for it, and not otherwise.
func TestCommandsAreAsThePageSays(t *testing.T) {
	f, err := os.Open("../attr/tables/effects.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tab, err := effects.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	r := newObjRig(t)
	for i := range attr.Verbs() {
		v := &attr.Verbs()[i]
		if v.Object == "" {
			continue // END and its like are runmqsc's
		}
		e, _ := tab.Command(v)
		// No parameter is given, so most are refused; what counts is for which reason.
		rep := r.m.Execute(t.Context(), &attr.Command{Verb: v.Verb, Object: v.Object, Kind: attr.Kind(v.Object), Name: "X", HasName: true, Spec: v, Text: v.Verb + " " + v.Object}, admin)
		id := ""
		if len(rep.Msgs) > 0 {
			id = rep.Msgs[0].ID
		}
		switch {
		case (id == msgNotBuilt) != (e.State == effects.NotBuilt) && e.State != effects.Partly:
			t.Errorf("%s %s answers %s, and the page says %q", v.Verb, v.Object, id, e.State)
		case (id == msgOtherPlatform) != (e.State == effects.Platform) && e.State != effects.Partly:
			t.Errorf("%s %s answers %s, and the page says %q", v.Verb, v.Object, id, e.State)
		case (e.State == effects.Nothing) && (rep.Rows != nil || !rep.Failed()):
			t.Errorf("%s %s finds something, and the page says %q", v.Verb, v.Object, e.State)
		}
	}
}
