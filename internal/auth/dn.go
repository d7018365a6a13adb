package auth

import (
	"crypto/x509/pkix"
	"strings"
)

// DN is a distinguished name: attributes in the order in which they are written, most particular first.
type DN []DNAttr

// DNAttr is one attribute; Type in capitals as MQ writes it (CN, OU, ST …).
type DNAttr struct{ Type, Value string }

// dnTypes are the attributes by which a certificate's name is told, the most telling first.
var dnTypes = []string{"SERIALNUMBER", "MAIL", "UID", "CN", "T", "OU", "DC", "O", "STREET", "L", "ST", "PC", "C", "UNSTRUCTUREDNAME",
	"UNSTRUCTUREDADDRESS", "DNQ"}

// dnAlias are other names of them.
var dnAlias = map[string]string{"E": "MAIL", "EMAIL": "MAIL", "EMAILADDRESS": "MAIL", "USERID": "UID", "TITLE": "T", "S": "ST", "SP": "ST",
	"STATE": "ST", "POSTALCODE": "PC"}

// dnOIDs name the attributes of a certificate.
var dnOIDs = map[string]string{"2.5.4.3": "CN", "2.5.4.5": "SERIALNUMBER", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET",
	"2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "T", "2.5.4.17": "PC", "2.5.4.46": "DNQ", "0.9.2342.19200300.100.1.1": "UID",
	"0.9.2342.19200300.100.1.25": "DC", "1.2.840.113549.1.9.1": "MAIL", "1.2.840.113549.1.9.2": "UNSTRUCTUREDNAME",
	"1.2.840.113549.1.9.8": "UNSTRUCTUREDADDRESS"}

// NameOf reads a certificate's subject or issuer. A certificate lists the general part first.
func NameOf(n pkix.Name) DN {
	var out DN
	for i := len(n.Names) - 1; i >= 0; i-- {
		v, ok := n.Names[i].Value.(string)
		if t := dnOIDs[n.Names[i].Type.String()]; ok && t != "" {
			out = append(out, DNAttr{t, v})
		}
	}
	return out
}

// ParseDN reads TYPE=value, separated by commas or semicolons; values may be in quotes, and \ takes the next character as
// it is.
func ParseDN(s string) (DN, bool) {
	var out DN
	for len(s) > 0 {
		s = strings.TrimLeft(s, " ,;")
		if s == "" {
			break
		}
		typ, rest, ok := strings.Cut(s, "=")
		if !ok {
			return nil, false
		}
		typ = strings.ToUpper(strings.TrimSpace(typ))
		if a := dnAlias[typ]; a != "" {
			typ = a
		}
		val, left, ok := dnValue(strings.TrimLeft(rest, " "))
		if !ok || !knownDN(typ) {
			return nil, false
		}
		out = append(out, DNAttr{typ, val})
		s = left
	}
	return out, len(out) > 0
}

func knownDN(typ string) bool {
	for _, t := range dnTypes {
		if t == typ {
			return true
		}
	}
	return false
}

func dnValue(s string) (val, rest string, ok bool) {
	var b strings.Builder
	quoted := strings.HasPrefix(s, `"`)
	i := 0
	if quoted {
		i = 1
	}
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case quoted && c == '"':
			return b.String(), s[i+1:], true
		case !quoted && (c == ',' || c == ';'):
			return strings.TrimRight(b.String(), " "), s[i+1:], true
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimRight(b.String(), " "), "", !quoted
}

// String writes the name as DISPLAY shows SSLPEER.
func (d DN) String() string {
	parts := make([]string, len(d))
	for i, a := range d {
		v := a.Value
		if strings.ContainsAny(v, `,;"\`) {
			v = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
		}
		parts[i] = a.Type + "=" + v
	}
	return strings.Join(parts, ",")
}

// MatchPeer reports whether a certificate's name fits SSLPEER: each attribute of the pattern must be there, several of a
// type in their order. Upper and lower case are the same; an asterisk at either end of a value stands for anything.
func MatchPeer(pattern string, have DN) bool {
	want, ok := ParseDN(pattern)
	if !ok || len(have) == 0 {
		return false
	}
	next := map[string]int{}
	for _, w := range want {
		found := false
		for i := next[w.Type]; i < len(have); i++ {
			if have[i].Type == w.Type && MatchStars(strings.ToLower(w.Value), strings.ToLower(have[i].Value)) {
				next[w.Type], found = i+1, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// dnRank compares patterns that both fit a name: by the most telling attribute in which they differ.
func dnRank(pattern string) []int {
	d, _ := ParseDN(pattern)
	r := make([]int, len(dnTypes))
	for i, t := range dnTypes {
		for _, a := range d {
			if a.Type == t {
				r[i] += 1 + max(specific(a.Value), 0)/2
			}
		}
	}
	return r
}
