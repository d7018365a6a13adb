package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Config is qm.ini. Flags of qmgrd start win over it.
type Config struct {
	AdminGroup   string            // AdminSocket: Group — its members are administrators and may open the socket
	SegmentSize  int64             // Log: SegmentSize
	MemoryLimit  int64             // Store: MemoryLimit — of nonpersistent messages held in memory
	ErrorLogSize int64             // ErrorLog: MaxSize — bytes of AMQERR01.LOG
	HeapLimit    int64             // Process: HeapLimit — soft limit of the Go heap, 0 = none
	LowLatency   bool              // Process: LowLatency=YES — no processor sleeps while clients send much
	Inserts      map[string]string // Variables: any key, AutoCluster: ClusterName — values of +WORD+ in commands
	Warnings     []string

	// Channels: MaxChannels and MaxActiveChannels — instances of client channels; 0: no limit but of descriptors
	MaxChannels, MaxActiveChannels int64

	PlainPasswords  bool   // Security: PlainPasswords=YES — clients elsewhere may send passwords without TLS
	KeyPasswordFile string // SSL: KeyPasswordFile — holds the password of the PKCS#12 key repository
}

// addInsert notes the value of an insert.
func (c *Config) addInsert(word, v string) {
	if c.Inserts == nil {
		c.Inserts = map[string]string{}
	}
	c.Inserts[strings.ToUpper(word)] = v
}

// iniKeys is every key there is: where it goes and how it is read.
var iniKeys = map[string]func(c *Config, v string) error{
	"adminsocket.group": func(c *Config, v string) error { c.AdminGroup = v; return nil },
	// There is no automatic cluster, but scripts made for one name their cluster so.
	"autocluster.clustername": func(c *Config, v string) error { c.addInsert("AUTOCL", v); return nil },

	"security.plainpasswords":    yesNoKey(func(c *Config) *bool { return &c.PlainPasswords }),
	"channels.maxchannels":       sizeKey(func(c *Config) *int64 { return &c.MaxChannels }, 1, 65535),
	"channels.maxactivechannels": sizeKey(func(c *Config) *int64 { return &c.MaxActiveChannels }, 1, 65535),

	"ssl.keypasswordfile": func(c *Config, v string) error { c.KeyPasswordFile = v; return nil },

	"log.segmentsize":   sizeKey(func(c *Config) *int64 { return &c.SegmentSize }, 1<<20, 4<<30),
	"store.memorylimit": sizeKey(func(c *Config) *int64 { return &c.MemoryLimit }, 1<<20, 1<<40),
	"errorlog.maxsize":  sizeKey(func(c *Config) *int64 { return &c.ErrorLogSize }, 64<<10, 4<<30),
	"process.heaplimit": sizeKey(func(c *Config) *int64 { return &c.HeapLimit }, 32<<20, 1<<44),

	"process.lowlatency": yesNoKey(func(c *Config) *bool { return &c.LowLatency }),
}

func yesNoKey(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, v string) error {
		switch strings.ToUpper(v) {
		case "YES", "NO":
			*field(c) = strings.EqualFold(v, "YES")
			return nil
		}
		return fmt.Errorf("%q: use YES or NO", v)
	}
}

func sizeKey(field func(*Config) *int64, min, max int64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := parseSize(v)
		if err != nil {
			return err
		}
		if n < min || n > max {
			return fmt.Errorf("%d is out of range, allowed are %d to %d bytes", n, min, max)
		}
		*field(c) = n
		return nil
	}
}

// parseSize reads a number of bytes with an optional K, M or G.
func parseSize(v string) (int64, error) {
	digits, shift := v, 0
	if v != "" {
		switch v[len(v)-1] {
		case 'k', 'K':
			digits, shift = v[:len(v)-1], 10
		case 'm', 'M':
			digits, shift = v[:len(v)-1], 20
		case 'g', 'G':
			digits, shift = v[:len(v)-1], 30
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("%q is not a size such as 64M", v)
	}
	return n << shift, nil
}

// ReadConfig reads dir/qm.ini. A key or stanza that is not known is a warning, because a file made for the vendor's
// product must not keep a manager from starting; a known key with a bad value is an error.
func ReadConfig(dir string) (Config, error) {
	name := filepath.Join(dir, "qm.ini")
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, err
	}
	defer f.Close()
	var c Config
	stanza := ""
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(sc.Text(), "\ufeff"))
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, val, isKey := strings.Cut(line, "=")
		if !isKey {
			if s, ok := strings.CutSuffix(line, ":"); ok && s != "" {
				stanza = strings.TrimSpace(s)
				continue
			}
			return c, fmt.Errorf("%s:%d: %q is neither a stanza (Name:) nor Key=Value", name, n, line)
		}
		key, val = strings.TrimSpace(key), strings.TrimSpace(val)
		if strings.EqualFold(stanza, "Variables") {
			c.addInsert(key, val)
			continue
		}
		set, ok := iniKeys[strings.ToLower(stanza+"."+key)]
		if !ok {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s:%d: key %s of stanza %s is not known and has no effect",
				name, n, key, stanza))
			continue
		}
		if err := set(&c, val); err != nil {
			return c, fmt.Errorf("%s:%d: %s: %w", name, n, key, err)
		}
	}
	if err := sc.Err(); err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// initialIni is what qm.ini says after qmgrd create.
const initialIni = `# Queue manager %s: qmgrd reads this file at start. Sizes take K, M or G. Every line may be left out.

#AdminSocket:
#   Group=mqm              members administer this manager and may open admin.sock

#Log:
#   SegmentSize=64M        size of one log segment

#Store:
#   MemoryLimit=64M        of nonpersistent messages held in memory before further ones spill to disk

#ErrorLog:
#   MaxSize=32M            size of errors/AMQERR01.LOG before it becomes 02

#Channels:
#   MaxChannels=2000       instances of client channels at most
#   MaxActiveChannels=2000

#Security:
#   PlainPasswords=NO      YES: clients of other machines may send passwords without TLS, readable for others

#SSL:
#   KeyPasswordFile=       file that holds the password of the PKCS#12 key repository

#Process:
#   HeapLimit=512M         soft limit of the heap; the garbage collector works harder near it
#   LowLatency=NO          YES: while clients send much no processor of the machine sleeps (start --low-latency)
`
