package qmgr

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// modelObject is what a naive queue manager knows of a queue.
type modelObject struct{ kind, descr string }

// play gives the reason a command must end with, and changes the model.
func play(model map[string]modelObject, verb, kind, name, descr string, replace bool) mqi.RC {
	old, there := model[name]
	switch verb {
	case "DEFINE":
		switch {
		case there && !replace:
			return mqi.MQRCCF_OBJECT_ALREADY_EXISTS
		case there && old.kind != kind:
			return mqi.MQRCCF_OBJECT_WRONG_TYPE
		}
		model[name] = modelObject{kind, descr}
		return 0
	}
	switch {
	case !there:
		return mqi.MQRC_UNKNOWN_OBJECT_NAME
	case old.kind != kind:
		return mqi.MQRCCF_OBJECT_WRONG_TYPE
	}
	if verb == "DELETE" {
		delete(model, name)
	} else {
		model[name] = modelObject{kind, descr}
	}
	return 0
}

// Random commands, up to 20 in flight, against the model; now and then the manager is opened again.
func TestRandomHistory(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	pick := func(s ...string) string { return s[rnd.IntN(len(s))] }
	r := newObjRig(t)
	model := map[string]modelObject{}
	type flying struct {
		text string
		p    *Pending
		want mqi.RC
	}
	var air []flying
	land := func() {
		t.Helper()
		// In any order: a reply does not depend on who is waited for first.
		rnd.Shuffle(len(air), func(i, j int) { air[i], air[j] = air[j], air[i] })
		for _, f := range air {
			if rep := f.p.Wait(context.Background()); mqi.RC(rep.RC) != f.want {
				t.Fatalf("%s: %s (reason %d), the model says %d", f.text, replyText(rep), rep.RC, f.want)
			}
		}
		air = air[:0]
	}
	for i := range 3000 {
		verb, kind, name := pick("DEFINE", "DEFINE", "ALTER", "DELETE"), pick("QLOCAL", "QLOCAL", "QALIAS", "QREMOTE"), "H."+pick("A", "B", "C", "D")
		descr, replace := fmt.Sprintf("step %d", i), rnd.IntN(2) == 0
		text := verb + " " + kind + "(" + name + ")"
		if verb != "DELETE" {
			text += " DESCR('" + descr + "')"
		}
		if verb == "DEFINE" && replace {
			text += " REPLACE"
		}
		want := play(model, verb, kind, name, descr, replace)
		air = append(air, flying{text, r.submit(text), want})
		if len(air) < 20 {
			continue
		}
		land()
		if rnd.IntN(20) == 0 {
			r.open()
		}
		checkModel(t, r, model)
	}
	land()
	checkModel(t, r, model)
}

func checkModel(t *testing.T, r *objRig, model map[string]modelObject) {
	t.Helper()
	var want []string
	for n, o := range model {
		want = append(want, "QUEUE("+n+") TYPE("+o.kind+") DESCR("+o.descr+")")
	}
	sort.Strings(want)
	if len(want) == 0 {
		r.refuse("AMQ8147E", "DISPLAY QUEUE(H.*) DESCR")
		return
	}
	got := r.show("DISPLAY QUEUE(H.*) DESCR")
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("shown\n%s\nmodel\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
