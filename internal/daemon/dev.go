package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// The developer set-up that tutorials assume: objects, users and authorities, made at every start with --dev.

// Places where a container brings what belongs to it.
const (
	containerScripts = "/etc/mqm"
	containerKeys    = "/etc/mqm/pki/keys"
	containerSecrets = "/run/secrets"
)

// devUser is a user of the set-up; it is made when a password is given.
type devUser struct {
	name, group string
	env, secret string
}

var devUsers = []devUser{
	{"app", "mqclient", "MQ_APP_PASSWORD", "mqAppPassword"},
	{"admin", auth.AdminGroup, "MQ_ADMIN_PASSWORD", "mqAdminPassword"},
}

// dev is what was found of the set-up before the manager starts.
type dev struct {
	objects bool // not with MQ_DEV=false
	appPass bool
	tls     bool
}

// devObjects reports that a start with --dev makes the objects.
func devObjects() bool { return !strings.EqualFold(os.Getenv("MQ_DEV"), "false") }

// devSetup makes the users. nil without --dev.
func (d *daemon) devSetup() (*dev, error) {
	if !d.opt.Dev {
		return nil, nil
	}
	v := &dev{objects: devObjects()}
	if !v.objects {
		return v, nil
	}
	given := map[string]string{}
	for _, u := range devUsers {
		p, err := devPassword(u)
		if err != nil {
			return nil, err
		}
		if p != "" {
			given[u.name] = p
		}
	}
	users, err := ReadUsers(d.dir)
	if err != nil {
		return nil, err
	}
	change := map[string]string{}
	for name, p := range given {
		if _, ok := users.Find(name); !ok || !users.Check(name, p) {
			change[name] = p
		}
	}
	if len(change) > 0 {
		err := editUsers(d.dir, func(users *auth.Users) error {
			for _, u := range devUsers {
				if p, ok := change[u.name]; ok {
					if err := users.Set(u.name, p, []string{u.group}); err != nil {
						return fmt.Errorf("--dev: user %s (%s): %w", u.name, u.env, err)
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if users, err = ReadUsers(d.dir); err != nil {
			return nil, err
		}
	}
	for _, u := range devUsers {
		if _, ok := users.Find(u.name); !ok {
			d.log.Info().Str("user", u.name).Msgf("user %s is not there: %s gives it a password", u.name, u.env)
		}
	}
	_, v.appPass = users.Find("app")
	return v, nil
}

// devPassword finds a password: in the environment, which programs started from here then do not have, in the file that the environment names, or
// among the secrets of a container.
func devPassword(u devUser) (string, error) {
	if p := os.Getenv(u.env); p != "" {
		return p, os.Unsetenv(u.env) // so that programs of SERVICE objects do not have it
	}
	name := os.Getenv(u.env + "_FILE")
	if name == "" {
		name = filepath.Join(containerSecrets, u.secret)
		if _, err := os.Stat(name); err != nil {
			return "", nil
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("--dev: password of user %s: %w", u.name, err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// devScript is the set-up as a script; %LISTEN%, %APPCHECK% and %TLS% are replaced.
const devScript = `
DEFINE QLOCAL('DEV.QUEUE.1') REPLACE
DEFINE QLOCAL('DEV.QUEUE.2') REPLACE
DEFINE QLOCAL('DEV.QUEUE.3') REPLACE
DEFINE QLOCAL('DEV.DEAD.LETTER.QUEUE') REPLACE
DEFINE QMODEL('DEV.APP.MODEL.QUEUE') DEFTYPE(TEMPDYN) REPLACE
DEFINE TOPIC('DEV.BASE.TOPIC') TOPICSTR('dev/') REPLACE
DEFINE AUTHINFO('DEV.AUTHINFO') AUTHTYPE(IDPWOS) CHCKCLNT(REQDADM) CHCKLOCL(OPTIONAL) ADOPTCTX(YES) REPLACE
ALTER QMGR DEADQ('DEV.DEAD.LETTER.QUEUE') CONNAUTH('DEV.AUTHINFO')
REFRESH SECURITY(*) TYPE(CONNAUTH)
DEFINE CHANNEL('DEV.ADMIN.SVRCONN') CHLTYPE(SVRCONN) %TLS% REPLACE
DEFINE CHANNEL('DEV.APP.SVRCONN') CHLTYPE(SVRCONN) MCAUSER('app') %TLS% REPLACE
SET CHLAUTH('*') TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS) DESCR('Nobody comes in but by a rule below') ACTION(REPLACE)
SET CHLAUTH('DEV.APP.SVRCONN') TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(CHANNEL) CHCKCLNT(%APPCHECK%) +
    DESCR('The channel of applications') ACTION(REPLACE)
SET CHLAUTH('DEV.ADMIN.SVRCONN') TYPE(BLOCKUSER) USERLIST('nobody') +
    DESCR('Administrators are not blocked here') ACTION(REPLACE)
SET CHLAUTH('DEV.ADMIN.SVRCONN') TYPE(USERMAP) CLNTUSER('admin') USERSRC(CHANNEL) +
    DESCR('Of all users this one') ACTION(REPLACE)
SET AUTHREC PROFILE('self') GROUP('mqclient') OBJTYPE(QMGR) AUTHADD(CONNECT,INQ)
SET AUTHREC PROFILE('DEV.**') GROUP('mqclient') OBJTYPE(QUEUE) AUTHADD(BROWSE,GET,INQ,PUT)
SET AUTHREC PROFILE('DEV.APP.MODEL.QUEUE') GROUP('mqclient') OBJTYPE(QUEUE) AUTHADD(BROWSE,DSP,GET,INQ,PUT)
SET AUTHREC PROFILE('DEV.**') GROUP('mqclient') OBJTYPE(TOPIC) AUTHADD(PUB,SUB)
%LISTEN%
`

// devNoPort takes the port away from the listener that create -p made: now, and at the next start.
const devNoPort = `
STOP LISTENER('SYSTEM.LISTENER.TCP.1') IGNSTATE(YES)
ALTER LISTENER('SYSTEM.LISTENER.TCP.1') TRPTYPE(TCP) CONTROL(MANUAL)
`

const devListener = `
DEFINE LISTENER('DEV.LISTENER.TCP') TRPTYPE(TCP) PORT(1414) CONTROL(QMGR) REPLACE
START LISTENER('DEV.LISTENER.TCP') IGNSTATE(YES)
`

// runDev makes the objects, and then runs the scripts that a container brings.
func (d *daemon) runDev(ctx context.Context, v *dev) error {
	if v == nil {
		return nil
	}
	if v.objects {
		if err := d.devKeys(v); err != nil {
			return err
		}
		s := &script{d: d, name: "--dev", id: auth.System(d.opt.Name)}
		if err := s.run(ctx, strings.NewReader(d.devText(v))); err != nil {
			return err
		}
		d.log.Info().Int("commands", s.n).Int("failed", s.failed).Bool("tls", v.tls).Msg("developer objects are there")
		if !v.tls {
			d.log.Warn().Str(obs.FieldAMQ, "AMQ9798W").Msg("--dev: clients send passwords without TLS, readable for whoever is in between; " +
				"this is for development")
		}
	}
	files, err := filepath.Glob(filepath.Join(containerScripts, "*.mqsc"))
	if err != nil {
		return err
	}
	d.opt.Scripts = append(files, d.opt.Scripts...) // Glob sorts
	return nil
}

// devText fills the script in. With --listen that port is the clients', and no listener is made.
func (d *daemon) devText(v *dev) string {
	check, tls, listen := "ASQMGR", "", devListener
	if v.appPass {
		check = "REQUIRED"
	}
	if v.tls {
		tls = "SSLCIPH(ANY_TLS12_OR_HIGHER) SSLCAUTH(OPTIONAL)"
	}
	switch {
	case d.opt.Listen != "":
		listen = ""
	case d.qm.Defined(qmgr.ClassListener, portListener):
		listen = devNoPort + devListener
	}
	return strings.NewReplacer("%APPCHECK%", check, "%TLS%", tls, "%LISTEN%", listen).Replace(devScript)
}

// devKeys uses the keys that a container brings when the queue manager has none of its own.
func (d *daemon) devKeys(v *dev) error {
	if d.keys.ring.Load() == nil {
		_, label := d.qm.KeyRepository()
		if err := d.keys.load(containerKeys, label); err != nil {
			return fmt.Errorf("--dev: %w", err)
		}
		d.keys.fallback = containerKeys
	}
	v.tls = d.keys.ring.Load() != nil
	return nil
}
