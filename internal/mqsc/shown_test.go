package mqsc

import (
	"strings"
	"testing"
)

// What is never shown is not, however it was written; the rest stays as it was.
func TestShownText(t *testing.T) {
	const head = "DEFINE AUTHINFO(A) AUTHTYPE(CRLLDAP) CONNAME('h') "
	for text, want := range map[string]string{
		head + "DESCR('x y')":                         head + "DESCR('x y')",
		head + "LDAPPWD('secret') DESCR('secret')":    head + "LDAPPWD('********') DESCR('secret')",
		head + "ldappwd ( secret )":                   head + "ldappwd('********')",
		head + "LDAPPWD('it''s secret') LDAPUSER(it)": head + "LDAPPWD('********') LDAPUSER(it)",
		head + "LDAPPWD(' ') LDAPUSER(U)":             head + "LDAPPWD(' ') LDAPUSER(U)",
	} {
		c, err := ParseCommand(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := ShownText(c); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	c, err := FromJSON(JSONCommand{Command: "define", Qualifier: "authinfo", Name: "A",
		Parameters: map[string]any{"authtype": "crlldap", "conname": "h", "ldappwd": "it's secret"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := ShownText(c); strings.Contains(got, "secret") || !strings.Contains(strings.ToUpper(got), "CONNAME('H')") {
		t.Errorf("of JSON: %s", got)
	}
}
