package pcf

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

var bg = context.Background()

// safeBuffer is a log that a test reads while others write.
type safeBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// serverRig is a queue manager in memory with its command server, and an application that sends commands.
type serverRig struct {
	t     *testing.T
	m     *qmgr.Manager
	s     *Server
	c     *qmgr.Conn
	reply qmgr.Handle // REPLY
	log   safeBuffer
	wg    sync.WaitGroup
}

func newServerRig(t *testing.T) *serverRig {
	t.Helper()
	r := &serverRig{t: t}
	log := zerolog.New(&r.log)
	o := qmgr.Options{Name: "QM1", Store: store.OpenMem(), Clock: clock.Real(), Log: &log, User: "mqm"}
	if err := qmgr.Create(o); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.m, err = qmgr.Open(o); err != nil {
		t.Fatal(err)
	}
	if err := r.m.Start(bg); err != nil {
		t.Fatal(err)
	}
	r.mqsc("DEFINE QLOCAL(REPLY) MAXDEPTH(100000)")
	r.mqsc("DEFINE QLOCAL(DEAD)")
	r.mqsc("ALTER QMGR DEADQ(DEAD)")
	r.s = NewServer(r.m, clock.Real(), &log, "mqm")
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	r.c, r.reply = r.connect("root", true)
	t.Cleanup(func() {
		r.c.Break()
		if err := r.m.Stop(bg, store.Quiesce); err != nil {
			t.Error(err)
		}
		r.wg.Wait()
		if r.s.Running() {
			t.Error("the command server has not ended with the queue manager")
		}
	})
	return r
}

func (r *serverRig) start() error {
	return r.s.Start(bg, func(loop func(context.Context) error) { r.wg.Go(func() { _ = loop(bg) }) })
}

func (r *serverRig) connect(user string, admin bool) (*qmgr.Conn, qmgr.Handle) {
	r.t.Helper()
	c, err := r.m.Connect(bg, auth.Identity{User: user, UID: -1, Admin: admin}, qmgr.ConnectOptions{ApplName: "test"})
	if err != nil {
		r.t.Fatal(err)
	}
	od := mqi.DefaultOD()
	od.ObjectName = "REPLY"
	h, err := c.Open(bg, &od, mqi.MQOO_INPUT_SHARED)
	if err != nil {
		r.t.Fatal(err)
	}
	return c, h
}

func (r *serverRig) mqsc(text string) {
	r.t.Helper()
	cmd, serr := mqsc.ParseCommand(text)
	if serr != nil {
		r.t.Fatalf("%s: %v", text, serr)
	}
	if rep := r.m.Execute(bg, cmd, auth.System("mqm")); rep.Failed() {
		r.t.Fatalf("%s: %v", text, rep.Msgs)
	}
}

// send puts a message on the command queue.
func (r *serverRig) send(c *qmgr.Conn, md *mqi.MD, body []byte) {
	r.t.Helper()
	od, pmo := mqi.DefaultOD(), mqi.DefaultPMO()
	od.ObjectName = "SYSTEM.ADMIN.COMMAND.QUEUE"
	pmo.Options = mqi.MQPMO_NO_SYNCPOINT
	if err := c.Put1(bg, &od, md, &pmo, body); err != nil {
		r.t.Fatal(err)
	}
}

func request() *mqi.MD {
	md := mqi.DefaultMD()
	md.Format, md.MsgType, md.ReplyToQ = mqi.MQFMT_ADMIN, mqi.MQMT_REQUEST, "REPLY"
	md.Encoding, md.CodedCharSetID = big.Encoding, big.CCSID
	return &md
}

// ask sends a command and returns its responses and their descriptors.
func (r *serverRig) ask(m *mqi.CFMsg) ([]mqi.CFMsg, []mqi.MD) {
	r.t.Helper()
	body, err := m.Append(nil, big)
	if err != nil {
		r.t.Fatal(err)
	}
	md := request()
	r.send(r.c, md, body)
	return r.answers(md.MsgID)
}

func (r *serverRig) answers(id mqi.ID) (out []mqi.CFMsg, mds []mqi.MD) {
	r.t.Helper()
	for {
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		md.CorrelID = id
		gmo.Options, gmo.WaitInterval, gmo.Version, gmo.MatchOptions = mqi.MQGMO_WAIT, 5000, 2, mqi.MQMO_MATCH_CORREL_ID
		body, _, err := r.c.Get(bg, r.reply, &md, &gmo, 1<<20)
		if err != nil {
			r.t.Fatalf("response %d: %v; log %s", len(out)+1, err, r.log.String())
		}
		m, rest, err := mqi.ParseCF(body, mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID})
		if err != nil || len(rest) > 0 {
			r.t.Fatalf("response %d: %v, %d bytes left", len(out)+1, err, len(rest))
		}
		if md.Format != mqi.MQFMT_ADMIN || md.MsgType != mqi.MQMT_REPLY || m.MsgSeqNumber != int32(len(out)+1) {
			r.t.Errorf("response %d: format %q type %d sequence %d", len(out)+1, md.Format, md.MsgType, m.MsgSeqNumber)
		}
		out, mds = append(out, m), append(mds, md)
		if m.Control == mqi.MQCFC_LAST {
			return out, mds
		}
	}
}

// dead gets what lies on the dead-letter queue: the reason of its header, and the body behind.
func (r *serverRig) dead() (reason int32, data []byte) {
	r.t.Helper()
	od := mqi.DefaultOD()
	od.ObjectName = "DEAD"
	h, err := r.c.Open(bg, &od, mqi.MQOO_INPUT_SHARED)
	if err != nil {
		r.t.Fatal(err)
	}
	defer r.c.Close(bg, h, 0)
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Options, gmo.WaitInterval = mqi.MQGMO_WAIT, 5000
	body, _, err := r.c.Get(bg, h, &md, &gmo, 1<<20)
	if err != nil {
		r.t.Fatalf("the dead-letter queue: %v; log %s", err, r.log.String())
	}
	d, rest, err := mqi.ParseDLH(body, mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID})
	if err != nil {
		r.t.Fatal(err)
	}
	return d.Reason, rest
}

// one asks and expects a single response with that reason.
func (r *serverRig) one(rc mqi.RC, m *mqi.CFMsg) mqi.CFMsg {
	r.t.Helper()
	got, _ := r.ask(m)
	if len(got) != 1 || got[0].Reason != rc || (rc == 0) != (got[0].CompCode == mqi.CCOK) || got[0].Command != m.Command ||
		got[0].Type != mqi.MQCFT_RESPONSE {
		r.t.Fatalf("%s: %+v, want one response with reason %d; log %s", mqi.Name("MQCMD", m.Command), got, rc, r.log.String())
	}
	return got[0]
}

// Commands of every sort over the queue, each with the vendor's reason code.
func TestServerRunsCommands(t *testing.T) {
	r := newServerRig(t)
	local := num(mqi.MQIA_Q_TYPE, mqi.MQQT_LOCAL)
	r.one(0, command(mqi.MQCMD_PING_Q_MGR))
	r.one(0, command(mqi.MQCMD_CREATE_Q, qname("A.Q"), local, num(mqi.MQIA_MAX_Q_DEPTH, 77)))
	r.one(mqi.MQRCCF_OBJECT_ALREADY_EXISTS, command(mqi.MQCMD_CREATE_Q, qname("A.Q"), local))
	r.one(0, command(mqi.MQCMD_CHANGE_Q, qname("A.Q"), local, str(mqi.MQCA_Q_DESC, "changed")))
	r.one(0, command(mqi.MQCMD_CREATE_Q, qname("B.Q"), local))
	got, _ := r.ask(command(mqi.MQCMD_INQUIRE_Q, qname("*.Q"), local,
		list(mqi.MQIACF_Q_ATTRS, mqi.MQIA_MAX_Q_DEPTH, mqi.MQCA_Q_DESC)))
	if len(got) != 1 || got[0].Reason == 0 {
		t.Fatalf("a name that begins with * fits nothing: %+v", got)
	}
	got, mds := r.ask(command(mqi.MQCMD_INQUIRE_Q, qname("A.*"), local, list(mqi.MQIACF_Q_ATTRS, mqi.MQIA_MAX_Q_DEPTH, mqi.MQCA_Q_DESC)))
	if len(got) != 1 || got[0].Find(mqi.MQIA_MAX_Q_DEPTH).Int() != 77 ||
		strings.TrimSpace(got[0].Find(mqi.MQCA_Q_DESC).Text()) != "changed" || got[0].Find(mqi.MQIA_INHIBIT_GET) != nil {
		t.Fatalf("only what was asked for: %+v", got)
	}
	if md := mds[0]; md.PutApplName != serverName && !strings.HasPrefix(md.PutApplName, serverName) || md.Persistence != 0 {
		t.Errorf("descriptor %+v", md)
	}
	r.one(0, command(mqi.MQCMD_CLEAR_Q, qname("A.Q")))
	r.one(0, command(mqi.MQCMD_DELETE_Q, qname("A.Q")))
	r.one(mqi.MQRC_UNKNOWN_OBJECT_NAME, command(mqi.MQCMD_INQUIRE_Q, qname("A.Q")))
	r.one(mqi.MQRC_UNKNOWN_OBJECT_NAME, command(mqi.MQCMD_DELETE_Q, qname("A.Q"), local))
	r.one(mqi.MQRCCF_CFH_COMMAND_ERROR, command(9999))
	bad := r.one(mqi.MQRCCF_CFIN_PARM_ID_ERROR, command(mqi.MQCMD_CREATE_Q, qname("C.Q"), local, num(mqi.MQIACH_BATCH_SIZE, 1)))
	if p := bad.Find(mqi.MQIACF_PARAMETER_ID); p == nil || p.Int() != mqi.MQIACH_BATCH_SIZE {
		t.Errorf("which parameter: %+v", bad)
	}
	qm := r.one(0, command(mqi.MQCMD_INQUIRE_Q_MGR_STATUS, list(mqi.MQIACF_Q_MGR_STATUS_ATTRS, mqi.MQIACF_CMD_SERVER_STATUS)))
	if p := qm.Find(mqi.MQIACF_CMD_SERVER_STATUS); p == nil || p.Int() != mqi.MQSVC_STATUS_RUNNING {
		t.Errorf("CMDSERV: %+v", qm)
	}
}

// A long answer comes as one message for each object, in order, the last one marked; no unit of work holds all of it.
func TestServerAnswersMoreThanAUnitOfWorkHolds(t *testing.T) {
	r := newServerRig(t)
	r.mqsc("ALTER QMGR MAXUMSGS(10)")
	for i := range 3*replyBatch + 7 {
		r.mqsc("DEFINE QLOCAL(N." + string(rune('A'+i%26)) + string(rune('A'+i/26)) + ")")
	}
	got, _ := r.ask(command(mqi.MQCMD_INQUIRE_Q, qname("N.*"), list(mqi.MQIACF_Q_ATTRS, mqi.MQCA_Q_NAME)))
	if len(got) != 3*replyBatch+7 {
		t.Fatalf("%d responses", len(got))
	}
	last := ""
	for _, m := range got {
		if name := m.Find(mqi.MQCA_Q_NAME).Text(); name <= last {
			t.Fatalf("%q after %q", name, last)
		} else {
			last = name
		}
	}
	names := r.one(0, command(mqi.MQCMD_INQUIRE_Q_NAMES, qname("N.*")))
	if p := names.Find(mqi.MQCACF_Q_NAMES); p == nil || len(p.Strings) != 3*replyBatch+7 {
		t.Errorf("names: %+v", names)
	}
}

// MQSC in an Escape command, as remote runmqsc sends it.
func TestServerRunsEscapes(t *testing.T) {
	r := newServerRig(t)
	escape := func(text string) *mqi.CFMsg {
		return command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC), str(mqi.MQCACF_ESCAPE_TEXT, text))
	}
	text := func(m mqi.CFMsg) string { return m.Find(mqi.MQCACF_ESCAPE_TEXT).Text() }
	got, _ := r.ask(escape("DEFINE QLOCAL(E.Q) DESCR('by escape')"))
	if len(got) != 1 || got[0].CompCode != mqi.CCOK || got[0].Command != mqi.MQCMD_CREATE_Q || !strings.Contains(text(got[0]), "AMQ8006I") {
		t.Errorf("defined: %+v", got)
	}
	got, _ = r.ask(escape("DIS QL(E.*) DESCR"))
	if len(got) != 1 || !strings.Contains(text(got[0]), "QUEUE(E.Q)") || !strings.Contains(text(got[0]), "DESCR(by escape)") {
		t.Errorf("shown: %+v", got)
	}
	if got, _ := r.ask(escape("DISPLAY QL(NONE)")); got[0].CompCode != mqi.CCFailed || !strings.Contains(text(got[0]), "AMQ8147E") {
		t.Errorf("not found: %+v", got)
	}
	r.ask(escape("DEFINE AUTHINFO(A) AUTHTYPE(CRLLDAP) CONNAME(H) LDAPPWD('se''cret')"))
	if log := r.log.String(); strings.Contains(log, "cret") || !strings.Contains(log, "LDAPPWD('********')") {
		t.Errorf("the log tells a password:\n%s", log)
	}
	if got, _ := r.ask(escape("DEFINE NONSENSE(X)")); got[0].Reason != mqi.MQRCCF_COMMAND_FAILED || text(got[0]) == "" {
		t.Errorf("no command: %+v", got)
	}
}

// Reset Queue Statistics shows and resets what is counted of a queue.
func TestServerResetsQueueStatistics(t *testing.T) {
	r := newServerRig(t)
	r.mqsc("DEFINE QLOCAL(S.Q)")
	r.mqsc("DEFINE QALIAS(S.A) TARGET(S.Q)")
	od, pmo := mqi.DefaultOD(), mqi.DefaultPMO()
	od.ObjectName = "S.Q"
	for range 3 {
		md := mqi.DefaultMD()
		if err := r.c.Put1(bg, &od, &md, &pmo, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	check := func(in, high int64) {
		t.Helper()
		m := r.one(0, command(mqi.MQCMD_RESET_Q_STATS, qname("S.*")))
		if m.Find(mqi.MQIA_MSG_ENQ_COUNT).Int() != in || m.Find(mqi.MQIA_MSG_DEQ_COUNT).Int() != 0 ||
			m.Find(mqi.MQIA_HIGH_Q_DEPTH).Int() != high || m.Find(mqi.MQIA_TIME_SINCE_RESET) == nil ||
			strings.TrimSpace(m.Find(mqi.MQCA_Q_NAME).Text()) != "S.Q" {
			t.Errorf("%+v", m)
		}
	}
	check(3, 3)
	check(0, 3)
	r.one(mqi.MQRCCF_Q_WRONG_TYPE, command(mqi.MQCMD_RESET_Q_STATS, qname("S.A")))
	r.one(mqi.MQRC_UNKNOWN_OBJECT_NAME, command(mqi.MQCMD_RESET_Q_STATS, qname("S.B")))
}

// What is no command, and replies that have no place, end on the dead-letter queue; the next command is answered.
func TestServerBuriesAndGoesOn(t *testing.T) {
	r := newServerRig(t)
	ping, err := command(mqi.MQCMD_PING_Q_MGR).Append(nil, big)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("no command, no reply wanted", func(t *testing.T) {
		md := mqi.DefaultMD()
		md.Format = mqi.MQFMT_STRING
		r.send(r.c, &md, []byte("hello"))
		if rc, data := r.dead(); rc != mqi.MQRCCF_MD_FORMAT_ERROR || string(data) != "hello" {
			t.Errorf("reason %d, %q", rc, data)
		}
	})
	t.Run("no command, reply wanted", func(t *testing.T) {
		md := request()
		md.Format = mqi.MQFMT_STRING
		r.send(r.c, md, []byte("hello"))
		if got, _ := r.answers(md.MsgID); got[0].Reason != mqi.MQRCCF_MD_FORMAT_ERROR {
			t.Errorf("%+v", got)
		}
	})
	t.Run("half a command", func(t *testing.T) {
		for _, n := range []int{0, 3, 20, 35} {
			md := request()
			r.send(r.c, md, ping[:n])
			if got, _ := r.answers(md.MsgID); len(got) != 1 || got[0].CompCode != mqi.CCFailed || got[0].Reason == mqi.MQRC_UNEXPECTED_ERROR {
				t.Errorf("%d bytes: %+v", n, got)
			}
		}
	})
	t.Run("reply queue unknown", func(t *testing.T) {
		md := request()
		md.ReplyToQ = "NOT.THERE"
		r.send(r.c, md, ping)
		rc, data := r.dead()
		m, _, err := mqi.ParseCF(data, mqi.NativeCoding(1208))
		if rc != mqi.MQRC_UNKNOWN_OBJECT_NAME || err != nil || m.Command != mqi.MQCMD_PING_Q_MGR || m.Type != mqi.MQCFT_RESPONSE {
			t.Errorf("reason %d, %+v %v", rc, m, err)
		}
	})
	t.Run("replies sent to the command queue do not go round", func(t *testing.T) {
		md := request()
		md.ReplyToQ = "SYSTEM.ADMIN.COMMAND.QUEUE"
		r.send(r.c, md, ping)
		if rc, _ := r.dead(); rc != mqi.MQRCCF_CFH_TYPE_ERROR {
			t.Errorf("reason %d", rc)
		}
	})
	t.Run("nowhere to put a reply", func(t *testing.T) {
		r.mqsc("ALTER QMGR DEADQ(' ')")
		md := request()
		md.ReplyToQ = "NOT.THERE"
		r.send(r.c, md, ping)
		r.one(0, command(mqi.MQCMD_PING_Q_MGR))
		if !strings.Contains(r.log.String(), "AMQ8507E") {
			t.Errorf("the log is silent: %s", r.log.String())
		}
	})
}

// A command does what its sender may do, and replies go where he may put.
func TestServerActsForTheSender(t *testing.T) {
	r := newServerRig(t)
	for _, s := range []string{"DEFINE QLOCAL(SECRET)", "SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('joe') AUTHADD(CONNECT,INQ)",
		"SET AUTHREC PROFILE(SYSTEM.ADMIN.COMMAND.QUEUE) OBJTYPE(QUEUE) PRINCIPAL('joe') AUTHADD(PUT)",
		"SET AUTHREC PROFILE(REPLY) OBJTYPE(QUEUE) PRINCIPAL('joe') AUTHADD(PUT,GET)"} {
		r.mqsc(s)
	}
	joe, _ := r.connect("joe", false)
	defer joe.Break()
	send := func(m *mqi.CFMsg, replyTo string) mqi.ID {
		body, err := m.Append(nil, big)
		if err != nil {
			t.Fatal(err)
		}
		md := request()
		md.ReplyToQ = replyTo
		r.send(joe, md, body)
		return md.MsgID
	}
	id := send(command(mqi.MQCMD_DELETE_Q, qname("SECRET"), num(mqi.MQIA_Q_TYPE, mqi.MQQT_LOCAL)), "REPLY")
	if got, _ := r.answers(id); len(got) != 1 || got[0].Reason != mqi.MQRC_NOT_AUTHORIZED {
		t.Errorf("DELETE by joe: %+v", got)
	}
	id = send(command(mqi.MQCMD_RESET_Q_STATS, qname("SECRET")), "REPLY")
	if got, _ := r.answers(id); len(got) != 1 || got[0].Reason != mqi.MQRC_NOT_AUTHORIZED {
		t.Errorf("RESET by joe: %+v", got)
	}
	send(command(mqi.MQCMD_PING_Q_MGR), "SECRET")
	if rc, _ := r.dead(); rc != mqi.MQRC_NOT_AUTHORIZED {
		t.Errorf("a reply to SECRET: reason %d", rc)
	}
}

// A full reply queue is waited for as long as somebody reads it.
func TestServerWaitsForAFullReplyQueue(t *testing.T) {
	r := newServerRig(t)
	r.mqsc("ALTER QLOCAL(REPLY) MAXDEPTH(5)")
	got, _ := r.ask(command(mqi.MQCMD_INQUIRE_Q, qname("SYSTEM.*"), list(mqi.MQIACF_Q_ATTRS, mqi.MQCA_Q_NAME)))
	if len(got) < 20 {
		t.Errorf("%d responses", len(got))
	}
}

// Stop ends it, Start begins again with what has come meanwhile; its queue is its own.
func TestServerStartStop(t *testing.T) {
	r := newServerRig(t)
	if err := r.start(); err != ErrServerRuns {
		t.Errorf("second start: %v", err)
	}
	od := mqi.DefaultOD()
	od.ObjectName = "SYSTEM.ADMIN.COMMAND.QUEUE"
	if _, err := r.c.Open(bg, &od, mqi.MQOO_INPUT_SHARED); err == nil {
		t.Error("another reads the command queue")
	}
	ctx, cancel := context.WithTimeout(bg, 20*time.Second)
	defer cancel()
	if err := r.s.Stop(ctx); err != nil || r.s.Running() {
		t.Fatalf("stop: %v", err)
	}
	body, err := command(mqi.MQCMD_PING_Q_MGR).Append(nil, big)
	if err != nil {
		t.Fatal(err)
	}
	md := request()
	r.send(r.c, md, body)
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.answers(md.MsgID); got[0].CompCode != mqi.CCOK {
		t.Errorf("%+v", got)
	}
	r.mqsc("ALTER QLOCAL(SYSTEM.ADMIN.COMMAND.QUEUE) GET(DISABLED)")
	r.wg.Wait()
	if r.s.Running() || !strings.Contains(r.log.String(), "AMQ8508E") {
		t.Errorf("GET(DISABLED): running %v, log %s", r.s.Running(), r.log.String())
	}
	if err := r.s.Stop(ctx); err != nil {
		t.Errorf("stop of one that has ended: %v", err)
	}
}

// A command server that is stopped while a reply queue is full does not go on waiting, and speaks of no loss: what it did
// last is backed out.
func TestServerIsStoppedInACommand(t *testing.T) {
	r := newServerRig(t)
	r.mqsc("DEFINE QLOCAL(TINY) MAXDEPTH(1)")
	body, err := command(mqi.MQCMD_INQUIRE_Q, qname("SYSTEM.*")).Append(nil, big)
	if err != nil {
		t.Fatal(err)
	}
	md := request()
	md.ReplyToQ = "TINY"
	r.send(r.c, md, body)
	id := ""
	for end := time.Now().Add(20 * time.Second); id == "" && time.Now().Before(end); { // until the first reply lies there
		cmd, serr := mqsc.ParseCommand("DISPLAY QLOCAL(TINY) CURDEPTH WHERE(CURDEPTH GT 0)")
		if serr != nil {
			t.Fatal(serr)
		}
		if !r.m.Execute(bg, cmd, auth.System("mqm")).Failed() {
			id = "there"
		}
		time.Sleep(2 * time.Millisecond)
	}
	if id == "" {
		t.Fatalf("no reply came; log %s", r.log.String())
	}
	cmd, serr := mqsc.ParseCommand("DISPLAY CONN(*) APPLTAG WHERE(APPLTAG EQ 'amqpcsea')")
	if serr != nil {
		t.Fatal(serr)
	}
	for row := range r.m.Execute(bg, cmd, auth.System("mqm")).Rows {
		id = row.Items[0].Val
	}
	began := time.Now()
	r.mqsc("STOP CONN(" + id + ")")
	r.wg.Wait()
	if d := time.Since(began); d > fullTries*fullPause/2 || r.s.Running() {
		t.Errorf("it ended after %v, running %v", d, r.s.Running())
	}
	if log := r.log.String(); strings.Contains(log, "AMQ8507E") || strings.Contains(log, "AMQ8509E") {
		t.Errorf("the log speaks of losses: %s", log)
	}
}

// A report on the command queue is no command, whoever its context names: its data are those of whoever asked for it. Nor is
// UNKNOWN anybody.
func TestServerTakesNoReports(t *testing.T) {
	r := newServerRig(t)
	m := mqi.CFMsg{Type: mqi.MQCFT_COMMAND, Version: 1, Command: mqi.MQCMD_ESCAPE, MsgSeqNumber: 1, Control: mqi.MQCFC_LAST,
		Params: []mqi.CFParam{mqi.CFInt(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC), mqi.CFString(mqi.MQCACF_ESCAPE_TEXT, "DEFINE QLOCAL(FORGED)")}}
	body, err := m.Append(nil, big)
	if err != nil {
		t.Fatal(err)
	}
	md := request()
	md.MsgType = mqi.MQMT_REPORT
	r.send(r.c, md, body)
	if rc, _ := r.dead(); rc != mqi.MQRCCF_CFH_TYPE_ERROR {
		t.Errorf("reason %d", rc)
	}
	if id := r.s.identity(&mqi.MD{UserIdentifier: qmgr.UnknownUser}); id.Admin || len(id.Groups) > 0 {
		t.Errorf("%+v", id)
	}
}
