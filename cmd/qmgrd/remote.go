package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/mq"
)

// put, get, browse, publish and subscribe as a client: --connect reaches a queue manager through a channel, anywhere, and not
// through the socket of one on this machine.

// remoteFlags say which queue manager, and as whom.
type remoteFlags struct {
	addr, channel      string
	user, passwordFile string
	tls                bool
	ca, cert, key      string
	name               string
}

// remote adds the flags to a command.
func (f *remoteFlags) remote(c *cobra.Command) {
	c.Flags().StringVar(&f.addr, "connect", "", "act as a client of the listener at `host:port`; several with commas are tried in turn")
	c.Flags().StringVar(&f.channel, "channel", "", "with --connect: server-connection channel `name`")
	c.Flags().StringVar(&f.user, "user", "", "with --connect: user `id` to be checked (CONNAUTH)")
	c.Flags().StringVar(&f.passwordFile, "password-file", "", "with --user: `file` with the password in its first line, - for the terminal's or a pipe's")
	c.Flags().BoolVar(&f.tls, "tls", false, "with --connect: use TLS; the other --tls flags imply it")
	c.Flags().StringVar(&f.ca, "tls-ca", "", "PEM `file` with the authorities to trust (default: those of the system)")
	c.Flags().StringVar(&f.cert, "tls-cert", "", "PEM `file` with the client's certificate")
	c.Flags().StringVar(&f.key, "tls-key", "", "PEM `file` with its private key (default: in --tls-cert)")
	c.Flags().StringVar(&f.name, "tls-name", "", "`name` in the server's certificate (default: the host of --connect)")
}

func (f *remoteFlags) on() bool { return f.addr != "" }

// check refuses flags that say nothing without others.
func (f *remoteFlags) check() error {
	needs := func(flag, value, other, by string) error {
		if value != "" && by == "" {
			return fmt.Errorf("%s needs %s", flag, other)
		}
		return nil
	}
	connect := map[bool]string{true: "yes"}
	return errors.Join(needs("--connect", f.addr, "--channel", f.channel), needs("--channel", f.channel, "--connect", f.addr),
		needs("--user", f.user, "--connect", f.addr), needs("--user", f.user, "--password-file", f.passwordFile),
		needs("--password-file", f.passwordFile, "--user", f.user), needs("--tls-key", f.key, "--tls-cert", f.cert),
		needs("--tls", f.ca+f.cert+f.name+connect[f.tls], "--connect", f.addr))
}

// session connects to the queue manager qm; * is whichever the channel reaches.
func (e *env) session(f *remoteFlags, qm string) (*mq.Conn, error) {
	o := mq.Options{Addr: f.addr, Channel: f.channel, QueueManager: qm, User: f.user, ApplName: "qmgrd"}
	if f.user != "" {
		var err error
		if o.Password, err = e.password(f.passwordFile); err != nil {
			return nil, err
		}
	}
	var err error
	if o.TLS, err = f.config(); err != nil {
		return nil, err
	}
	if o.Password != "" && o.TLS == nil && !loopback(f.addr) {
		fmt.Fprintln(e.stderr, "warning: without --tls the password crosses the network readable")
	}
	c, err := mq.Connect(e.ctx, o)
	return c, remoteError(err)
}

// config is that of TLS, nil without.
func (f *remoteFlags) config() (*tls.Config, error) {
	if !f.tls && f.ca == "" && f.cert == "" && f.name == "" {
		return nil, nil
	}
	c := &tls.Config{ServerName: f.name}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--tls-ca %s: no PEM certificate in it", f.ca)
		}
	}
	if f.cert != "" {
		key := f.key
		if key == "" {
			key = f.cert
		}
		pair, err := tls.LoadX509KeyPair(f.cert, key)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert %s: %w", f.cert, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// password reads the first line of a file that is nobody else's.
func (e *env) password(name string) (string, error) {
	in := e.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer file.Close()
		if st, err := file.Stat(); err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o077 != 0 {
			return "", fmt.Errorf("--password-file %s: others can read it; chmod 600 %s", name, name)
		}
		in = file
	}
	const most = 1024
	var line []byte
	for one := make([]byte, 1); len(line) <= most; { // not a byte of what stands behind it
		n, err := in.Read(one)
		if n == 0 && err == nil {
			continue
		}
		if n == 0 && err != io.EOF {
			return "", err
		}
		if n == 0 || one[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, one[0])
	}
	return "", fmt.Errorf("--password-file %s: the first line has more than %d bytes", name, most)
}

// loopback reports whether all addresses are this machine's own.
func loopback(addrs string) bool {
	for a := range strings.SplitSeq(addrs, ",") {
		host, _, _ := net.SplitHostPort(strings.TrimSpace(a))
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// adviceFor says what to look at after a reason code of a client.
var adviceFor = map[mq.Reason]string{
	mq.HostNotAvailable:    "is a listener running there (START LISTENER, qmgrd start --listen)?",
	mq.UnknownChannel:      "--channel names a SVRCONN channel, in its own upper and lower case",
	mq.ChannelNotAvailable: "START CHANNEL starts one that was stopped; MAXINST and MAXINSTC limit its instances",
	mq.SSLInitialization:   "compare --tls, --tls-ca, --tls-name and --tls-cert with SSLCIPH and SSLCAUTH of the channel",
	mq.QMgrNameError:       "the channel reaches another queue manager; * takes any",
	mq.NotAuthorized: "compare --user and --password-file with CONNAUTH, CHLAUTH of the channel and SET AUTHREC; " +
		"the queue manager's error log says what refused",
}

// remoteError gives an error of the client its exit code, and advice.
func remoteError(err error) error {
	var m *mq.Error
	if err == nil || !errors.As(err, &m) {
		return err
	}
	text := err
	if advice := adviceFor[m.Reason]; advice != "" {
		text = fmt.Errorf("%w; %s", err, advice)
	}
	switch m.Reason {
	case mq.HostNotAvailable, mq.ConnectionBroken, mq.QMgrNotAvailable, mq.SSLInitialization:
		return text
	}
	return withCode(exitRefused, text)
}

// goodbye is how long a session that has failed may take to end in order.
const goodbye = 2 * time.Second

// closeRemote ends a session in order; an error before it counts more, and what was not committed is backed out.
func closeRemote(ctx context.Context, c *mq.Conn, err error) error {
	if err != nil {
		bye, done := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer done()
		if c.Backout(bye) == nil {
			_ = c.Disconnect(bye) // or the log would have a client that was lost
		}
		c.Close()
		return err
	}
	return remoteError(c.Disconnect(ctx))
}
