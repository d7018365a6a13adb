package qmgr

import (
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// DISPLAY of what things do now: queues, the queue manager, connections, topics, subscriptions.

// displayQstatus runs DISPLAY QSTATUS.
func (x *exec) displayQstatus() *attr.Reply {
	none := failed(mqi.MQRCCF_Q_STATUS_NOT_FOUND, msgNoQueueStatus, x.c.Name)
	if t, _ := x.c.Get("TYPE"); t == "HANDLE" {
		return orElse(x.queueHandles(), none)
	}
	groups := map[string][]string{"MONITOR": strings.Fields("LGETDATE LGETTIME LPUTDATE LPUTTIME MONQ MSGAGE QTIME")}
	q := x.request([]string{"TYPE", "CURDEPTH"}, groups)
	var rows []map[string]string
	for _, o := range x.list(x.c.Name, ClassQueue) {
		if o.Queue == nil {
			continue
		}
		row := o.Queue.statusItems()
		row["QUEUE"], row["TYPE"] = o.Name, "QUEUE"
		// CURFSIZE and CURMAXFS stay blank: a queue has no file of its own here.
		rows = append(rows, row)
	}
	return orElse(x.showRows("QSTATUS TYPE(QUEUE)", q, rows), none)
}

func (x *exec) queueHandles() *attr.Reply {
	q := x.request([]string{"TYPE"}, nil)
	open, _ := x.c.Get("OPENTYPE")
	var names []string
	by := map[string][]map[string]string{} // of each queue that is asked for
	for _, o := range x.list(x.c.Name, ClassQueue) {
		if o.Queue != nil {
			names = append(names, o.Name)
			by[o.Name] = nil
		}
	}
	for _, row := range x.m.handleRowsOf(func(queue string) bool { _, ok := by[queue]; return ok }) {
		if open == "INPUT" && row["INPUT"] == "NO" || open == "OUTPUT" && row["OUTPUT"] != "YES" {
			continue
		}
		by[row["QUEUE"]] = append(by[row["QUEUE"]], row)
	}
	var rows []map[string]string
	for _, n := range names {
		rows = append(rows, by[n]...)
	}
	return x.showRows("QSTATUS TYPE(HANDLE)", q, rows)
}

// displayQmstatus runs DISPLAY QMSTATUS.
func (x *exec) displayQmstatus() *attr.Reply {
	m := x.m
	if t, _ := x.c.Get("TYPE"); t == "NATIVEHA" {
		return conflict(mqi.MQRCCF_Q_MGR_STATUS_NOT_FOUND, m.opt.Name, "this queue manager is not part of a Native HA group")
	}
	logs := strings.Fields("ARCHLOG ARCHSZ CURRLOG LOGINUSE LOGPATH LOGPRIM LOGSEC LOGSTRDA LOGSTRL LOGSTRTI LOGTYPE LOGUTIL MEDIALOG MEDIASZ RECLOG RECSZ REUSESZ LOGEXTSZ")
	q := x.request([]string{"QMNAME", "TYPE", "STATUS"}, map[string][]string{"LOG": logs})
	s := m.opt.Store.Stats()
	row := map[string]string{
		"QMNAME": m.opt.Name, "TYPE": "QMGR", "STATUS": stateNames[m.state.Load()],
		"AUTOCLUS": "NONE", "CHINIT": m.partStatus(PartChannels), "CMDSERV": m.partStatus(PartCommandServer), "CHKPTCNT": strconv.FormatUint(s.Checkpoints, 10),
		"CONNS": strconv.Itoa(len(m.connections())), "DATPATH": m.opt.Dir, "GRPLSN": "", "GRPNAME": "", "GRPROLE": "NOTCONFIG",
		"HOSTNAME": hostName(), "INSTANCE": "", "INSTDESC": "", "INSTNAME": "Installation1", "INSTPATH": "", "LDAPCONN": "INACTIVE",
		"LOGTYPE": "CIRCULAR", "LOGPATH": logPath(m.opt.Dir), "MEDIALOG": "", "QUORUM": "", "RECSZ": strconv.FormatUint((s.LogNeeded+1<<20-1)>>20, 10),
		"LOGINUSE": percent(s.LogNeeded, s.LogLimit),
		"STANDBY":  "NOPERMIT", "STARTDA": mqDate(m.startedAt), "STARTTI": mqTime(m.startedAt), "UNICLUS": "",
	}
	return orElse(x.showRows("QMSTATUS", q, []map[string]string{row}), failed(mqi.MQRCCF_Q_MGR_STATUS_NOT_FOUND, msgNotFound, m.opt.Name))
}

// percent of what there may be; "" when nothing bounds it.
func percent(n, of uint64) string {
	if of == 0 {
		return ""
	}
	return strconv.FormatUint(min(100, (100*n+of-1)/of), 10)
}

// logPath is where a manager's log lies.
func logPath(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/log"
}

// ofHandles are the attributes of DISPLAY CONN that handles have and connections do not: a filter by one of them looks at handles.
var ofHandles = map[string]bool{"OBJNAME": true, "OBJTYPE": true, "OPENOPTS": true, "HSTATE": true, "READA": true, "DEST": true,
	"DESTQMGR": true, "SUBID": true, "SUBNAME": true, "TOPICSTR": true}

// displayConn runs DISPLAY CONN.
func (x *exec) displayConn() *attr.Reply {
	typ, ok := x.c.Get("TYPE")
	if !ok || typ == "" {
		typ = "CONN"
		if f := x.c.Where; f != nil && ofHandles[f.Key] {
			typ = "HANDLE"
		}
	}
	ext, hasExt := x.c.Get("EXTCONN")
	always := []string{"CONN", "EXTCONN", "TYPE"}
	if typ == "HANDLE" {
		always = append(always, "OBJNAME", "OBJTYPE")
	}
	q := x.request(always, nil)
	var rows []map[string]string
	add := func(from []map[string]string, word string) {
		for _, row := range from {
			if !generic(strings.ToUpper(x.c.Name), row["CONN"]) || hasExt && ext != "" && !generic(strings.ToUpper(ext), row["EXTCONN"]) {
				continue
			}
			row["TYPE"] = word
			rows = append(rows, row)
		}
	}
	if typ == "CONN" || typ == "ALL" || typ == "*" {
		add(x.m.connRows(), "CONN")
	}
	if typ == "HANDLE" || typ == "ALL" || typ == "*" {
		add(x.m.connHandleRows(), "HANDLE")
	}
	return orElse(x.showRows("CONN", q, rows), failed(mqi.MQRCCF_CONNECTION_ID_ERROR, msgNoConnection, x.c.Name))
}

// stopConnection runs STOP CONN.
func (x *exec) stopConnection() *attr.Reply {
	id := strings.ToUpper(x.c.Name)
	if err := x.m.stopConn(id); err != nil {
		return refused(err, msgNoConnection, x.c.Name)
	}
	return x.success(id)
}

// displayPubsub runs DISPLAY PUBSUB: this queue manager, and its parent when it has one.
func (x *exec) displayPubsub() *attr.Reply {
	m := x.m
	typ, ok := x.c.Get("TYPE")
	if !ok || typ == "" {
		typ = "ALL"
	}
	qm := m.qmgrDef()
	q := x.request([]string{"TYPE", "QMNAME", "STATUS"}, nil)
	var rows []map[string]string
	if typ == "ALL" || typ == "LOCAL" {
		status := map[string]string{"DISABLED": "INACTIVE", "COMPAT": "COMPAT"}[qm.Get("PSMODE")]
		if status == "" {
			status = "ACTIVE"
		}
		rows = append(rows, map[string]string{"TYPE": "LOCAL", "QMNAME": m.opt.Name, "STATUS": status,
			"SUBCOUNT": strconv.Itoa(m.topics.tree.SubCount()), "TPCOUNT": strconv.Itoa(m.topics.tree.Count())})
	}
	if p := qm.Get("PARENT"); !blank(p) && (typ == "ALL" || typ == "PARENT") {
		rows = append(rows, map[string]string{"TYPE": "PARENT", "QMNAME": p, "STATUS": m.parentStatus(p)})
	}
	return orElse(x.showRows("PUBSUB", q, rows), failed(mqi.MQRCCF_NONE_FOUND, msgNotFound, m.opt.Name))
}

// parentStatus is the state of the relation to a parent. Hierarchies are not built, so no request is ever sent: at best
// the relation rests; without a way to the parent it is in error.
func (m *Manager) parentStatus(parent string) string {
	for _, q := range []string{parent, m.qmgrDef().Get("DEFXMITQ")} {
		if o := m.lookup(ClassQueue, q); o != nil && o.Def().Get("USAGE") == "XMITQ" {
			return "INACTIVE"
		}
	}
	return "ERROR"
}

// displayTpstatus runs DISPLAY TPSTATUS. Rows are made page by page while they are walked.
func (x *exec) displayTpstatus() *attr.Reply {
	f, err := pubsub.ParseFilter(x.c.Name, pubsub.SchemeTopic)
	if err != nil {
		return topicRefused(err, x.c.Name)
	}
	typ, kind := pubsub.StatusTopic, attr.Kind("TPSTATUS TYPE(TOPIC)")
	switch t, _ := x.c.Get("TYPE"); t {
	case "SUB":
		typ, kind = pubsub.StatusSub, "TPSTATUS TYPE(SUB)"
	case "PUB":
		typ, kind = pubsub.StatusPub, "TPSTATUS TYPE(PUB)"
	}
	q := x.request([]string{"TOPICSTR"}, nil) // TYPE is not shown, other than by QSTATUS
	tree := x.m.topics.tree
	page := func(p pubsub.Page) (*attr.Reply, pubsub.Page) {
		for !p.Done() {
			var found []pubsub.Row
			found, p = tree.Status(f, typ, p)
			rows := make([]map[string]string, len(found))
			for i := range found {
				rows[i] = tpRow(&found[i], typ)
			}
			if r := x.showRows(kind, q, rows); r != nil {
				return r, p
			}
		}
		return nil, p
	}
	first, p := page(pubsub.Page{})
	if first == nil {
		return failed(mqi.MQRCCF_TOPIC_STRING_NOT_FOUND, msgNoTopicStatus, x.c.Name)
	}
	return &attr.Reply{Rows: func(yield func(attr.Row) bool) {
		for r := first; r != nil; r, p = page(p) {
			for row := range r.Rows {
				if !yield(row) {
					return
				}
			}
		}
	}}
}

// tpRow is one block of DISPLAY TPSTATUS by keyword.
func tpRow(r *pubsub.Row, typ pubsub.StatusType) map[string]string {
	switch typ {
	case pubsub.StatusSub:
		row := subStatusRow(r.Sub, r.NumMsgs, r.LastMsg, r.Resumed)
		row["TOPICSTR"] = r.Topic
		return row
	case pubsub.StatusPub:
		return map[string]string{"TOPICSTR": r.Topic, "ACTCONN": connText(r.Conn), "LPUBDATE": dateOrBlank(r.LastPub),
			"LPUBTIME": timeOrBlank(r.LastPub), "MCASTREL": "0" + attr.ListSep + "0", "NUMPUBS": strconv.FormatInt(r.NumPubs, 10)}
	}
	row := map[string]string{"TOPICSTR": r.Topic, "ADMIN": r.Admin, "PUBCOUNT": strconv.Itoa(r.PubCount),
		"SUBCOUNT": strconv.Itoa(r.SubCount), "RETAINED": yesNo(r.Retained)}
	for i := range pubsub.NumAttrs {
		if i != pubsub.WILDCARD && i != pubsub.PROXYSUB {
			row[i.String()] = r.Attrs[i]
		}
	}
	return row
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// connText is a connection id as ACTCONN shows it: zeros when nobody is connected.
func connText(id string) string {
	if id == "" {
		return strings.Repeat("0", 48)
	}
	return id
}

func subStatusRow(s *pubsub.Sub, msgs int64, last, resumed time.Time) map[string]string {
	return map[string]string{
		"SUB": s.Name, "SUBID": hexID(s.ID), "ACTCONN": connText(s.Conn()), "DURABLE": yesNo(s.Durable), "LMSGDATE": dateOrBlank(last),
		"LMSGTIME": timeOrBlank(last), "MCASTREL": "0" + attr.ListSep + "0", "NUMMSGS": strconv.FormatInt(msgs, 10),
		"RESMDATE": dateOrBlank(resumed), "RESMTIME": timeOrBlank(resumed), "SUBTYPE": s.Type.String(), "SUBUSER": subUser(s),
		"TOPICSTR": s.Topic,
	}
}

// displaySbstatus runs DISPLAY SBSTATUS.
func (x *exec) displaySbstatus() *attr.Reply {
	name, r := x.subName()
	if r != nil {
		return r
	}
	durable, _ := x.c.Get("DURABLE")
	typ, _ := x.c.Get("SUBTYPE")
	q := x.request([]string{"SUB", "SUBID"}, nil)
	var rows []map[string]string
	for _, o := range x.list(name, ClassSub) {
		s := o.sub.Load()
		if s == nil {
			continue
		}
		msgs, last, resumed := s.Counters()
		row := subStatusRow(s, msgs, last, resumed)
		if durable != "" && durable != "ALL" && row["DURABLE"] != durable {
			continue
		}
		if typ != "" && typ != "ALL" && typ != "USER" && row["SUBTYPE"] != typ {
			continue
		}
		rows = append(rows, row)
	}
	return orElse(x.showRows("SBSTATUS", q, rows), failed(mqi.MQRCCF_NONE_FOUND, msgNoSubStatus, name))
}
