package auth

import (
	"sort"
	"strings"
)

// Auth is a set of authorities.
type Auth uint32

// The authorities, in the order in which they are printed.
const (
	AltUser Auth = 1 << iota
	Browse
	Change
	Clear
	Connect
	Create
	Delete
	Display
	Get
	Inquire
	Put
	PassAll
	PassID
	Set
	SetAll
	SetID
	Control
	ControlX
	Publish
	Subscribe
	Resume
	SystemAuth
)

// authWords are their names in AUTHADD and AUTHLIST.
var authWords = strings.Fields(`ALTUSR BROWSE CHG CLR CONNECT CRT DLT DSP GET INQ PUT PASSALL PASSID SET SETALL SETID CTRL CTRLX
	PUB SUB RESUME SYSTEM`)

// AuthWords lists every authority in the order in which lists are kept and printed.
func AuthWords() []string { return authWords }

// ParseAuth reads one word; 0 when it is not known.
func ParseAuth(word string) Auth {
	for i, w := range authWords {
		if w == word {
			return 1 << i
		}
	}
	return 0
}

// String lists the words.
func (a Auth) String() string {
	var out []string
	for i, w := range authWords {
		if a&(1<<i) != 0 {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// Entity types of records.
const (
	Group     = "GROUP"
	Principal = "PRINCIPAL"
)

// Record is an authority record.
type Record struct {
	Type       string // OBJTYPE
	Profile    string
	EntityType string
	Entity     string
	Auths      Auth
}

// Records decides about authorities. It does not change.
type Records struct {
	of map[recordKey]*profiles
}

type recordKey struct{ objType, entityType, entity string }

// profiles are the records of one entity for one object type.
type profiles struct {
	exact   map[string]Auth
	generic []Record // most specific first
}

// NewRecords makes a table of records.
func NewRecords(list []Record) *Records {
	r := &Records{of: map[recordKey]*profiles{}}
	for _, rec := range list {
		k := recordKey{rec.Type, rec.EntityType, rec.Entity}
		p := r.of[k]
		if p == nil {
			p = &profiles{exact: map[string]Auth{}}
			r.of[k] = p
		}
		if IsGenericProfile(rec.Profile) {
			p.generic = append(p.generic, rec)
			continue
		}
		p.exact[rec.Profile] = rec.Auths
	}
	for _, p := range r.of {
		sort.SliceStable(p.generic, func(i, j int) bool {
			return MoreSpecific(p.generic[i].Profile, p.generic[j].Profile)
		})
	}
	return r
}

// Has returns what a user may do with an object, and the profiles that say so. Of the records of one entity the one with
// the most specific profile decides alone; what the user and each of the groups have adds up.
func (r *Records) Has(objType, name, user string, groups []string) (Auth, []string) {
	var sum Auth
	var by []string
	add := func(entityType, entity string) {
		p := r.of[recordKey{objType, entityType, entity}]
		if p == nil {
			return
		}
		if a, profile, ok := p.find(name); ok {
			sum |= a
			by = append(by, "AUTHREC PROFILE("+profile+") "+entityType+"("+entity+")")
		}
	}
	if user != "" {
		add(Principal, user)
	}
	for _, g := range groups {
		add(Group, g)
	}
	return sum, by
}

func (p *profiles) find(name string) (Auth, string, bool) {
	if a, ok := p.exact[name]; ok {
		return a, name, true
	}
	for i := range p.generic {
		if MatchProfile(p.generic[i].Profile, name) {
			return p.generic[i].Auths, p.generic[i].Profile, true
		}
	}
	return 0, "", false
}

// IsGenericProfile reports whether a profile has wildcards.
func IsGenericProfile(p string) bool { return strings.ContainsAny(p, "*?%") }

// MatchProfile reports whether a profile fits a name: ? and % stand for one character of a qualifier, * for any within one
// qualifier, ** for any number of qualifiers, none too.
func MatchProfile(profile, name string) bool {
	var m profileMatch
	return m.fits(profile, name)
}

// profileMatch remembers which ends of a profile do not fit which ends of the name: without it the time doubles with each wildcard.
// Both have 48 characters at most.
type profileMatch struct{ no [64]uint64 }

func (m *profileMatch) fits(profile, name string) bool {
	known := len(profile) < len(m.no) && len(name) < 64
	if known && m.no[len(profile)]>>len(name)&1 != 0 {
		return false
	}
	if m.try(profile, name) {
		return true
	}
	if known {
		m.no[len(profile)] |= 1 << len(name)
	}
	return false
}

func (m *profileMatch) try(profile, name string) bool {
	for profile != "" {
		switch {
		case strings.HasPrefix(profile, "**"):
			rest := strings.TrimLeft(profile, "*")
			if rest == "" {
				return true
			}
			for i := 0; i <= len(name); i++ {
				if m.fits(rest, name[i:]) {
					return true
				}
			}
			// **.X fits X too: the dot goes with the qualifiers.
			return rest[0] == '.' && m.fits(rest[1:], name)
		case profile[0] == '*':
			for i := 0; ; i++ {
				if m.fits(profile[1:], name[i:]) {
					return true
				}
				if i == len(name) || name[i] == '.' {
					return false
				}
			}
		case name == "" && profile == ".**": // AB.** fits AB
			return true
		case name == "":
			return false
		case profile[0] == '?' || profile[0] == '%':
			if name[0] == '.' {
				return false
			}
		case profile[0] != name[0]:
			return false
		}
		profile, name = profile[1:], name[1:]
	}
	return name == ""
}

// MoreSpecific compares two profiles from the left: at the first place where they differ a character is more specific than
// ?, that than *, and that than **.
func MoreSpecific(a, b string) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		ra, rb := profileRank(a[i:]), profileRank(b[i:])
		if ra != rb {
			return ra > rb
		}
		if ra == 3 && a[i] != b[i] {
			return a < b // no name fits both
		}
	}
	return len(a) > len(b)
}

func profileRank(p string) int {
	switch {
	case strings.HasPrefix(p, "**"):
		return 0
	case p[0] == '*':
		return 1
	case p[0] == '?' || p[0] == '%':
		return 2
	}
	return 3
}
