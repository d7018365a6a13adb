package qmgr

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// ChannelInstance is a running instance of a server-connection channel.
type ChannelInstance struct {
	Channel  string
	ConnName string // address of the client, without its port
	Local    string // address(port) here
	Number   uint32 // tells the instances of a run apart

	User    string // who the client is for the queue manager, MCAUSER
	Appl    string // RAPPLTAG
	Product string // identifier and version of the client, "MQJB09040100"

	Stopping bool // it was asked to end
	Getting  bool // a get waits

	SecProt, Cipher, Peer, Issuer string // of TLS, blank without

	Conversations, MaxConversations int // the latter 0: not shared
	Heartbeat                       time.Duration
	Started, LastCall               time.Time // the latter zero: no call yet
	Calls                           int64
	BytesIn, BytesOut               int64
	BuffersIn, BuffersOut           int64
}

// chstatusMonitor are the fields that MONITOR stands for.
var chstatusMonitor = strings.Fields("COMPRATE COMPTIME EXITTIME MONCHL NETTIME STATCHL XBATCHSZ XQMSGSA XQTIME")

// displayChstatus runs DISPLAY CHSTATUS. Only channels for clients run here, and of those nothing is saved.
func (x *exec) displayChstatus() *attr.Reply {
	none := failed(mqi.MQRCCF_CHL_STATUS_NOT_FOUND, msgNoChannelStatus, x.c.Name)
	if _, saved := x.c.Get("SAVED"); saved {
		return none
	}
	q := x.request([]string{"CHLTYPE", "CONNAME", "CURRENT", "STATUS", "SUBSTATE"}, map[string][]string{"MONITOR": chstatusMonitor})
	_, q.all = x.c.Get("ALL") // without it a channel's own name shows as little as a generic one
	conn, _ := x.c.Get("CONNAME")
	xmitq, _ := x.c.Get("XMITQ")
	var rows []map[string]string
	running := map[string]bool{}
	for _, i := range x.channelInstances() {
		running[i.Channel] = true
		if !blank(conn) && !sameHost(conn, i.ConnName) || !blank(xmitq) {
			continue
		}
		rows = append(rows, x.m.chstatusRow(&i))
	}
	if blank(conn) && blank(xmitq) {
		for _, o := range x.list(x.c.Name, ClassChannel) {
			if o.stopped.Load() && !running[o.Name] {
				rows = append(rows, map[string]string{"CHANNEL": o.Name, "CHLTYPE": "SVRCONN", "CONNAME": "", "CURRENT": "YES",
					"MCASTAT": "NOT RUNNING", "STATUS": "STOPPED", "STOPREQ": "NO", "SUBSTATE": ""})
			}
		}
		sort.SliceStable(rows, func(i, j int) bool { return rows[i]["CHANNEL"] < rows[j]["CHANNEL"] })
	}
	return orElse(x.showRows("CHSTATUS", q, rows), none)
}

// channelInstances lists what runs of the channels that the command names and its user may see, by channel and start.
func (x *exec) channelInstances() []ChannelInstance {
	h := x.m.clientHost()
	if h == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, o := range x.list(x.c.Name, ClassChannel) {
		seen[o.Name] = true
	}
	var out []ChannelInstance
	for _, i := range h.Instances() {
		if seen[i.Channel] {
			out = append(out, i)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		if a.Channel != b.Channel {
			return a.Channel < b.Channel
		}
		return a.Number < b.Number
	})
	return out
}

func (m *Manager) chstatusRow(i *ChannelInstance) map[string]string {
	product, version := i.Product, ""
	if len(product) >= 4 {
		product, version = product[:4], product[4:]
	}
	num := func(n int64) string { return strconv.FormatInt(n, 10) }
	none := "NONE" + attr.ListSep + "NONE"
	zero := "0" + attr.ListSep + "0"
	row := map[string]string{
		"CHANNEL": i.Channel, "CHLTYPE": "SVRCONN", "CONNAME": i.ConnName, "CURRENT": "YES", "LOCLADDR": i.Local,
		"BUFSRCVD": num(i.BuffersIn), "BUFSSENT": num(i.BuffersOut), "BYTSRCVD": num(i.BytesIn), "BYTSSENT": num(i.BytesOut),
		"CHSTADA": dateOrBlank(i.Started), "CHSTATI": timeOrBlank(i.Started),
		"LSTMSGDA": dateOrBlank(i.LastCall), "LSTMSGTI": timeOrBlank(i.LastCall), "MSGS": num(i.Calls),
		"COMPHDR": none, "COMPMSG": none, "COMPRATE": zero, "COMPTIME": zero, "EXITTIME": zero,
		"HBINT": num(int64(i.Heartbeat / time.Second)), "JOBNAME": fmt.Sprintf("%08X%08X", os.Getpid(), i.Number),
		"MCASTAT": "RUNNING", "MCAUSER": i.User, "MONCHL": m.channelMonitoring(i.Channel, "MONCHL"),
		"RAPPLTAG": i.Appl, "RPRODUCT": product, "RVERSION": version,
		"SECPROT": orWord(i.SecProt, "NONE"), "SSLCERTI": i.Issuer, "SSLCIPH": i.Cipher, "SSLPEER": i.Peer,
		"SSLKEYDA": "", "SSLKEYTI": "", "SSLRKEYS": "0", "STATUS": "RUNNING", "STOPREQ": yesNo(i.Stopping), "SUBSTATE": "RECEIVE",
		"CURSHCNV": num(int64(i.Conversations)), "MAXSHCNV": num(int64(i.MaxConversations)),
	}
	if i.Stopping {
		row["STATUS"] = "STOPPING"
	}
	if i.Getting {
		row["SUBSTATE"] = "MQGET"
	}
	return row
}

func orWord(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// channelMonitoring is MONCHL in force for a channel: its own, or the queue manager's when it says QMGR. NONE at the queue
// manager switches it off for all.
func (m *Manager) channelMonitoring(channel, key string) string {
	own, all := "QMGR", m.qmgrDef().Get(key)
	if o := m.lookup(ClassChannel, channel); o != nil && o.Def() != nil {
		own = o.Def().Get(key)
	}
	switch {
	case all == "NONE" || own == "":
		return "OFF"
	case own == "QMGR":
		return orWord(all, "OFF")
	}
	return own
}
