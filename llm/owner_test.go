package llm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"lifehub/internal/testenv"
)

// inTable formats an address as Linux lists it on this machine.
func inTable(address string) string {
	at := netip.MustParseAddrPort(address)
	raw := at.Addr().AsSlice()
	var text strings.Builder
	for word := raw; len(word) > 0; word = word[4:] {
		fmt.Fprintf(&text, "%08X", binary.NativeEndian.Uint32(word))
	}
	return fmt.Sprintf("%s:%04X", text.String(), at.Port())
}

const tableHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

// socket formats a line of a table.
func socket(at, peer, state string, uid int) string {
	return fmt.Sprintf("   0: %s %s %s 00000000:00000000 00:00000000 00000000 %5d        0 48 1 00000000d04e8928 100 "+
		"0 0 10 0\n", inTable(at), inTable(peer), state, uid)
}

func TestSocketTableNamesPossibleListeners(t *testing.T) {
	t.Parallel()
	const none, none6 = "0.0.0.0:0", "[::]:0"
	for name, c := range map[string]struct {
		table  string
		remote string // "": 127.0.0.1:11434
		want   []int
	}{
		"nobody":                    {"", "", nil},
		"the address":               {socket("127.0.0.1:11434", none, "0A", 1001), "", []int{1001}},
		"all addresses":             {socket("0.0.0.0:11434", none, "0A", 1001), "", []int{1001}},
		"all addresses of IPv6":     {socket("[::]:11434", none6, "0A", 1001), "", []int{1001}},
		"IPv4 in IPv6":              {socket("[::ffff:127.0.0.1]:11434", none6, "0A", 1001), "", []int{1001}},
		"IPv6":                      {socket("[::1]:11434", none6, "0A", 1001), "[::1]:11434", []int{1001}},
		"IPv6, all addresses":       {socket("[::]:11434", none6, "0A", 1001), "[::1]:11434", []int{1001}},
		"IPv4 does not answer IPv6": {socket("0.0.0.0:11434", none, "0A", 1001), "[::1]:11434", nil},
		"IPv6 does not answer IPv4": {socket("[::1]:11434", none6, "0A", 1001), "", nil},
		"another port":              {socket("127.0.0.1:11435", none, "0A", 1001), "", nil},
		"another address":           {socket("127.0.0.2:11434", none, "0A", 1001), "", nil},
		"several": {socket("0.0.0.0:11434", none, "0A", 0) + socket("127.0.0.1:11434", none, "0A",
			1001), "", []int{0, 1001}},
		"the other end":              {socket("127.0.0.1:11434", "127.0.0.1:50000", "01", 1001), "", []int{1001}},
		"an end that is not taken":   {socket("127.0.0.1:11434", "127.0.0.1:50000", "01", 0), "", nil},
		"the end of another program": {socket("127.0.0.1:11434", "127.0.0.1:50001", "01", 1001), "", nil},
		"our own end":                {socket("127.0.0.1:50000", "127.0.0.1:11434", "01", 1001), "", nil},
		"a closed socket":            {socket("127.0.0.1:11434", none, "06", 1001), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if c.remote == "" {
				c.remote = "127.0.0.1:11434"
			}
			got, err := ownersIn(tableHead+c.table, netip.MustParseAddrPort("127.0.0.1:50000"),
				netip.MustParseAddrPort(c.remote))
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestDamagedSocketTableIsAnError(t *testing.T) {
	t.Parallel()
	whole := socket("127.0.0.1:11434", "0.0.0.0:0", "0A", 0)
	for _, table := range []string{
		"", "no table\n", tableHead + whole + "   1: half a", tableHead +
			tableHead + strings.Replace(whole, ":2CAA", ":XXXX", 1),
		tableHead + strings.Replace(whole, inTable("127.0.0.1:11434"), "7F:2CAA", 1),
	} {
		if got, err := ownersIn(table, netip.AddrPort{}, netip.AddrPort{}); err == nil {
			t.Errorf("%q: got %v and no error", table, got)
		}
	}
}

func FuzzSocketTable(f *testing.F) {
	f.Add(tableHead + socket("127.0.0.1:11434", "0.0.0.0:0", "0A", 0))
	f.Fuzz(func(_ *testing.T, table string) {
		_, _ = ownersIn(table, netip.MustParseAddrPort("127.0.0.1:50000"), netip.MustParseAddrPort("127.0.0.1:11434"))
	})
}

// TestSystemTellsTheOwnerOfAListener checks a listener of this process and, if
// run as root, one of another user.
func TestSystemReportsTheOwnerOfAListener(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // other systems do not report owners
	}
	for uid, address := range map[int]string{os.Geteuid(): "127.0.0.1:0", 65534: "127.0.0.1:0", 65533: "[::]:0"} {
		listener, err := testenv.ListenAs(uid, address)
		if err != nil {
			continue // only root can switch users
		}
		defer listener.Close()
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		got, err := linuxTables.listeners(addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr()))
		if err != nil || !slices.Equal(got, []int{uid}) {
			t.Errorf("%s of %d: got %v, %v", address, uid, got, err)
		}
	}
}

// owned says who has the socket of any server.
type owned func() ([]int, error)

func (o owned) listeners(_, _ netip.AddrPort) ([]int, error) { return o() }

// The owner of the listener is checked at each connection, not only once.
func TestFoundServerIsCheckedAtEachConnection(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer server.Close()
	var owners []int
	var unreadable error
	tr := NewTransport(nil, nil)
	tr.OnlyFound("")
	tr.found.sockets = owned(func() ([]int, error) { return owners, unreadable })
	us, other := os.Getuid(), 64001
	for _, step := range []struct {
		name    string
		owners  []int
		unknown error
		allow   string
		passes  bool
	}{
		{"ours", []int{us}, nil, "", true},
		{"root's", []int{0}, nil, "", true},
		{"then another user's", []int{other}, nil, "", false},
		{"ours and another user's", []int{us, other}, nil, "", false},
		{"nobody's", nil, nil, "", false},
		{"unknown", nil, errors.New("no table"), "", true},
		{"another user's with a yes for a third", []int{other}, nil, "64002", false},
		{"another user's with a yes", []int{other}, nil, strconv.Itoa(other), true},
		{"with a yes, and a third", []int{other, 64002}, nil, strconv.Itoa(other), false},
	} {
		owners, unreadable = step.owners, step.unknown
		tr.Allow(step.allow)
		before := requests.Load()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("a note"))
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true // the next request connects again
		res, err := tr.Client().Do(req)
		if err == nil {
			res.Body.Close()
		}
		var foreign *ForeignError
		if passed := err == nil && requests.Load() == before+1; passed != step.passes {
			t.Errorf("%s: passed is %v, error %v", step.name, passed, err)
		} else if !passed && (!errors.As(err, &foreign) || !errors.Is(err, ErrUnreachable) ||
			requests.Load() != before) {
			t.Errorf("%s: error %v, %d requests", step.name, err, requests.Load()-before)
		}
		if owner := tr.Owner(); owner.Foreign == step.passes || owner.Host != server.Listener.Addr().String() {
			t.Errorf("%s: owner %+v", step.name, owner)
		}
	}
}

func TestMissingSocketTableIsAnError(t *testing.T) {
	tables := socketTables{filepath.Join(t.TempDir(), "tcp"), linuxTables[1]}
	if got, err := tables.listeners(netip.AddrPort{}, netip.AddrPort{}); err == nil {
		t.Errorf("got %v and no error", got)
	}
}
