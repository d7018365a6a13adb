package main

import (
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
