package qmgr

// ServerConn is what a channel prescribes to the clients that start it.
type ServerConn struct {
	Name      string
	Heartbeat int32 // HBINT, seconds
	MaxMsg    int32 // MAXMSGL
	ShareCnv  int32 // SHARECNV
	MaxInst   int32 // MAXINST
	MaxInstC  int32 // MAXINSTC, of one client
	MCAUser   string
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
		MaxInst: num("MAXINST"), MaxInstC: num("MAXINSTC"), MCAUser: d.Get("MCAUSER")}, chlType
}

// ID is the queue manager's identifier, QMID.
func (m *Manager) ID() string { return m.qmgrDef().Get("QMID") }
