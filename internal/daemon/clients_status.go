package daemon

import (
	"crypto/tls"
	"net"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// clients implements qmgr.ClientHost.
var _ qmgr.ClientHost = (*clients)(nil)

// Instances lists the channel instances that run.
func (c *clients) Instances() []qmgr.ChannelInstance {
	all := c.srv.Status()
	out := make([]qmgr.ChannelInstance, len(all))
	for i := range all {
		out[i] = c.instance(&all[i])
	}
	return out
}

func (c *clients) instance(s *fap.Status) qmgr.ChannelInstance {
	i := qmgr.ChannelInstance{Channel: s.Channel, ConnName: hostOf(s.ConnName), Local: local(s.Local), Number: s.Number,
		Product: s.Product, Stopping: s.Stopping, Getting: s.Waiting, Conversations: s.Shared, MaxConversations: s.MaxShared,
		Heartbeat: s.Heartbeat, Started: s.Started, LastCall: s.LastCall, Calls: s.Calls, BytesIn: s.BytesIn, BytesOut: s.BytesOut,
		BuffersIn: s.BuffersIn, BuffersOut: s.BuffersOut}
	c.mu.Lock()
	if w := c.who[s.Instance]; w != nil {
		i.User, i.Appl = w.user, w.appl
	}
	c.mu.Unlock()
	if t := s.TLS; t != nil {
		i.SecProt = map[uint16]string{tls.VersionTLS12: "TLSV12", tls.VersionTLS13: "TLSV13"}[t.Version]
		i.Cipher = auth.CipherSpecOf(t.Version, t.CipherSuite)
		if len(t.PeerCertificates) > 0 {
			x := t.PeerCertificates[0]
			i.Peer, i.Issuer = auth.NameOf(x.Subject).String(), auth.NameOf(x.Issuer).String()
		}
	}
	return i
}

// EndInstances ends those that match.
func (c *clients) EndInstances(force bool, match func(*qmgr.ChannelInstance) bool) int {
	chosen := map[*fap.Instance]bool{}
	for _, s := range c.srv.Status() {
		if i := c.instance(&s); match(&i) {
			chosen[s.Instance] = true
		}
	}
	if len(chosen) == 0 {
		return 0
	}
	return c.srv.Stop(func(i *fap.Instance) bool { return chosen[i] }, force)
}

// hostOf is an address without its port.
func hostOf(addr string) string {
	if h, _, err := net.SplitHostPort(addr); err == nil {
		return h
	}
	return addr
}

// local is an address as LOCLADDR shows it: host(port).
func local(addr string) string {
	h, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return h + "(" + port + ")"
}
