package mqi

import (
	"strings"
)

// Properties to MQRFH2 folders and back.

const contentProperties = "properties"

// isPropFolder reports the folders whose elements are properties without a content attribute that says so.
func isPropFolder(name string) bool {
	switch name {
	case "usr", "jms", "mcd", "mqext", "mqps", "mqpse", "mq", "mq_usr", "sib", "sib_usr", "sib_context":
		return true
	}
	return false
}

// folderHead reads a folder's first tag: its name, and whether it holds properties. A folder whose tag is not well formed
// holds none.
func folderHead(text string) (name string, props bool) {
	p := &folderParser{s: text}
	p.blanks()
	e, _, err := p.tag()
	if err != nil {
		return "", false
	}
	content, _ := e.attr("content")
	return e.name, isPropFolder(e.name) || content == contentProperties
}

// FolderProps reads the properties of a folder. Elements that are no property are left out: those whose name no property
// can have. A folder that is not well formed gives 2421.
func FolderProps(text string) ([]Property, error) {
	e, err := parseFolder(text)
	if err != nil {
		return nil, Wrap("read", "MQRFH2 folder", MQRC_RFH_FORMAT_ERROR, err)
	}
	var out []Property
	for _, k := range e.kids {
		if out, err = folderProps(out, e.name, k); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func folderProps(out []Property, prefix string, e *element) ([]Property, error) {
	if strings.Contains(e.name, ".") {
		return out, nil // the dot separates the parts of a property's name
	}
	name := prefix + "." + e.name
	if len(e.kids) > 0 {
		if prefix == "usr" {
			return out, nil // usr holds no groups
		}
		var err error
		for _, k := range e.kids {
			if out, err = folderProps(out, name, k); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if CheckPropName(name) != 0 {
		return out, nil
	}
	p := Property{Name: CanonicalPropName(name), PD: elementPD(e, prefix)}
	ok := true
	dt, typed := e.attr("dt")
	typ, known := typeOfDT(dt)
	nilled, _ := e.attr("xsi:nil")
	switch {
	case nilled == "true":
		p.Value = PropNull()
	case typed && known:
		p.Value, ok = valueOf(typ, e.text)
	case typed:
		p.Value, p.TypeString = PropString(e.text), dt[:min(len(dt), 8)]
	default:
		p.Value = PropString(e.text)
		if typ := impliedTypes[p.Name]; typ != 0 {
			if v, good := valueOf(typ, e.text); good {
				p.Value = v
			}
		}
	}
	if !ok {
		return nil, Wrap("read", "MQRFH2 element "+name, MQRC_RFH_FORMAT_ERROR, errFolder)
	}
	return append(out, p), nil
}

// elementPD reads what an element's attributes say about its property. Support is said in the folder mq alone.
func elementPD(e *element, folder string) PD {
	pd := DefaultPD()
	if v, ok := e.attr("context"); ok && v == "user" {
		pd.Context = MQPD_USER_CONTEXT
	}
	if v, ok := e.attr("copy"); ok {
		pd.CopyOptions = MQCOPY_NONE
		for _, w := range strings.Split(v, ",") {
			for _, c := range copyWords {
				if strings.TrimSpace(w) == c.word {
					pd.CopyOptions |= c.bit
				}
			}
		}
	}
	if folder == "mq" {
		if v, _ := e.attr("sr"); v == "required" {
			pd.Support = MQPD_SUPPORT_REQUIRED
		} else if v, _ := e.attr("sx"); v == "local" {
			pd.Support = MQPD_SUPPORT_REQUIRED_IF_LOCAL
		}
	}
	return pd
}

var copyWords = [...]struct {
	word string
	bit  int32
}{{"forward", MQCOPY_FORWARD}, {"publish", MQCOPY_PUBLISH}, {"reply", MQCOPY_REPLY}, {"report", MQCOPY_REPORT},
	{"all", MQCOPY_ALL}, {"default", MQCOPY_DEFAULT}}

func pdAttrs(folder string, pd PD) []elementAttr {
	var out []elementAttr
	if pd.Context&MQPD_USER_CONTEXT != 0 {
		out = append(out, elementAttr{"context", "user"})
	}
	if pd.CopyOptions != MQCOPY_DEFAULT {
		var words []string
		for _, c := range copyWords[:4] {
			if pd.CopyOptions&c.bit != 0 {
				words = append(words, c.word)
			}
		}
		switch {
		case pd.CopyOptions&MQCOPY_ALL != 0:
			words = []string{"all"}
		case len(words) == 0:
			words = []string{"none"}
		}
		out = append(out, elementAttr{"copy", strings.Join(words, ",")})
	}
	if folder == "mq" {
		switch {
		case pd.Support&MQPD_REJECT_UNSUP_MASK != 0:
			out = append(out, elementAttr{"sr", "required"})
		case pd.Support&MQPD_ACCEPT_UNSUP_IF_XMIT_MASK != 0:
			out = append(out, elementAttr{"sx", "local"})
		}
	}
	return out
}

// PropFolders gives the texts of the folders that hold the properties: mcd, jms and usr first, then the others as they
// come. Of two properties with one name in a folder both are written, as MQSETMP with APPEND allows.
func PropFolders(props []Property) []string {
	var roots []*element
	for _, name := range [...]string{"mcd", "jms", "usr"} {
		roots = append(roots, &element{name: name})
	}
	for i := range props {
		folder, path := splitPropName(props[i].Name)
		root := childNamed(&roots, folder, true)
		if !isPropFolder(folder) && len(root.attrs) == 0 {
			root.attrs = []elementAttr{{"content", contentProperties}}
		}
		at := root
		for _, group := range path[:len(path)-1] {
			at = childNamed(&at.kids, group, false)
		}
		at.kids = append(at.kids, propElement(folder, path[len(path)-1], &props[i]))
	}
	var out []string
	for _, r := range roots {
		if len(r.kids) == 0 {
			continue
		}
		var b strings.Builder
		r.write(&b)
		out = append(out, b.String())
	}
	return out
}

// childNamed finds the folder or group with a name or makes it. An element without others in it is a value, not a group.
func childNamed(among *[]*element, name string, folders bool) *element {
	for _, e := range *among {
		if e.name == name && (folders || len(e.kids) > 0) {
			return e
		}
	}
	e := &element{name: name}
	*among = append(*among, e)
	return e
}

func propElement(folder, name string, p *Property) *element {
	e := &element{name: name, text: p.Value.element()}
	switch {
	case p.Value.Type == MQTYPE_NULL:
		e.attrs = append(e.attrs, elementAttr{"xsi:nil", "true"})
	case p.TypeString != "":
		e.attrs = append(e.attrs, elementAttr{"dt", p.TypeString})
	case p.Value.Type == MQTYPE_STRING && impliedTypes[p.Name] == 0, p.Value.Type == impliedTypes[p.Name]:
	default:
		e.attrs = append(e.attrs, elementAttr{"dt", dtOfType(p.Value.Type)})
	}
	e.attrs = append(e.attrs, pdAttrs(folder, p.PD)...)
	return e
}
