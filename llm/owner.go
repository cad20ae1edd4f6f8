package llm

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Owner is the user whose program listens at an address of this machine.
type Owner struct {
	Host    string // its address, as 127.0.0.1:11434; "": no connection was made
	Name    string // bob, or 1001 for a user without a name; "": unknown
	UID     int
	Foreign bool // it is none of the users who are trusted, so nothing is sent there
}

// String names the owner for the user.
func (o Owner) String() string {
	switch {
	case o.Name == "":
		return "an unknown user"
	case o.UID == os.Getuid():
		return "you"
	case o.Name == strconv.Itoa(o.UID):
		return "the user with uid " + o.Name
	}
	return fmt.Sprintf("%s (uid %d)", o.Name, o.UID)
}

// ForeignError is the ErrUnreachable of a server that was only found, and that
// another user of this machine owns.
type ForeignError struct{ Owner Owner }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("the model server at %s belongs to %s, not to you, so nothing is sent to it", e.Owner.Host, e.Owner)
}

func (e *ForeignError) Unwrap() error { return ErrUnreachable }

// Advice says how to allow the server.
func (e *ForeignError) Advice() string {
	if e.Owner.Name == "" {
		return fmt.Sprintf("to use it, name it: `ollama.host: %s` in the settings, or OLLAMA_HOST", e.Owner.Host)
	}
	return fmt.Sprintf("to use it, set `ollama_owner: %s` in the settings, or LIFEHUB_OLLAMA_OWNER=%s", e.Owner.Name, e.Owner.Name)
}

// ownerCheck lets connections through to a server that no setting names: those
// whose listener belongs to this user, to root, to the user ollama, or to the
// user that the settings allow. Each connection is checked, since the server
// may end and another user's program take its port.
type ownerCheck struct {
	allowed   atomic.Pointer[string] // name or uid; nil: nobody else
	last      atomic.Pointer[Owner]  // of the last connection
	listeners func(local, remote netip.AddrPort) ([]int, error)
}

// connected returns a ForeignError if nothing may be sent over a connection.
// Where the system does not tell the owner, it may.
func (c *ownerCheck) connected(conn net.Conn) error {
	remote := addrPort(conn.RemoteAddr())
	owner := Owner{Host: conn.RemoteAddr().String()}
	uids, err := c.listeners(addrPort(conn.LocalAddr()), remote)
	if err == nil {
		owner = c.ownerOf(uids)
		owner.Host = conn.RemoteAddr().String()
	}
	c.last.Store(&owner)
	if owner.Foreign {
		return &ForeignError{owner}
	}
	return nil
}

// ownerOf is the owner among all who may answer: one who is not trusted, if
// there is one. If nobody listens any more, whoever took the connection is not.
func (c *ownerCheck) ownerOf(uids []int) Owner {
	owner := Owner{Foreign: true}
	for _, uid := range uids {
		owner = Owner{UID: uid, Name: strconv.Itoa(uid)}
		if known, err := user.LookupId(owner.Name); err == nil {
			owner.Name = known.Username
		}
		allowed := c.allowed.Load()
		named := allowed != nil && (*allowed == owner.Name || *allowed == strconv.Itoa(uid))
		if owner.Foreign = !named && uid != 0 && uid != os.Getuid() && uid != os.Geteuid() && owner.Name != "ollama"; owner.Foreign {
			break
		}
	}
	return owner
}

func addrPort(address net.Addr) netip.AddrPort {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}

// socketTables are Linux's lists of the TCP sockets of this machine.
var socketTables = [...]string{"/proc/net/tcp", "/proc/net/tcp6"}

// listeners returns the users who may have taken a connection from local to
// remote. An error says that the system does not tell.
func listeners(local, remote netip.AddrPort) (uids []int, err error) {
	for i, file := range socketTables {
		table, err := os.ReadFile(file)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // a system without IPv6
		}
		if err != nil {
			return nil, err
		}
		found, err := ownersIn(string(table), local, remote)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		uids = append(uids, found...)
	}
	slices.Sort(uids)
	return slices.Compact(uids), nil
}

// The states of a socket in a table.
const (
	established = "01"
	listening   = "0A"
)

// ownersIn returns the users in a table of sockets who may have taken a
// connection: those who listen at remote, at all addresses too, and whoever
// holds its other end. That end belongs to root until it is accepted.
func ownersIn(table string, local, remote netip.AddrPort) (uids []int, err error) {
	for i, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
		fields := strings.Fields(line)
		if i == 0 && len(fields) > 3 && fields[3] == "st" {
			continue
		}
		if len(fields) < 8 {
			return nil, fmt.Errorf("line %d is not that of a socket", i+1)
		}
		at, err := socketAddress(fields[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		peer, err := socketAddress(fields[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		uid, err := strconv.Atoi(fields[7])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		switch fields[3] {
		case listening:
			all := at.Addr().IsUnspecified() && (at.Addr().Is6() || remote.Addr().Is4())
			if at.Port() == remote.Port() && (all || at.Addr() == remote.Addr()) {
				uids = append(uids, uid)
			}
		case established:
			if at == remote && peer == local && uid != 0 {
				uids = append(uids, uid)
			}
		}
	}
	return uids, nil
}

// socketAddress reads an address of a table: the IP as words of the machine's
// byte order, and the port, in hex. One of IPv4 in IPv6 is that of IPv4.
func socketAddress(text string) (netip.AddrPort, error) {
	words, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(words)
	number, wrong := strconv.ParseUint(port, 16, 16)
	if err != nil || wrong != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address", text)
	}
	for word := raw; len(word) > 0; word = word[4:] {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	ip, _ := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), nil
}
