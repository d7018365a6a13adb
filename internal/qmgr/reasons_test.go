package qmgr

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// verbs are calls of one connection on queue Q, which holds a message and is open for all.
type verbs struct {
	*rig
	q Handle
}

func (v verbs) getWith(opts int32, edit func(*mqi.MD, *mqi.GMO)) error {
	_, _, err := tryGet(v.c, v.q, opts, edit)
	return err
}

func (v verbs) inq(h Handle, sel []int32, ints, chars int) error {
	_, _, err := v.c.Inq(bg, h, sel, ints, chars)
	return err
}

func (v verbs) open(opts int32, edit func(*mqi.OD)) error {
	od := mqi.DefaultOD()
	od.ObjectName = "Q"
	edit(&od)
	_, err := v.c.Open(bg, &od, opts)
	return err
}

func (v verbs) openTopic() Handle {
	od := mqi.DefaultOD()
	od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, "a/b"
	h, err := v.c.Open(bg, &od, mqi.MQOO_OUTPUT)
	wantRC(v.t, err, 0)
	return h
}

func (v verbs) prop(name string, typ int32, p mqi.PropValue, support int32) error {
	n := v.msgHandle()
	pd := mqi.DefaultPD()
	pd.Support = support
	if err := v.c.SetProperty(n, 0, name, pd, p); err != nil {
		return err
	}
	_, err := v.c.InquireProperty(n, mqi.MQIMPO_CONVERT_TYPE, name, typ)
	return err
}

// TestReasonsByVerb are the reason codes that no other test asks for.
func TestReasonsByVerb(t *testing.T) {
	sel := func(n int) []int32 { return make([]int32, n) }
	for _, c := range []struct {
		verb string
		call func(v verbs) error
		rc   mqi.RC
	}{
		{"MQOPEN", func(v verbs) error { return v.open(mqi.MQOO_OUTPUT, func(od *mqi.OD) { od.Version = 9 }) }, mqi.MQRC_OD_ERROR},
		{"MQOPEN", func(v verbs) error {
			return v.open(mqi.MQOO_OUTPUT, func(od *mqi.OD) { od.Version, od.RecsPresent = 2, -1 })
		},
			mqi.MQRC_RECS_PRESENT_ERROR},
		{"MQPUT", func(v verbs) error {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			pmo.Version = 4
			return v.c.Put(bg, v.q, &md, &pmo, nil)
		}, mqi.MQRC_PMO_ERROR},
		{"MQPUT", func(v verbs) error {
			v.fault.fail = func(*store.Tx) error { return store.ErrFull }
			_, err := tryPut(v.c, v.q, "x", 0, persistent)
			return err
		}, mqi.MQRC_Q_SPACE_NOT_AVAILABLE},
		{"MQGET", func(v verbs) error {
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			_, _, err := v.c.Get(bg, v.q, &md, &gmo, -1)
			return err
		}, mqi.MQRC_BUFFER_LENGTH_ERROR},
		{"MQGET", func(v verbs) error {
			return v.getWith(mqi.MQGMO_COMPLETE_MSG, func(_ *mqi.MD, g *mqi.GMO) { g.Version = 1 })
		}, mqi.MQRC_WRONG_GMO_VERSION},
		{"MQGET", func(v verbs) error {
			return v.getWith(mqi.MQGMO_CONVERT, func(md *mqi.MD, _ *mqi.GMO) { md.CodedCharSetID = 37 })
		}, mqi.MQRC_NOT_CONVERTED},
		{"MQGET", func(v verbs) error {
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			gmo.Options, md.CodedCharSetID = mqi.MQGMO_CONVERT, 1200
			v.get(v.c, v.q, 0)
			v.put(v.c, v.q, "four", 0, func(md *mqi.MD) { md.Format = mqi.MQFMT_STRING })
			_, _, err := v.c.Get(bg, v.q, &md, &gmo, 4)
			return err
		}, mqi.MQRC_CONVERTED_MSG_TOO_BIG},
		{"MQGET", func(v verbs) error { return v.getWith(mqi.MQGMO_SET_SIGNAL, func(*mqi.MD, *mqi.GMO) {}) }, mqi.MQRC_OPTIONS_ERROR},
		{"MQGET", markedByToken, mqi.MQRC_MSG_MARKED_BROWSE_CO_OP},
		{"MQOPEN", func(v verbs) error {
			v.c.QuiesceChannel()
			return v.open(mqi.MQOO_OUTPUT|mqi.MQOO_FAIL_IF_QUIESCING, func(*mqi.OD) {})
		}, mqi.MQRC_CONNECTION_QUIESCING},
		{"MQPUT", func(v verbs) error {
			v.c.QuiesceChannel()
			_, err := tryPut(v.c, v.q, "x", mqi.MQPMO_FAIL_IF_QUIESCING)
			return err
		}, mqi.MQRC_CONNECTION_QUIESCING},
		{"MQGET", func(v verbs) error {
			v.c.QuiesceChannel()
			return v.getWith(mqi.MQGMO_FAIL_IF_QUIESCING, func(*mqi.MD, *mqi.GMO) {})
		}, mqi.MQRC_CONNECTION_QUIESCING},
		{"MQGET", func(v verbs) error {
			return v.getWith(mqi.MQGMO_UNMARK_BROWSE_HANDLE, func(_ *mqi.MD, g *mqi.GMO) {
				g.Version, g.MsgToken, g.MatchOptions = 3, mqi.Token{9, 9}, mqi.MQMO_MATCH_MSG_TOKEN
			})
		}, mqi.MQRC_NO_MSG_AVAILABLE},
		{"MQGET", func(v verbs) error { return v.getWith(mqi.MQGMO_UNMARK_BROWSE_HANDLE, func(*mqi.MD, *mqi.GMO) {}) },
			mqi.MQRC_NO_MSG_UNDER_CURSOR},
		{"MQPUT", func(v verbs) error {
			h := v.openTopic()
			v.alter(ClassQmgr, qmgrName, "PSMODE", "DISABLED")
			_, err := tryPut(v.c, h, "x", 0)
			return err
		}, mqi.MQRC_PUBSUB_INHIBITED},
		{"MQPUT", func(v verbs) error {
			h := v.openTopic()
			v.alter(ClassQmgr, qmgrName, "MAXMSGL", "32768")
			_, err := tryPut(v.c, h, strings.Repeat("x", 32769), 0)
			return err
		}, mqi.MQRC_MSG_TOO_BIG_FOR_Q_MGR},
		{"MQPUT", func(v verbs) error {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			pmo.Version, pmo.PubLevel = 3, 10
			return v.c.Put(bg, v.openTopic(), &md, &pmo, nil)
		}, mqi.MQRC_PMO_ERROR},
		{"MQINQ", func(v verbs) error { return v.inq(v.q, []int32{mqi.MQCA_LAST - 1}, 0, 48) }, mqi.MQRC_SELECTOR_ERROR},
		{"MQINQ", func(v verbs) error { return v.inq(v.q, sel(257), 1, 0) }, mqi.MQRC_SELECTOR_LIMIT_EXCEEDED},
		{"MQINQ", func(v verbs) error { return v.inq(v.q, sel(1), -1, 0) }, mqi.MQRC_INT_ATTR_COUNT_ERROR},
		{"MQINQ", func(v verbs) error { return v.inq(v.q, sel(1), 1, -1) }, mqi.MQRC_CHAR_ATTR_LENGTH_ERROR},
		{"MQSET", func(v verbs) error {
			return v.c.Set(bg, v.openQ(v.c, "Q", mqi.MQOO_INQUIRE), []int32{mqi.MQIA_INHIBIT_PUT}, []int32{1}, nil)
		}, mqi.MQRC_NOT_OPEN_FOR_SET},
		{"MQSET", func(v verbs) error { return v.c.Set(bg, v.q, []int32{mqi.MQIA_INHIBIT_PUT}, nil, nil) },
			mqi.MQRC_INT_ATTR_COUNT_ERROR},
		{"MQSET", func(v verbs) error { return v.c.Set(bg, v.q, []int32{mqi.MQCA_TRIGGER_DATA}, nil, []byte("x")) },
			mqi.MQRC_CHAR_ATTR_LENGTH_ERROR},
		{"MQBEGIN", func(v verbs) error { return v.c.Begin(bg, &mqi.BO{Version: 2}) }, mqi.MQRC_BO_ERROR},
		{"MQBEGIN", func(v verbs) error { return v.c.Begin(bg, &mqi.BO{Version: 1, Options: 1}) }, mqi.MQRC_OPTIONS_ERROR},
		{"MQSET", func(v verbs) error { return v.c.Set(bg, v.q, sel(257), nil, nil) }, mqi.MQRC_SELECTOR_LIMIT_EXCEEDED},
		{"MQGET", func(v verbs) error {
			return v.getWith(0, func(md *mqi.MD, g *mqi.GMO) { md.Version, g.MatchOptions = 1, mqi.MQMO_MATCH_GROUP_ID })
		}, mqi.MQRC_WRONG_MD_VERSION},
		{"MQGET", func(v verbs) error {
			v.get(v.c, v.q, 0)
			for range 2 {
				v.put(v.c, v.q, "x", mqi.MQPMO_LOGICAL_ORDER, func(md *mqi.MD) { md.Version, md.MsgFlags = 2, mqi.MQMF_MSG_IN_GROUP })
			}
			v.get(v.c, v.q, mqi.MQGMO_LOGICAL_ORDER)
			return v.getWith(0, func(*mqi.MD, *mqi.GMO) {})
		}, mqi.MQRC_INCOMPLETE_GROUP},
		{"MQSETMP", func(v verbs) error { return v.prop(strings.Repeat("n", 4096), 0, mqi.PropString("x"), 0) },
			mqi.MQRC_PROPERTY_NAME_LENGTH_ERR},
		{"MQSETMP", func(v verbs) error { return v.prop("n", 0, mqi.PropInt(mqi.MQTYPE_INT8, 1000), 0) },
			mqi.MQRC_PROP_NUMBER_FORMAT_ERROR},
		{"MQSETMP", func(v verbs) error { return v.prop("n", 0, mqi.PropValue{Type: 12345}, 0) }, mqi.MQRC_PROPERTY_TYPE_ERROR},
		{"MQSETMP", func(v verbs) error { return v.prop("n", 0, mqi.PropString("x"), 1<<30) }, mqi.MQRC_PD_ERROR},
		{"MQINQMP", func(v verbs) error {
			return v.prop("n", mqi.MQTYPE_BYTE_STRING, mqi.PropString("x"), mqi.MQPD_SUPPORT_OPTIONAL)
		},
			mqi.MQRC_PROP_CONV_NOT_SUPPORTED},
		{"MQINQMP", oddType, mqi.MQRC_PROP_TYPE_NOT_SUPPORTED},
		{"MQGET", func(v verbs) error {
			v.get(v.c, v.q, 0)
			v.put(v.c, v.q, "x", 0, persistent)
			v.fault.fail = func(*store.Tx) error { return store.ErrFull }
			return v.getWith(0, func(*mqi.MD, *mqi.GMO) {})
		}, mqi.MQRC_RESOURCE_PROBLEM},
	} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		v := verbs{r, r.openQ(r.c, "Q", inOut|mqi.MQOO_CO_OP)}
		r.put(r.c, v.q, "x\xff", 0, func(md *mqi.MD) { md.Format = mqi.MQFMT_STRING })
		err := c.call(v)
		if _, rc := reasonOf(err); rc != c.rc {
			t.Errorf("%s: %v, want %d", c.verb, err, c.rc)
		}
		r.fault.fail = nil
	}
}

// oddType asks for a property whose type nobody here knows.
func oddType(v verbs) error {
	v.get(v.c, v.q, 0)
	as, text := rfh2Message(v.t, "text", `<usr><odd dt="weird">1</odd></usr>`)
	v.put(v.c, v.q, text, 0, as)
	n := v.msgHandle()
	v.get(v.c, v.q, 0, func(_ *mqi.MD, g *mqi.GMO) {
		g.Version, g.MsgHandle, g.Options = 4, int64(n), mqi.MQGMO_PROPERTIES_IN_HANDLE
	})
	_, err := v.c.InquireProperty(n, mqi.MQIMPO_INQ_FIRST, "odd", mqi.MQTYPE_INT32)
	return err
}

// markedByToken browses a message by its token that the cooperating browsers have marked.
func markedByToken(v verbs) error {
	const browse = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_UNMARKED_BROWSE_MSG | mqi.MQGMO_MARK_BROWSE_CO_OP
	var token mqi.Token
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Version, gmo.Options, gmo.MatchOptions = 3, browse, 0
	if _, _, err := v.c.Get(bg, v.q, &md, &gmo, 100); err != nil {
		return err
	}
	token = gmo.MsgToken
	return v.getWith(browse, func(_ *mqi.MD, g *mqi.GMO) {
		g.Version, g.MsgToken, g.MatchOptions = 3, token, mqi.MQMO_MATCH_MSG_TOKEN
	})
}

// TestEveryReasonCode holds the tests of this package against the reason codes that the reference of the interface names: each is
// asserted by some test, or the list says why the engine does not give it.
func TestEveryReasonCode(t *testing.T) {
	asserted := reasonNames(t, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	given := reasonNames(t, func(f string) bool { return !strings.HasSuffix(f, "_test.go") })
	list, err := os.ReadFile("testdata/reason_codes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]bool{}
	n := 0
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		if word, ok := strings.CutPrefix(line, "# "); ok {
			k, _, _ := strings.Cut(word, ":")
			why[k] = true
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 && len(f) != 4 { // the fourth: verbs that must be seen to answer it
			t.Fatalf("line %q", line)
		}
		n++
		switch name, state := f[1], f[2]; {
		case state == "test":
			if !asserted[name] {
				t.Errorf("%s %s: no test asserts it", f[0], name)
			}
		case !why[state]:
			t.Errorf("%s %s: %q is no reason", f[0], name, state)
		case (state == "client" || state == "other" || state == "cluster" || state == "none") && given[name]:
			t.Errorf("%s %s: the engine gives it, the list says %s", f[0], name, state)
		}
	}
	if n < 180 {
		t.Errorf("%d codes", n)
	}
}

func reasonNames(t *testing.T, want func(file string) bool) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	name := regexp.MustCompile(`MQRC_\w+`)
	for _, f := range files {
		if !want(f) {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range name.FindAllString(string(text), -1) {
			out[s] = true
		}
	}
	return out
}

// unprovoked tells which reason codes of the list no call of any test has answered, and by which verbs they were not.
func unprovoked() (out []string) {
	list, err := os.ReadFile("testdata/reason_codes.tsv")
	if err != nil {
		return []string{err.Error()}
	}
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		f := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || f[2] != "test" {
			continue
		}
		n, _ := strconv.Atoi(f[0])
		some := false
		for _, codes := range provoked.by {
			some = some || codes[mqi.RC(n)]
		}
		if !some {
			out = append(out, fmt.Sprintf("%s %s: no call of any test answers it", f[0], f[1]))
		}
		for _, verb := range strings.Fields(strings.Join(f[3:], " ")) {
			if !provoked.by[verb][mqi.RC(n)] {
				out = append(out, fmt.Sprintf("%s %s: no %s of any test answers it", f[0], f[1], verb))
			}
		}
	}
	return out
}
