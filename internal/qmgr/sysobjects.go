package qmgr

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// ErrExists: the store holds a queue manager already.
var ErrExists = errors.New("queue manager exists already")

// Create fills an empty store with what a new queue manager has: its own definition, the SYSTEM objects, the default
// channel authentication and authority records. All of it in one unit: it is there whole or not at all.
func Create(o Options) error {
	m, err := newManager(o)
	if err != nil {
		return err
	}
	defer m.cancel()
	if err := m.loadObjects(); err != nil {
		return err
	}
	if m.lookup(ClassQmgr, qmgrName) != nil {
		return fmt.Errorf("%s: %w", o.Name, ErrExists)
	}
	c := creator{m: m, u: &unit{}}
	if err := c.all(); err != nil {
		return err
	}
	if _, err := o.Store.Commit(context.Background(), &c.u.tx); err != nil {
		return fmt.Errorf("creating %s: %w", o.Name, err)
	}
	return nil
}

// creator collects the objects of a new queue manager.
type creator struct {
	m    *Manager
	u    *unit
	made []attr.SystemObject
}

func (c *creator) all() error {
	if err := c.qmgr(); err != nil {
		return err
	}
	for _, s := range attr.SystemObjects() {
		if s.QSG || s.Kind == "CHLAUTH" || s.Kind == "QMGR" {
			continue
		}
		if err := c.object(s); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	for _, s := range attr.SystemObjects() {
		if s.Kind == "CHLAUTH" {
			if err := c.chlauth(s); err != nil {
				return fmt.Errorf("channel authentication %s: %w", s.Name, err)
			}
		}
	}
	return c.authrecs()
}

// qmgr makes the queue manager's own definition.
func (c *creator) qmgr() error {
	m := c.m
	d, err := newDef("QMGR", m.opt.Name)
	if err != nil {
		return err
	}
	now := m.opt.Clock.Now()
	d.stampCreated(now)
	d.set("QMNAME", m.opt.Name)
	d.set("QMID", m.opt.Name+"_"+mqDate(now)+"_"+mqTime(now))
	for _, k := range []string{"CERTLABL", "SSLKEYR"} {
		d.set(k, newQmgrValue(m, k))
	}
	m.putObject(c.u, &Object{Class: ClassQmgr, Name: qmgrName}, d)
	return nil
}

// newQmgrValue is the first value of attributes that follow from name and place of a queue manager.
func newQmgrValue(m *Manager, k string) string {
	switch {
	case k == "CERTLABL":
		return "ibmwebspheremq" + strings.ToLower(m.opt.Name)
	case m.opt.Dir != "":
		return m.opt.Dir + "/ssl/key"
	}
	return ""
}

// keyReposAtHome is how the key repository in the data directory is stored: the directory may be moved, and a new
// queue manager is made in a place that is not its last.
const keyReposAtHome = "+MQ_Q_MGR_DATA_PATH+/ssl/key"

// atHome puts the data directory of this run into a definition that was read.
func (m *Manager) atHome(d *Def) {
	if d.Kind == "QMGR" && d.Get("SSLKEYR") == keyReposAtHome {
		d.set("SSLKEYR", newQmgrValue(m, "SSLKEYR"))
	}
}

// portable is a definition as it is stored.
func (m *Manager) portable(d *Def) *Def {
	if d.Kind != "QMGR" || m.opt.Dir == "" || d.Get("SSLKEYR") != newQmgrValue(m, "SSLKEYR") {
		return d
	}
	c := d.clone()
	c.set("SSLKEYR", keyReposAtHome)
	return c
}

// systemDef is a SYSTEM object as a new queue manager has it.
func systemDef(s attr.SystemObject) (*Def, error) {
	d, err := newDef(s.Kind, s.Name)
	if err != nil {
		return nil, err
	}
	for _, kv := range s.Attrs {
		if _, ok := d.Schema.Index(kv.Key); !ok {
			return nil, fmt.Errorf("%s: no attribute %s", s.Name, kv.Key)
		}
		d.set(kv.Key, kv.Val)
	}
	d.set("DESCR", s.Descr)
	d.fix()
	return d, nil
}

func (c *creator) object(s attr.SystemObject) error {
	d, err := systemDef(s)
	if err != nil {
		return err
	}
	d.stampCreated(c.m.opt.Clock.Now())
	if s.Kind == "SUB" {
		d.set("SUBID", c.m.newSubID())
	}
	c.m.putObject(c.u, &Object{Class: classOf(s.Kind), Name: s.Name}, d)
	c.made = append(c.made, s)
	return nil
}

// systemChlauth is a default channel authentication record.
func systemChlauth(s attr.SystemObject) (*Def, error) {
	vals := map[string]string{}
	for _, kv := range s.Attrs {
		vals[kv.Key] = kv.Val
	}
	var keys []string
	for _, k := range chlauthTypes[vals["TYPE"]].keys {
		keys = append(keys, vals[k])
	}
	d, err := newDef("CHLAUTH", chlauthKey(s.Name, vals["TYPE"], keys...))
	if err != nil {
		return nil, err
	}
	for k, v := range vals {
		d.set(k, v)
	}
	d.set("DESCR", s.Descr)
	return d, nil
}

func (c *creator) chlauth(s attr.SystemObject) error {
	d, err := systemChlauth(s)
	if err != nil {
		return err
	}
	d.stampAltered(c.m.opt.Clock.Now())
	c.m.putObject(c.u, &Object{Class: ClassChlauth, Name: d.Name}, d)
	return nil
}

// ownerGroup is the group that owns the product in the vendor's installations; scripts and tools name it.
const ownerGroup = "mqm"

// authrecs gives the owning groups every authority over the objects, and the right to make more.
func (c *creator) authrecs() error {
	groups := []string{ownerGroup}
	if g := c.m.opt.Group; g != "" && g != ownerGroup {
		groups = append(groups, g)
	}
	for _, g := range groups {
		if err := c.authrec("QMGR", selfProfile, g, authsOf["QMGR"]); err != nil {
			return err
		}
		for t := range authsOf {
			if err := c.authrec(t, classProfile, g, []string{crtAuth}); err != nil {
				return err
			}
		}
		for _, s := range c.made {
			if t := authTypeOf(classOf(s.Kind)); t != "" {
				if err := c.authrec(t, s.Name, g, authsOf[t]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *creator) authrec(objType, profile, group string, auths []string) error {
	if objType == "RQMNAME" {
		return nil // remote queue managers are not made
	}
	d, err := authrecDef(objType, profile, "GROUP", group)
	if err != nil {
		return err
	}
	set := map[string]bool{}
	for _, a := range auths {
		set[a] = true
	}
	d.set("AUTHLIST", authList(set))
	c.m.putObject(c.u, &Object{Class: ClassAuthrec, Name: d.Name}, d)
	return nil
}
