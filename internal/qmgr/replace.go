package qmgr

// keepFixed gives a definition that replaces another what it may not change and does not name: a topic or a subscription
// stays on its topic string, so DEFINE TOPIC(T) DEFPRTY(5) REPLACE is enough. A subscription keeps where it delivers too,
// because it has no default for that.
func (x *exec) keepFixed(d, old *Def) {
	var keys []string
	switch d.Kind {
	case "TOPIC":
		keys = []string{"TOPICSTR"}
	case "SUB":
		for _, f := range subFixed {
			keys = append(keys, f.key)
		}
		if !x.c.Has("DEST") && !x.c.Has("DESTCLAS") {
			keys = append(keys, "DEST", "DESTQMGR")
		}
		switch {
		case old.subExtra().group:
			keys = append(keys, subGroup...)
		case !x.c.Has("DESTCORL") && d.Name != templateSub:
			d.set("DESTCORL", old.Get("SUBID")) // as when it was new; 48 zeros, when they are given, keep the publisher's
		}
	}
	for _, k := range keys {
		if !x.c.Has(k) {
			d.set(k, old.Get(k))
		}
	}
}
