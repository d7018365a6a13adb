package qmgr

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// inserts replaces what may stand between plus signs in the texts of a SERVICE.
func (m *Manager) inserts(pid int) *strings.Replacer {
	return strings.NewReplacer(
		"+QMNAME+", m.opt.Name,
		"+MQ_Q_MGR_NAME+", m.opt.Name,
		"+MQ_Q_MGR_DATA_PATH+", m.opt.Dir,
		"+MQ_Q_MGR_DATA_NAME+", m.opt.Name,
		"+MQ_DATA_PATH+", m.opt.Dir,
		"+MQ_INSTALL_PATH+", "",
		"+MQ_USER_ID+", m.opt.User,
		"+MQ_SERVER_PID+", strconv.Itoa(pid),
	)
}

func (m *Manager) serviceSpec(o *Object, pid int) ServiceSpec {
	d, in := o.Def(), m.inserts(pid)
	stop := d.Get("STOPCMD")
	if strings.TrimSpace(stop) == "+MQ_SERVER_PID+" {
		stop = "" // the process itself: the host ends it
	}
	return ServiceSpec{
		Name: o.Name, StartCmd: in.Replace(d.Get("STARTCMD")), StartArg: in.Replace(d.Get("STARTARG")),
		StopCmd: in.Replace(stop), StopArg: in.Replace(d.Get("STOPARG")),
		Stdout: in.Replace(d.Get("STDOUT")), Stderr: in.Replace(d.Get("STDERR")),
		Server: d.Get("SERVTYPE") == "SERVER",
	}
}

var errServiceRuns = errors.New("it is active already")

// runService starts the program of a service. A server is watched; a command is forgotten once it runs.
func (m *Manager) runService(o *Object) error {
	spec, run := m.serviceSpec(o, 0), o.runOf()
	if !spec.Server {
		_, err := m.opt.Services.Start(spec)
		return err
	}
	if !run.move(runIdle, runStarting) {
		return errServiceRuns
	}
	spec.Ended = func(exit int) {
		run.set(runIdle, 0, "", time.Time{})
		m.opt.Log.Info().Str("service", o.Name).Int("exit", exit).Msg("program of service ended")
	}
	pid, err := m.opt.Services.Start(spec)
	if err != nil {
		run.set(runIdle, 0, "", time.Time{})
		return err
	}
	now := m.opt.Clock.Now()
	run.mu.Lock()
	defer run.mu.Unlock()
	if run.state == runStarting { // it may have ended at once
		run.state, run.pid, run.started = runRunning, pid, now
	}
	return nil
}

// startService runs START SERVICE.
func (x *exec) startService() *attr.Reply {
	o, r := x.runnable(ClassService)
	if r != nil {
		return r
	}
	switch {
	case blank(o.Def().Get("STARTCMD")):
		return failed(mqi.MQRCCF_SERVICE_NAME_ERROR, msgServiceFailed, o.Name, "STARTCMD is blank")
	case x.m.opt.Services == nil:
		return failed(mqi.MQRCCF_COMMAND_FAILED, msgServiceFailed, o.Name, "this queue manager starts no programs")
	}
	switch err := x.m.runService(o); {
	case errors.Is(err, errServiceRuns):
		if x.yes("IGNSTATE") {
			return x.success(o.Name)
		}
		return failed(mqi.MQRCCF_SERVICE_RUNNING, msgServiceActive, o.Name)
	case err != nil:
		return failed(mqi.MQRCCF_COMMAND_FAILED, msgServiceFailed, o.Name, err.Error())
	}
	return x.success(o.Name)
}

// stopService runs STOP SERVICE: a server's program is ended by STOPCMD, or by the host when there is none.
func (x *exec) stopService() *attr.Reply {
	o, r := x.runnable(ClassService)
	if r != nil {
		return r
	}
	run := o.runOf()
	server := o.Def().Get("SERVTYPE") == "SERVER"
	if server && !run.move(runRunning, runStopping) {
		if x.yes("IGNSTATE") {
			return x.success(o.Name)
		}
		return failed(mqi.MQRCCF_SERVICE_STOPPED, msgServiceIdle, o.Name)
	}
	if x.m.opt.Services == nil {
		return failed(mqi.MQRCCF_COMMAND_FAILED, msgServiceFailed, o.Name, "this queue manager starts no programs")
	}
	if err := x.m.endService(o, run); err != nil {
		run.move(runStopping, runRunning)
		return failed(mqi.MQRCCF_COMMAND_FAILED, msgServiceFailed, o.Name, err.Error())
	}
	return x.success(o.Name)
}

func (m *Manager) endService(o *Object, run *running) error {
	_, pid, _, _ := run.snapshot()
	return m.opt.Services.Stop(m.serviceSpec(o, pid))
}

// displaySvstatus runs DISPLAY SVSTATUS: the servers that run.
func (x *exec) displaySvstatus() *attr.Reply {
	var rows []map[string]string
	for _, o := range x.list(x.c.Name, ClassService) {
		run := o.run.Load()
		if run == nil {
			continue
		}
		state, pid, _, started := run.snapshot()
		if state == runIdle {
			continue
		}
		d := o.Def()
		row := map[string]string{"SERVICE": o.Name, "STATUS": runNames[state], "PID": strconv.Itoa(pid),
			"STARTDA": dateOrBlank(started), "STARTTI": timeOrBlank(started)}
		for _, k := range []string{"SERVTYPE", "CONTROL", "DESCR", "STARTCMD", "STARTARG", "STOPCMD", "STOPARG", "STDOUT", "STDERR"} {
			row[k] = d.Get(k)
		}
		rows = append(rows, row)
	}
	q := x.request([]string{"STATUS", "PID"}, nil)
	return orElse(x.showRows("SVSTATUS", q, rows), failed(mqi.MQRCCF_SERV_STATUS_NOT_FOUND, msgNoServiceStatus, x.c.Name))
}

// hostName is for DISPLAY QMSTATUS.
func hostName() string {
	h, err := os.Hostname()
	if err != nil {
		return ""
	}
	return h
}
