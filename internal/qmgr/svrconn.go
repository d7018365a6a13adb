package qmgr

import "strings"

// ServerConn is what a channel prescribes to the clients that start it.
type ServerConn struct {
	Name      string
	Heartbeat int32 // HBINT, seconds
	MaxMsg    int32 // MAXMSGL
	ShareCnv  int32 // SHARECNV
	MaxInst   int32 // MAXINST
	MaxInstC  int32 // MAXINSTC, of one client
	MCAUser   string
	// Disconnect is DISCINT, seconds without a call after which the instance ends; 0 is never.
	Disconnect int32
	Stopped    bool // by STOP CHANNEL

	SSLCiph   string // blank: no TLS
	SSLPeer   string
	CertLabel string
	// NeedCert is SSLCAUTH(REQUIRED).
	NeedCert bool
}

// ServerConn finds a server-connection channel. chlType is that of the channel named, blank when there is none; only for
// SVRCONN are the values filled in.
func (m *Manager) ServerConn(name string) (sc ServerConn, chlType string) {
	o := m.lookup(ClassChannel, name)
	if o == nil {
		return ServerConn{}, ""
	}
	d := o.Def()
	if chlType = d.Get("CHLTYPE"); chlType != "SVRCONN" {
		return ServerConn{}, chlType
	}
	num := func(key string) int32 { return int32(d.Int(key)) }
	return ServerConn{Name: name, Heartbeat: num("HBINT"), MaxMsg: num("MAXMSGL"), ShareCnv: num("SHARECNV"),
		Disconnect: num("DISCINT"), Stopped: o.stopped.Load(), MaxInst: num("MAXINST"), MaxInstC: num("MAXINSTC"), MCAUser: strings.TrimSpace(d.Get("MCAUSER")),
		SSLCiph: d.Get("SSLCIPH"), SSLPeer: d.Get("SSLPEER"), CertLabel: d.Get("CERTLABL"),
		NeedCert: d.Get("SSLCAUTH") == "REQUIRED"}, chlType
}

// KeyRepository is where keys and certificates are: SSLKEYR and CERTLABL.
func (m *Manager) KeyRepository() (place, label string) {
	d := m.qmgrDef()
	return strings.TrimSpace(d.Get("SSLKEYR")), strings.TrimSpace(d.Get("CERTLABL"))
}

// ID is the queue manager's identifier, QMID.
func (m *Manager) ID() string { return m.qmgrDef().Get("QMID") }
