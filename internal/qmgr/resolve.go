package qmgr

import "github.com/qmgrd/qmgrd/internal/mqi"

// namespace is what name resolution looks at. It is a value, so that the rules are a pure function.
type namespace struct {
	qmgr     string
	defXmitQ string
	queue    func(name string) *Object
}

// resolved is where a name leads.
type resolved struct {
	path   []*Object // the definitions passed, the one that was named first
	base   *Object   // local queue that holds the messages, a transmission queue when remote
	model  *Object   // set instead of base for a model queue
	remote bool
	qName  string // ResolvedQName
	qmName string // ResolvedQMgrName
}

// through reports whether o is one of the definitions in the path.
func (r *resolved) through(o *Object) bool {
	for _, p := range r.path {
		if p == o {
			return true
		}
	}
	return false
}

// first is the definition whose DEFPRTY and DEFPSIST are in force.
func (r *resolved) first() *Def { return r.path[0].Def() }

// outputOnly are the options with which a name need not end at a local queue, beside inquire and set.
const inputOptions = mqi.MQOO_INPUT_AS_Q_DEF | mqi.MQOO_INPUT_SHARED | mqi.MQOO_INPUT_EXCLUSIVE | mqi.MQOO_BROWSE

// resolve finds what a queue name means: facts/mqi.md §3, rows 1 to 13 without clusters. The queue manager's name comes
// first.
func (ns *namespace) resolve(qmName, qName string, opts int32) (*resolved, mqi.RC) {
	if qmName == "" || qmName == ns.qmgr {
		return ns.local(qName, opts, false)
	}
	if !validName(qmName) {
		return nil, mqi.MQRC_UNKNOWN_OBJECT_Q_MGR
	}
	o := ns.queue(qmName)
	if o == nil {
		return ns.viaDefault(nil, qName, qmName, opts)
	}
	d := o.Def()
	switch d.Kind {
	case "QLOCAL":
		if d.Get("USAGE") != "XMITQ" {
			return nil, mqi.MQRC_XMIT_Q_USAGE_ERROR
		}
		return ns.away([]*Object{o}, o, qName, qmName, opts)
	case "QREMOTE":
		if d.Get("RNAME") != "" || d.Get("RQMNAME") == "" {
			return nil, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR
		}
		if d.Get("RQMNAME") == ns.qmgr {
			return ns.local(qName, opts, true)
		}
		return ns.viaRemote(o, qName, opts)
	}
	return nil, mqi.MQRC_XMIT_Q_TYPE_ERROR
}

// local resolves a queue name on this queue manager; aliased says that a queue manager alias led here.
func (ns *namespace) local(qName string, opts int32, aliased bool) (*resolved, mqi.RC) {
	if aliased && opts&(inputOptions|mqi.MQOO_INQUIRE|mqi.MQOO_SET) != 0 {
		return nil, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	}
	o := ns.queue(qName)
	if o == nil {
		return nil, mqi.MQRC_UNKNOWN_OBJECT_NAME
	}
	d := o.Def()
	r := &resolved{path: []*Object{o}, qName: qName, qmName: ns.qmgr}
	switch d.Kind {
	case "QLOCAL":
		r.base = o
	case "QMODEL":
		if aliased {
			return nil, mqi.MQRC_Q_TYPE_ERROR
		}
		r.model = o
	case "QALIAS":
		return ns.alias(r, o, opts)
	case "QREMOTE":
		if onlyLooks(opts) {
			return r, 0
		}
		return ns.remoteDef(r.path, o, opts)
	default:
		return nil, mqi.MQRC_OBJECT_TYPE_ERROR
	}
	return r, 0
}

// onlyLooks reports whether an open wants the definition alone.
func onlyLooks(opts int32) bool {
	return opts&(inputOptions|mqi.MQOO_OUTPUT) == 0
}

// alias goes one step: an alias of an alias is refused.
func (ns *namespace) alias(r *resolved, o *Object, opts int32) (*resolved, mqi.RC) {
	if onlyLooks(opts) {
		return r, 0
	}
	d := o.Def()
	if d.Get("TARGTYPE") == "TOPIC" {
		return nil, mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR
	}
	t := ns.queue(d.Get("TARGET"))
	if t == nil {
		return nil, mqi.MQRC_UNKNOWN_ALIAS_BASE_Q
	}
	path := append(r.path, t)
	switch t.Def().Kind {
	case "QLOCAL":
		return &resolved{path: path, base: t, qName: t.Name, qmName: ns.qmgr}, 0
	case "QREMOTE":
		return ns.remoteDef(path, t, opts)
	}
	return nil, mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR
}

// remoteDef resolves a local definition of a remote queue that was named as a queue.
func (ns *namespace) remoteDef(path []*Object, o *Object, opts int32) (*resolved, mqi.RC) {
	d := o.Def()
	if opts&inputOptions != 0 {
		return nil, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	}
	if d.Get("RNAME") == "" {
		return nil, mqi.MQRC_REMOTE_Q_NAME_ERROR
	}
	if q := d.Get("RQMNAME"); q == "" || q == ns.qmgr {
		return nil, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR
	}
	return ns.viaRemotePath(path, o, d.Get("RNAME"), opts)
}

// viaRemote resolves a queue of the queue manager that o is an alias of. There is no definition of the queue itself here.
func (ns *namespace) viaRemote(o *Object, qName string, opts int32) (*resolved, mqi.RC) {
	if opts&(mqi.MQOO_INQUIRE|mqi.MQOO_SET) != 0 {
		return nil, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	}
	return ns.viaRemotePath([]*Object{o}, o, qName, opts)
}

// viaRemotePath finds the transmission queue of a QREMOTE: XMITQ, else the queue named as RQMNAME, else DEFXMITQ.
func (ns *namespace) viaRemotePath(path []*Object, o *Object, qName string, opts int32) (*resolved, mqi.RC) {
	d := o.Def()
	qmName := d.Get("RQMNAME")
	if x := d.Get("XMITQ"); x != "" {
		xq := ns.queue(x)
		if xq == nil {
			return nil, mqi.MQRC_UNKNOWN_XMIT_Q
		}
		if rc := isXmitQ(xq, mqi.MQRC_XMIT_Q_TYPE_ERROR, mqi.MQRC_XMIT_Q_USAGE_ERROR); rc != 0 {
			return nil, rc
		}
		return ns.away(append(path, xq), xq, qName, qmName, opts)
	}
	if xq := ns.queue(qmName); xq != nil {
		if rc := isXmitQ(xq, mqi.MQRC_XMIT_Q_TYPE_ERROR, mqi.MQRC_XMIT_Q_USAGE_ERROR); rc != 0 {
			return nil, rc
		}
		return ns.away(append(path, xq), xq, qName, qmName, opts)
	}
	return ns.viaDefault(path, qName, qmName, opts)
}

// viaDefault uses DEFXMITQ.
func (ns *namespace) viaDefault(path []*Object, qName, qmName string, opts int32) (*resolved, mqi.RC) {
	if ns.defXmitQ == "" {
		return nil, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR
	}
	xq := ns.queue(ns.defXmitQ)
	if xq == nil {
		return nil, mqi.MQRC_UNKNOWN_DEF_XMIT_Q
	}
	if rc := isXmitQ(xq, mqi.MQRC_DEF_XMIT_Q_TYPE_ERROR, mqi.MQRC_DEF_XMIT_Q_USAGE_ERROR); rc != 0 {
		return nil, rc
	}
	return ns.away(append(path, xq), xq, qName, qmName, opts)
}

func isXmitQ(o *Object, notLocal, notXmit mqi.RC) mqi.RC {
	d := o.Def()
	switch {
	case d.Kind != "QLOCAL":
		return notLocal
	case d.Get("USAGE") != "XMITQ":
		return notXmit
	}
	return 0
}

// away is the end of every path to another queue manager: only output is possible there.
func (ns *namespace) away(path []*Object, xq *Object, qName, qmName string, opts int32) (*resolved, mqi.RC) {
	named := path[0] != xq // a definition of the queue, or an alias of one, was named: it can be inquired
	if opts&inputOptions != 0 || !named && opts&(mqi.MQOO_INQUIRE|mqi.MQOO_SET) != 0 {
		return nil, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE
	}
	return &resolved{path: path, base: xq, remote: true, qName: qName, qmName: qmName}, 0
}

// validName checks the characters and the length of an object name.
func validName(s string) bool {
	if s == "" || len(s) > mqi.MQ_Q_NAME_LENGTH {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case c == '.' || c == '/' || c == '_' || c == '%':
		default:
			return false
		}
	}
	return true
}

func (m *Manager) namespace() *namespace {
	return &namespace{
		qmgr:     m.opt.Name,
		defXmitQ: m.qmgrDef().Get("DEFXMITQ"),
		queue:    func(n string) *Object { return m.lookup(ClassQueue, n) },
	}
}
