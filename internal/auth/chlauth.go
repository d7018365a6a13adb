package auth

import (
	"net/netip"
	"slices"
	"strings"
)

// Rule is a channel authentication record.
type Rule struct {
	Channel string // profile, an asterisk for any characters
	Type    string // BLOCKADDR BLOCKUSER ADDRESSMAP USERMAP QMGRMAP SSLPEERMAP
	Address string
	User    string // CLNTUSER
	QMgr    string // QMNAME
	Peer    string // SSLPEER
	Issuer  string // SSLCERTI
	List    []string
	Source  string // USERSRC: MAP CHANNEL NOACCESS
	MCAUser string
	Check   string // CHCKCLNT: ASQMGR REQDADM REQUIRED
	Warn    bool
}

// String names the record as SET CHLAUTH would.
func (r *Rule) String() string {
	var b strings.Builder
	b.WriteString("CHLAUTH(" + r.Channel + ") TYPE(" + r.Type + ")")
	for _, k := range [...][2]string{{"SSLPEER", r.Peer}, {"SSLCERTI", r.Issuer}, {"CLNTUSER", r.User}, {"QMNAME", r.QMgr},
		{"ADDRESS", r.Address}} {
		if k[1] != "" {
			b.WriteString(" " + k[0] + "(" + k[1] + ")")
		}
	}
	return b.String()
}

// Query is what is known of a channel that comes in.
type Query struct {
	Channel string
	Addr    netip.Addr
	Hosts   []string // names of the address
	User    string   // client user id
	QMgr    string   // of a message channel: the other queue manager
	Peer    DN       // of its certificate
	Issuer  DN
}

// typeRank orders the mapping types: what is known more surely decides first.
var typeRank = map[string]int{"SSLPEERMAP": 3, "USERMAP": 2, "QMGRMAP": 2, "ADDRESSMAP": 1}

// NeedsHost reports whether a mapping of the channel asks for the name of the peer's host.
func NeedsHost(rules []Rule, channel string) bool {
	for i := range rules {
		if typeRank[rules[i].Type] > 0 && MatchStars(rules[i].Channel, channel) && parseAddress(rules[i].Address).isHost() {
			return true
		}
	}
	return false
}

// Mapping finds the record that maps a channel, or nil: the most specific channel profile among those that fit, then the
// type, then the most specific key, then the most specific address. When that one has USERSRC(NOACCESS) WARN(YES), it only
// warns, and the best of those that do not warn decides, as it would without the record that is on trial: its user, its
// CHCKCLNT and its refusal count. DISPLAY CHLAUTH MATCH(RUNCHECK) shows both.
func Mapping(rules []Rule, q *Query) (decides, warns *Rule) {
	if i := bestMapping(rules, q, true); i >= 0 && rules[i].warnsOnly() {
		warns = &rules[i]
	}
	if i := bestMapping(rules, q, warns == nil); i >= 0 {
		decides = &rules[i]
	}
	return decides, warns
}

// warnsOnly reports a mapping that would refuse, and only says so.
func (r *Rule) warnsOnly() bool { return r.Warn && r.Source == "NOACCESS" }

// bestMapping finds the record that fits best, or -1; those that only warn count when warners is true.
func bestMapping(rules []Rule, q *Query, warners bool) int {
	best := -1
	var bestScore []int
	for i := range rules {
		r := &rules[i]
		if !warners && r.warnsOnly() || !r.maps(q) {
			continue
		}
		if s := r.score(); best < 0 || slices.Compare(s, bestScore) > 0 {
			best, bestScore = i, s
		}
	}
	return best
}

func (r *Rule) maps(q *Query) bool {
	if typeRank[r.Type] == 0 || !MatchStars(r.Channel, q.Channel) || !parseAddress(r.Address).matches(q.Addr, q.Hosts) {
		return false
	}
	switch r.Type {
	case "USERMAP":
		return q.User != "" && r.User == q.User
	case "QMGRMAP":
		return q.QMgr != "" && MatchStars(r.QMgr, q.QMgr)
	case "SSLPEERMAP":
		return MatchPeer(r.Peer, q.Peer) && (r.Issuer == "" || MatchPeer(r.Issuer, q.Issuer))
	}
	return true
}

func (r *Rule) score() []int {
	s := []int{specific(r.Channel), typeRank[r.Type]}
	switch r.Type {
	case "QMGRMAP":
		s = append(s, specific(r.QMgr))
	case "SSLPEERMAP":
		s = append(s, dnRank(r.Peer)...)
		s = append(s, dnRank(r.Issuer)...)
	}
	return append(s, parseAddress(r.Address).rank())
}

// BlockedAddr finds the entry of a BLOCKADDR record that an address fits. It is asked before anything of the peer is read;
// one that only warns counts when no other blocks.
func BlockedAddr(rules []Rule, ip netip.Addr) (*Rule, string) {
	var warn *Rule
	entry := ""
	for i := range rules {
		r := &rules[i]
		if r.Type != "BLOCKADDR" {
			continue
		}
		for _, a := range r.List {
			if !parseAddress(a).matches(ip, nil) {
				continue
			}
			if !r.Warn {
				return r, a
			}
			warn, entry = r, a
		}
	}
	return warn, entry
}

// AnyAdmin is the word of a USERLIST that stands for every administrator.
const AnyAdmin = "*MQADMIN"

// BlockedUser finds the entry that blocks a user of a channel. The record of the most specific profile decides alone: with
// it an exception from that of a wider one is made.
func BlockedUser(rules []Rule, channel, user string, admin bool) (*Rule, string) {
	var best *Rule
	for i := range rules {
		r := &rules[i]
		if r.Type == "BLOCKUSER" && MatchStars(r.Channel, channel) &&
			(best == nil || specific(r.Channel) > specific(best.Channel)) {
			best = r
		}
	}
	if best == nil {
		return nil, ""
	}
	for _, u := range best.List {
		if u == user || admin && strings.EqualFold(u, AnyAdmin) {
			return best, u
		}
	}
	return nil, ""
}
