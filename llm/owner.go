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

// Owner is the user who owns the process listening on a local address.
type Owner struct {
	Host    string // address, such as 127.0.0.1:11434; empty if no connection was made
	Name    string // user name, or the uid if there is none; empty if unknown
	UID     int
	Foreign bool // not a trusted user, so nothing is sent
}

// String returns the owner as shown to the user.
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

// ForeignError is returned for a server that was found automatically and belongs
// to another user of this machine. It matches ErrUnreachable.
type ForeignError struct{ Owner Owner }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("the model server at %s belongs to %s, not to you, so nothing is sent to it", e.Owner.Host,
		e.Owner)
}

func (e *ForeignError) Unwrap() error { return ErrUnreachable }

// Advice returns instructions for allowing the server.
func (e *ForeignError) Advice() string {
	if e.Owner.Name == "" {
		return fmt.Sprintf("to use it, name it: `ollama.host: %s` in the settings, or OLLAMA_HOST", e.Owner.Host)
	}
	return fmt.Sprintf("to use it, set `ollama_owner: %s` in the settings, or LIFEHUB_OLLAMA_OWNER=%s",
		e.Owner.Name, e.Owner.Name)
}

// ownerCheck permits connections to a server that no setting names only if its
// listener belongs to this user, root, the user ollama, or the user allowed in
// the settings. It checks each connection, since the server may exit and a
// process of another user take its port.
type ownerCheck struct {
	allowed atomic.Pointer[string] // user name or uid; nil: no additional user
	last    atomic.Pointer[Owner]  // of the last connection
	sockets sockets
}

// sockets has the open connections of this machine. socketTables is the real one.
type sockets interface {
	// listeners returns the users who may have accepted a connection from local
	// to remote. It returns an error if the system does not report them.
	listeners(local, remote netip.AddrPort) (uids []int, err error)
}

// connected returns a ForeignError if nothing may be sent over conn. If the
// system does not report the owner, the connection is permitted.
func (c *ownerCheck) connected(conn net.Conn) error {
	remote := addrPort(conn.RemoteAddr())
	owner := Owner{Host: conn.RemoteAddr().String()}
	uids, err := c.sockets.listeners(addrPort(conn.LocalAddr()), remote)
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

// ownerOf returns the least trusted owner among all that may answer. If uids is
// empty, because the listener is gone, the owner is not trusted.
func (c *ownerCheck) ownerOf(uids []int) Owner {
	owner := Owner{Foreign: true}
	for _, uid := range uids {
		owner = Owner{UID: uid, Name: strconv.Itoa(uid)}
		if known, err := user.LookupId(owner.Name); err == nil {
			owner.Name = known.Username
		}
		allowed := c.allowed.Load()
		named := allowed != nil && (*allowed == owner.Name || *allowed == strconv.Itoa(uid))
		ours := uid == os.Getuid() || uid == os.Geteuid()
		if owner.Foreign = !named && !ours && uid != 0 && owner.Name != "ollama"; owner.Foreign {
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

// socketTables are files with tables of TCP sockets.
type socketTables []string

// linuxTables are those of Linux, the second one for IPv6.
var linuxTables = socketTables{"/proc/net/tcp", "/proc/net/tcp6"}

func (t socketTables) listeners(local, remote netip.AddrPort) (uids []int, err error) {
	for i, file := range t {
		table, err := os.ReadFile(file)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // IPv6 is disabled
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

// Socket states in a table.
const (
	established = "01"
	listening   = "0A"
)

// ownersIn returns the users in a socket table who may have accepted a
// connection: owners of sockets listening at remote or at the wildcard address,
// and the owner of the connection's other end. Until it is accepted, that end is
// reported as owned by root.
func ownersIn(table string, local, remote netip.AddrPort) (uids []int, err error) {
	for i, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
		fields := strings.Fields(line)
		if i == 0 && len(fields) > 3 && fields[3] == "st" {
			continue
		}
		if len(fields) < 8 {
			return nil, fmt.Errorf("line %d is not a socket", i+1)
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

// socketAddress parses an address of a table: the IP as hexadecimal words in the
// machine's byte order, and the port in hexadecimal. IPv4-mapped IPv6 addresses
// become IPv4.
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
