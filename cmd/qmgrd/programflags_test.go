package main

import (
	"os"
	"strings"
	"testing"
)

// The page of commands names every flag of the MQ names in the column that says what it does.
func TestCommandFlagsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/compatibility.d/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, l := range strings.Split(string(page), "\n") {
		if c := strings.Split(strings.ReplaceAll(l, `\|`, "/"), "|"); len(c) == 6 {
			for _, name := range strings.Split(c[1], ",") {
				rows[strings.TrimSpace(name)] = c
			}
		}
	}
	for name, flags := range map[string][]mqFlag{"crtmqm": crtFlags, "strmqm": strFlags, "endmqm": endFlags, "dltmqm": dltFlags,
		"dspmq": dspmqFlags, "dmpmqcfg": cfgFlags, "dspmqver": verFlags, "setmqaut": autFlags, "dspmqaut": autFlags,
		"dspmqtrn": dspmqtrnFlags, "rsvmqtrn": rsvmqtrnFlags} {
		c := rows[name]
		if c == nil {
			t.Errorf("no row for %s", name)
			continue
		}
		for _, f := range flags {
			col := 2
			switch {
			case f.refused != "":
				col = 4
			case f.inert:
				col = 3
			}
			flag := "`" + trimEq(f.name)
			if !strings.Contains(c[col], flag+"`") && !strings.Contains(c[col], flag+" ") {
				t.Errorf("%s %s is not in column %d: %s", name, trimEq(f.name), col, c[col])
			}
		}
	}
	for name := range programs {
		if usages[name] == "" {
			t.Errorf("%s has no usage", name)
		}
	}
}
