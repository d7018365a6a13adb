package esql

import (
	"fmt"
	"strconv"
	"strings"
)

// FORMAT patterns of CAST between moments and CHARACTER: letters y M d D E H h K k a m s S z Z I T, text in quotes.

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
var dayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}

// token is a run of one letter, or text that stands for itself.
type patternToken struct {
	letter byte
	count  int
	text   string
}

func splitPattern(p string) ([]patternToken, error) {
	p = expandShorthand(p)
	var out []patternToken
	for i := 0; i < len(p); {
		c := p[i]
		switch {
		case c == '\'':
			text, n, ok := quotedText(p[i:])
			if !ok {
				return nil, fail(0, "FORMAT %s has a quote without its end", char(p))
			}
			out = append(out, patternToken{text: text})
			i += n
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := i
			for n < len(p) && p[n] == c {
				n++
			}
			if strings.IndexByte("yMdDEHhKkamsSzZ", c) < 0 {
				return nil, fail(0, "FORMAT %s: the letter %c is not offered; use y M d D E H h K k a m s S z Z, or I alone, or quote it", char(p), c)
			}
			out = append(out, patternToken{letter: c, count: n - i})
			i = n
		default:
			out = append(out, patternToken{text: p[i : i+1]})
			i++
		}
	}
	return out, nil
}

// expandShorthand: I stands for an ISO 8601 timestamp, IU for one that shows GMT as Z, T for an ISO 8601 time.
func expandShorthand(p string) string {
	switch p {
	case "I", "IU":
		return "yyyy-MM-dd'T'HH:mm:ss.SSSSSSZZZ"
	case "T", "TU":
		return "HH:mm:ss.SSSSSSZZZ"
	}
	return p
}

func quotedText(p string) (text string, n int, ok bool) {
	if strings.HasPrefix(p, "''") {
		return "'", 2, true
	}
	var b strings.Builder
	for i := 1; i < len(p); i++ {
		if p[i] != '\'' {
			b.WriteByte(p[i])
			continue
		}
		if i+1 < len(p) && p[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), i + 1, true
	}
	return "", 0, false
}

// formatPattern writes a moment; zone is the local offset in microseconds.
func formatPattern(v Value, p string, zone int64) (string, error) {
	utc := p == "IU" || p == "TU"
	tokens, err := splitPattern(p)
	if err != nil {
		return "", err
	}
	us := micros(v)
	day := floorDiv(us, usDay)
	if v.kind == GMTTime || v.kind == GMTTimestamp {
		zone = 0
	}
	var b strings.Builder
	for _, t := range tokens {
		if t.letter == 0 {
			b.WriteString(t.text)
			continue
		}
		if strings.IndexByte("yMdDE", t.letter) >= 0 && (v.kind == Time || v.kind == GMTTime) {
			return "", fail(0, "FORMAT %s: a %s has no date", char(p), v.kind)
		}
		writeField(&b, t, us-day*usDay, day, zone)
	}
	out := b.String()
	if utc && zone == 0 {
		out = strings.TrimSuffix(out, "+00:00") + "Z"
	}
	return out, nil
}

func writeField(b *strings.Builder, t patternToken, us, day, zone int64) {
	y, m, d := civil(day)
	hour := us / usHour
	num := func(n int64) { fmt.Fprintf(b, "%0*d", min(t.count, 20), n) }
	switch t.letter {
	case 'y':
		if t.count == 2 {
			y %= 100
		}
		num(y)
	case 'M':
		writeName(b, t, m, monthNames[m-1])
	case 'E':
		name := dayNames[floorMod(day+4, 7)]
		if t.count < 4 {
			name = name[:3]
		}
		b.WriteString(name)
	case 'd':
		num(d)
	case 'D':
		num(day - days(y, 1, 1) + 1)
	case 'H':
		num(hour)
	case 'k':
		num((hour+23)%24 + 1)
	case 'h':
		num((hour+11)%12 + 1)
	case 'K':
		num(hour % 12)
	case 'a':
		b.WriteString([]string{"AM", "PM"}[hour/12])
	case 'm':
		num(us / usMinute % 60)
	case 's':
		num(us / usSecond % 60)
	case 'S':
		f := fmt.Sprintf("%06d", us%usSecond)
		b.WriteString((f + strings.Repeat("0", 20))[:min(t.count, 20)])
	case 'z', 'Z':
		b.WriteString(zoneText(t, zone))
	}
}

func writeName(b *strings.Builder, t patternToken, n int64, name string) {
	switch {
	case t.count == 3:
		b.WriteString(name[:3])
	case t.count > 3:
		b.WriteString(name)
	default:
		fmt.Fprintf(b, "%0*d", t.count, n)
	}
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// zoneText: ZZZ is +01:00, Z and ZZ +0100; z shows the same behind GMT.
func zoneText(t patternToken, zone int64) string {
	sign := '+'
	if zone < 0 {
		sign, zone = '-', -zone
	}
	h, m := zone/usHour, zone/usMinute%60
	if t.letter == 'z' {
		return fmt.Sprintf("GMT%c%02d:%02d", sign, h, m)
	}
	if t.count < 3 {
		return fmt.Sprintf("%c%02d%02d", sign, h, m)
	}
	return fmt.Sprintf("%c%02d:%02d", sign, h, m)
}

// parsed is what a pattern found in a text.
type parsed struct {
	y, m, d, yday, hour, min, sec, us int64
	pm, half, hasZone                 bool
	zone                              int64
}

// parsePattern reads a text by a pattern; fields that the pattern does not name are those of 1970-01-01 00:00:00.
func parsePattern(k Kind, s, p string, zone int64) (Value, error) {
	tokens, err := splitPattern(p)
	if err != nil {
		return Value{}, err
	}
	got := parsed{y: 1970, m: 1, d: 1}
	rest := s
	iso := p == "I" || p == "IU" || p == "T" || p == "TU"
	for i, t := range tokens {
		if iso && (rest == "" || (t.text == "." || t.letter == 'S') && rest[0] != '.' && !isDigit(rest[0])) {
			continue // an ISO 8601 text may end early, and its fraction may be missing
		}
		if t.letter == 0 {
			after, ok := strings.CutPrefix(rest, t.text)
			if !ok {
				return Value{}, castFault("%s is not of the FORMAT %s: %s expected at %s", char(s), char(p), char(t.text), char(rest))
			}
			rest = after
			continue
		}
		// Fields without a separator between them have their exact widths.
		packed := i+1 < len(tokens) && tokens[i+1].letter != 0 || i > 0 && tokens[i-1].letter != 0
		after, ok := got.read(t, rest, packed)
		if !ok {
			return Value{}, castFault("%s is not of the FORMAT %s: %s is no %s", char(s), char(p), char(rest), strings.Repeat(string(t.letter), t.count))
		}
		rest = after
	}
	if rest != "" {
		return Value{}, castFault("%s is longer than the FORMAT %s: %s is left", char(s), char(p), char(rest))
	}
	return got.value(k, s, zone)
}

func (g *parsed) value(k Kind, s string, zone int64) (Value, error) {
	if g.half {
		g.hour %= 12
		if g.pm {
			g.hour += 12
		}
	}
	if !validDate(g.y, g.m, g.d) || g.hour > 23 || g.min > 59 || g.sec > 59 || g.yday > 366 {
		return Value{}, castFault("%s is no moment of the calendar", char(s))
	}
	day := days(g.y, g.m, g.d)
	if g.yday > 0 {
		day = days(g.y, 1, 1) + g.yday - 1
	}
	us := g.hour*usHour + g.min*usMinute + g.sec*usSecond + g.us
	if k != Time && k != GMTTime {
		us += day * usDay
	}
	if g.hasZone && k != Date { // the text says its zone: shown in ours
		us -= g.zone
		if k == Time || k == Timestamp {
			us += zone
		}
	}
	return moment(k, us)
}

// read takes one field from the start of s. packed: no separator follows, so the field has its exact width.
func (g *parsed) read(t patternToken, s string, packed bool) (string, bool) {
	switch t.letter {
	case 'M':
		if t.count > 2 {
			return readName(s, t.count, monthNames[:], &g.m)
		}
	case 'E':
		var ignore int64
		return readName(s, t.count, dayNames[:], &ignore)
	case 'a':
		if len(s) < 2 {
			return s, false
		}
		half := strings.ToUpper(s[:2])
		g.pm, g.half = half == "PM", true
		return s[2:], half == "PM" || half == "AM"
	case 'z', 'Z':
		return g.readZone(s)
	case 'S':
		n := 0
		for n < len(s) && n < max(t.count, 1) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		us, ok := fraction(s[:n])
		g.us = us
		return s[n:], ok
	}
	width := 20
	if packed {
		width = t.count
	} else if t.letter == 'y' && t.count == 2 {
		width = 2
	}
	n := 0
	for n < len(s) && n < width && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	v, err := strconv.ParseInt(s[:n], 10, 32)
	if err != nil || packed && n != width {
		return s, false
	}
	g.set(t, v)
	return s[n:], true
}

func (g *parsed) set(t patternToken, v int64) {
	switch t.letter {
	case 'y':
		if t.count == 2 { // the century window of the product: 53
			v += 1900
			if v < 1953 {
				v += 100
			}
		}
		g.y = v
	case 'M':
		g.m = v
	case 'd':
		g.d = v
	case 'D':
		g.yday = v
	case 'H':
		g.hour = v
	case 'k':
		g.hour = v % 24
	case 'h', 'K':
		g.hour, g.half = v, true
	case 'm':
		g.min = v
	case 's':
		g.sec = v
	}
}

func readName(s string, count int, names []string, to *int64) (string, bool) {
	for i, name := range names {
		if count == 3 {
			name = name[:3]
		}
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			*to = int64(i + 1)
			return s[len(name):], true
		}
	}
	return s, false
}

func (g *parsed) readZone(s string) (string, bool) {
	g.hasZone, g.zone = true, 0
	s = strings.TrimPrefix(s, "GMT")
	if strings.HasPrefix(s, "Z") {
		return s[1:], true
	}
	if s == "" {
		return s, true
	}
	if len(s) < 5 || s[0] != '+' && s[0] != '-' {
		return s, false
	}
	clock, n := strings.Replace(s[1:min(6, len(s))], ":", "", 1), 5
	if s[3] == ':' {
		n = 6
	}
	if len(s) < n || len(clock) < 4 {
		return s, false
	}
	v, err := strconv.ParseUint(clock[:4], 10, 16)
	if err != nil || v%100 > 59 || v > 1459 {
		return s, false
	}
	g.zone = int64(v/100)*usHour + int64(v%100)*usMinute
	if s[0] == '-' {
		g.zone = -g.zone
	}
	return s[n:], true
}
