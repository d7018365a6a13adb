package main

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/mq"
)

// Where -c connects: the variables of the environment that the vendor's clients know, in their order.
const (
	// serverVariable is CHANNEL/TCP/host(port), or more of them with commas between. It wins over the others, and is without TLS.
	serverVariable = "MQSERVER"
	serverPort     = "1414"
	// tableVariable is the file URL of a channel definition table in JSON, tableDir and tableFile are its directory and name.
	tableVariable = "MQCCDTURL"
	tableDir      = "MQCHLLIB"
	tableFile     = "MQCHLTAB"
	// keysVariable is the key repository for definitions with TLS, keysPassword its password.
	keysVariable = "MQSSLKEYR"
	keysPassword = "MQKEYRPWD"
)

// clientPlaces reads the variables; the connections are tried in turn.
func clientPlaces(env func(string) string) ([]mq.Options, error) {
	if v := env(serverVariable); strings.TrimSpace(v) != "" {
		s, err := parseServer(v)
		var out []mq.Options
		for _, a := range s.addrs {
			out = append(out, mq.Options{Addr: a, Channel: s.channel})
		}
		return out, err
	}
	variable, name := tableVariable, env(tableVariable)
	if name == "" && env(tableFile) != "" {
		variable, name = tableFile, env(tableFile)
		if dir := env(tableDir); dir != "" {
			name = strings.TrimSuffix(dir, "/") + "/" + name
			if !strings.Contains(dir, ":") {
				name = filepath.Clean(name)
			}
		}
	}
	if name == "" {
		return nil, errors.New("-c connects where " + serverVariable + "='CHANNEL/TCP/host(port)' says, or the channel definition table " +
			"in JSON that " + tableVariable + "='file:///…' names: neither is set")
	}
	t, err := mq.ReadCCDT(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	o := mq.Options{CCDT: t}
	if keys := env(keysVariable); keys != "" {
		if o.TLS, err = mq.KeyRepository(keys, env(keysPassword)); err != nil {
			return nil, fmt.Errorf("%s: %w", keysVariable, err)
		}
	}
	return []mq.Options{o}, nil
}

// server is what MQSERVER names.
type server struct {
	channel string
	addrs   []string
}

// parseServer reads MQSERVER.
func parseServer(v string) (server, error) {
	bad := func(why string) (server, error) {
		return server{}, fmt.Errorf("%s=%s: %s; it has the form CHANNEL/TCP/host(port)", serverVariable, v, why)
	}
	p := strings.SplitN(strings.TrimSpace(v), "/", 3)
	switch {
	case len(p) != 3 || p[0] == "" || p[2] == "":
		return bad("a part is missing")
	case !strings.EqualFold(p[1], "TCP"):
		return bad(p[1] + " is no transport that is served")
	case len(p[0]) > mqi.MQ_CHANNEL_NAME_LENGTH:
		return bad("the channel's name is too long")
	}
	s := server{channel: p[0]}
	for _, c := range strings.Split(p[2], ",") {
		host, port, has := strings.Cut(strings.TrimSpace(c), "(")
		if !has {
			port = serverPort + ")"
		}
		port, closed := strings.CutSuffix(port, ")")
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]") // of an IPv6 address
		if host == "" || strings.ContainsAny(host, "[]") || !closed || port == "" {
			return bad(c + " is no host(port)")
		}
		s.addrs = append(s.addrs, net.JoinHostPort(host, strings.TrimSpace(port)))
	}
	return s, nil
}
