package wire

// Status is the body of STATUS. An empty one, which ends an unshared channel, has None set.
type Status struct {
	None  bool
	Code  Code
	Value int32 // only of length 12
	Long  bool
}

func (s *Status) decode(d *Decoder) {
	d.in = "STATUS"
	if d.rest() == 0 {
		s.None = true
		return
	}
	n := d.i32()
	if d.err == nil && n != 8 && n != 12 {
		d.fail(BadLength)
	}
	s.Code = Code(d.i32())
	if n == 12 {
		s.Long, s.Value = true, d.i32()
	}
}

func (s *Status) encode(e *Encoder) {
	switch {
	case s.None:
	case s.Long:
		e.i32(12)
		e.i32(int32(s.Code))
		e.i32(s.Value)
	default:
		e.i32(8)
		e.i32(int32(s.Code))
	}
}

// Socket is the body of SOCKET_ACTION.
type Socket struct {
	Conv, Req    uint32
	Action       Action
	Parm1, Parm2 int32
}

func (s *Socket) decode(d *Decoder) {
	d.in = "SOCKET_ACTION"
	s.Conv, s.Req = uint32(d.i32()), uint32(d.i32())
	s.Action = Action(d.i32())
	s.Parm1, s.Parm2 = d.i32(), d.i32()
}

func (s *Socket) encode(e *Encoder) {
	e.i32(int32(s.Conv))
	e.i32(int32(s.Req))
	e.i32(int32(s.Action))
	e.i32(s.Parm1)
	e.i32(s.Parm2)
}

// Notify is the body of NOTIFICATION.
type Notify struct {
	Hobj  int32 // -1: the whole connection
	Code  Note
	Value int32
}

func (n *Notify) decode(d *Decoder) {
	d.in = "NOTIFICATION"
	d.version([]int{16})
	n.Hobj, n.Code, n.Value = d.i32(), Note(d.i32()), d.i32()
}

func (n *Notify) encode(e *Encoder) {
	e.i32(1)
	e.i32(n.Hobj)
	e.i32(int32(n.Code))
	e.i32(n.Value)
}

// UserID is the body of USERID.
type UserID struct {
	User     string // 12, in capitals
	Password string // 12, only in compatibility mode
	LongUser string // 64, as the user wrote it
	SID      []byte
}

// sizeUserID is what clients send; a shorter one is read as far as it goes.
const (
	sizeUserID = 132
	maxSID     = 40
)

func (u *UserID) decode(d *Decoder) {
	d.in = "UID"
	d.id("UID ")
	u.User, u.Password = d.str(12), d.str(12)
	if d.err != nil || d.rest() < 64 {
		return
	}
	u.LongUser = d.str(64)
	if d.rest() == 0 {
		return
	}
	if n := int(d.u8()); n > 0 && n < maxSID {
		u.SID = d.take(n)
	}
}

func (u *UserID) encode(e *Encoder) {
	at := len(e.b)
	e.id("UID ")
	e.str(u.User, 12)
	e.str(u.Password, 12)
	e.str(u.LongUser, 64)
	e.u8(byte(len(u.SID)))
	e.raw(u.SID)
	e.zero(sizeUserID - (len(e.b) - at))
}

// ConAuth is the body of CONAUTH_INFO: the credentials of MQCSP.
type ConAuth struct {
	AuthType int32
	User     string
	Password string // as it is on the wire; protected when protection was agreed
	Token    string // FAP 17
	// Long is the header of FAP 17 with the lengths of a token.
	Long bool
}

// maxCredential bounds each of user id, password and token.
const maxCredential = 16384

func (c *ConAuth) decode(d *Decoder) {
	d.in = "CAUT"
	at := d.off
	d.id("CAUT")
	c.AuthType = d.i32()
	d.skip(8) // the lengths reserved for user id and password
	user, pass, token := d.i32(), d.i32(), int32(0)
	if d.err != nil {
		return
	}
	if user < 0 || pass < 0 || user > maxCredential || pass > maxCredential {
		d.fail(BadLength)
		return
	}
	// The two headers differ in 8 bytes, and nothing tells them apart but these: zeros, or a length that fits. A user id
	// can't begin with a NUL.
	c.Long = d.rest() >= 8+int(user)+int(pass) && d.b[at+24] == 0
	if c.Long {
		token = d.i32()
		d.skip(4)
		if token < 0 || token > maxCredential {
			d.fail(BadLength)
			return
		}
	}
	c.User = d.tx.Decode(d.take(int(user)))
	c.Password = d.tx.Decode(d.take(int(pass)))
	c.Token = d.tx.Decode(d.take(int(token)))
}

func (c *ConAuth) encode(e *Encoder) {
	user, pass := e.tx.Append(nil, c.User), e.tx.Append(nil, c.Password)
	token := e.tx.Append(nil, c.Token)
	e.id("CAUT")
	e.i32(c.AuthType)
	e.i32(int32(len(user)))
	e.i32(int32(len(pass)))
	e.i32(int32(len(user)))
	e.i32(int32(len(pass)))
	if c.Long {
		e.i32(int32(len(token)))
		e.i32(int32(len(token)))
	}
	e.raw(user)
	e.raw(pass)
	if c.Long {
		e.raw(token)
	}
}
