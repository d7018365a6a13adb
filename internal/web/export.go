package web

import (
	"io"
	"net/url"

	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// exportOptions reads which part of a queue manager is to be exported, in the words of dmpmqcfg.
func exportOptions(q url.Values, all, mqOnly bool) qmgr.ExportOptions {
	return qmgr.ExportOptions{All: all, MQOnly: mqOnly, Export: q.Get("export"), Type: q.Get("type"), Name: q.Get("name"),
		Format: q.Get("format")}
}

// export refuses what is not known before anything is sent.
func (s *Server) export(w io.Writer, o qmgr.ExportOptions) error {
	if err := o.Check(); err != nil {
		return refuse("MQWB0104E", "%v", err)
	}
	return s.opt.Manager.Export(w, o)
}
