package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestServerVariable(t *testing.T) {
	for in, want := range map[string]server{
		"DEV.ADMIN/TCP/host":                {"DEV.ADMIN", []string{"host:1414"}},
		"DEV.ADMIN/tcp/10.0.0.1(1500)":      {"DEV.ADMIN", []string{"10.0.0.1:1500"}},
		" A.B/TCP/one(1), two(2),three ":    {"A.B", []string{"one:1", "two:2", "three:1414"}},
		"C/TCP/[fe80::1](1414)":             {"C", []string{"[fe80::1]:1414"}},
		"with/lower/TCP":                    {},
		"":                                  {},
		"A.B/TCP":                           {},
		"A.B/TCP/":                          {},
		"/TCP/host(1414)":                   {},
		"A.B/LU62/host":                     {},
		"A.B/TCP/host(14":                   {},
		"A.B/TCP/(1414)":                    {},
		"A.B/TCP/h]x(1414)":                 {},
		"A.NAME.OF.MORE.THAN.20.C/TCP/host": {},
	} {
		got, err := parseServer(in)
		if (err == nil) != (want.channel != "") || got.channel != want.channel || !slices.Equal(got.addrs, want.addrs) {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "CHANNEL/TCP/host(port)") {
			t.Errorf("%q: %v does not say what to write", in, err)
		}
	}
}

// TestClientPlaces: which variable says where.
func TestClientPlaces(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ccdt.json")
	if err := os.WriteFile(file, []byte(`{"channel": [{"name": "T", "type": "clientConnection",
		"clientConnection": {"connection": [{"host": "h", "port": 1}]}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const sv = "S/TCP/one,two"
	for _, c := range []struct {
		env  map[string]string
		want string // channel of the first place, or what the error says
	}{
		{map[string]string{"MQSERVER": sv}, "S"},
		{map[string]string{"MQSERVER": sv, "MQCCDTURL": "file://" + file}, "S"},
		{map[string]string{"MQCCDTURL": "file://" + file}, "T"},
		{map[string]string{"MQCHLLIB": dir, "MQCHLTAB": "ccdt.json"}, "T"},
		{map[string]string{"MQCHLLIB": "file://" + dir, "MQCHLTAB": "ccdt.json"}, "T"},
		{map[string]string{"MQCCDTURL": "file://" + file, "MQCHLTAB": "none"}, "T"},
		{map[string]string{"MQCHLTAB": file}, "T"},
		{map[string]string{}, "neither is set"},
		{map[string]string{"MQCHLLIB": dir}, "neither is set"},
		{map[string]string{"MQCCDTURL": "http://h/x"}, "MQCCDTURL: "},
		{map[string]string{"MQCHLTAB": file + "x"}, "MQCHLTAB: "},
		{map[string]string{"MQCCDTURL": "file://" + file, "MQSSLKEYR": file + "x"}, "MQSSLKEYR: "},
	} {
		got, err := clientPlaces(func(k string) string { return c.env[k] })
		switch {
		case err != nil && !strings.Contains(err.Error(), c.want), err == nil && len(got) == 0:
			t.Errorf("%v: %v", c.env, err)
		case err == nil && got[0].CCDT == nil && (got[0].Channel != c.want || len(got) != 2),
			err == nil && got[0].CCDT != nil && got[0].CCDT.Channels[0].Name != c.want:
			t.Errorf("%v: %+v", c.env, got)
		}
	}
}
