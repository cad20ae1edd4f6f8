package web

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"lifehub/internal/testenv"
)

// inside are addresses that try to reach private networks. Names under evil.example are
// resolved by our name server.
var inside = []string{
	"http://127.0.0.1/", "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://017700000001/",
	"http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/",
	"http://127.0.0.1./", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::]/", "http://0.0.0.0/", "http://0/",
	"http://localhost/", "http://LOCALHOST./",
	"http://127.255.255.254/", "http://10.0.0.1/", "http://10.255.255.255/", "http://172.16.0.1/",
	"http://172.31.255.254/", "http://192.168.0.1/", "http://192.168.1.1:8080/",
	"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://100.100.100.200/",
	"http://168.63.129.16/", "http://[fe80::1]/", "http://[fe80::1%25lo]/",
	"http://100.64.0.1/", "http://100.127.255.254/", "http://192.0.0.1/", "http://198.18.0.1/",
	"http://198.19.255.254/", "http://240.0.0.1/", "http://255.255.255.255/", "http://224.0.0.1/",
	"http://[ff02::1]/", "http://[fc00::1]/", "http://[fd12:3456::1]/", "http://[fec0::1]/",
	"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:a00:1]/", "http://[::127.0.0.1]/",
	"http://[64:ff9b::7f00:1]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::7f00:1]/",
	"http://[2002:7f00:1::]/", "http://[2002:a9fe:a9fe::1]/", "http://[2001:0:7f00:1::]/", "http://[2001:db8::1]/",
	"http://192.0.2.1/", "http://198.51.100.1/", "http://203.0.113.1/", "http://①②⑦.⓪.⓪.①/",
	"http://127。0。0。1/", "http://１２７.0.0.1/",
	"http://good.example@127.0.0.1/", "http://127.0.0.1@good.example/", "http://127.0.0.1#@good.example/",
	"http://127.0.0.1\\@good.example/", "http:127.0.0.1/", "//127.0.0.1/",
	"file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "unix:///run/docker.sock",
	"data:text/html,hi", "http:///etc/passwd",
	"http://loopback.evil.example/", "http://private.evil.example/", "http://mapped.evil.example/",
	"http://metadata.evil.example/", "http://ula.evil.example/", "http://both.evil.example/",
	"http://rebinding.evil.example/",
}

func TestPrivateAddressesAreNeverDialled(t *testing.T) {
	var accepted atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { accepted.Add(1) }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	var connects atomic.Int64
	w := newWeb(nameServer(t), "", nil)
	transport := w.client.Transport.(Reporting).RoundTripper.(*http.Transport)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dial(ctx, network, address)
		if err == nil {
			connects.Add(1)
		}
		return connection, err
	}
	addresses := append([]string{}, inside...)
	for _, address := range inside { // in which a server listens
		if u, err := url.Parse(address); err == nil && u.Port() == "" && u.Host != "" && u.User == nil {
			u.Host += ":" + port
			addresses = append(addresses, u.String())
		}
	}
	for _, address := range addresses {
		for range 2 { // a name may resolve differently the second time
			if page, err := w.get(t.Context(), address); err == nil {
				t.Errorf("%s brought %d bytes", address, len(page.body))
			}
		}
	}
	if connects.Load() != 0 || accepted.Load() != 0 {
		t.Errorf("%d connects, %d requests answered, of %d addresses", connects.Load(), accepted.Load(), len(addresses))
	}
	t.Logf("%d addresses, %d connects", len(addresses), connects.Load())
}

// nameServer is a name server for evil.example.
func nameServer(t *testing.T) *net.Resolver {
	t.Helper()
	var asked atomic.Int64
	answers := map[string][]string{
		"loopback": {"127.0.0.1"}, "private": {"10.0.0.7"}, "mapped": {"::ffff:127.0.0.1"},
		"metadata": {"169.254.169.254"},
		"ula":      {"fd00::1"}, "both": {"127.0.0.1", "::1"},
	}
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() { // ends when the server is closed
		buffer := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			query := buffer[:n]
			label := string(query[13 : 13+int(query[12])])
			ips := answers[strings.ToLower(label)]
			if label == "rebinding" { // nothing listens at the first address, and a check of the name would pass it
				ips = []string{[]string{"127.0.0.1", "192.168.0.9"}[asked.Add(1)%2]}
			}
			_, _ = server.WriteTo(answerOf(query, ips), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// answerOf returns the DNS response to a query, with those ips that have its type.
func answerOf(query []byte, ips []string) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	question := query[12 : end+5]
	kind := binary.BigEndian.Uint16(query[end+1:])
	reply := append([]byte{}, query[:2]...)
	reply = append(reply, 0x84, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
	reply = append(reply, question...)
	count := 0
	for _, text := range ips {
		ip := netip.MustParseAddr(text)
		raw := ip.AsSlice()
		if kind == 1 && ip.Is4() || kind == 28 && ip.Is6() {
			reply = append(reply, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
			reply = append(reply, raw...)
			count++
		}
	}
	reply[7] = byte(count)
	return reply
}

// atHome returns a web that may reach the test's server, and considers nothing else
// public; redirects are still checked by address.
func atHome(allowed string) *web { return newWeb(nil, allowed, nil) }

func TestRedirectIsCheckedLikeAnAddress(t *testing.T) {
	var secret atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { secret.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/ok":
			http.Redirect(w, r, "/page", http.StatusMovedPermanently)
		case "/page":
			fmt.Fprint(w, "hello")
		case "/to":
			w.Header().Set("Location", r.URL.Query().Get("u"))
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	w := atHome(server.Listener.Addr().String())
	if page, err := w.get(t.Context(), server.URL+"/ok"); err != nil || string(page.body) != "hello" ||
		page.url.Path != "/page" {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := w.get(t.Context(), server.URL+"/loop"); err == nil || !strings.Contains(err.Error(), "more than 5") {
		t.Errorf("a loop: %v", err)
	}
	for _, to := range append([]string{other.URL, "http://a:b@" + other.Listener.Addr().String()}, inside...) {
		if _, err := w.get(t.Context(), server.URL+"/to?u="+url.QueryEscape(to)); err == nil {
			t.Errorf("a redirect to %s was followed", to)
		}
	}
	if secret.Load() != 0 {
		t.Errorf("%d requests came through", secret.Load())
	}
}

func TestPageIsBoundedAfterDecompression(t *testing.T) {
	testenv.WithoutRace(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		for range 100 {
			_, _ = packed.Write(make([]byte, 1<<20))
		}
		packed.Close()
	}))
	defer server.Close()
	page, err := atHome(server.Listener.Addr().String()).get(t.Context(), server.URL)
	if err != nil || len(page.body) != maxWebBody || !page.cut {
		t.Errorf("%d bytes, cut %v, %v", len(page.body), page.cut, err)
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	if _, err := newWeb(nameServer(t), "", nil).get(t.Context(), "http://private.evil.example/"); !errors.Is(err,
		errPrivate) || asked.Load() != 0 {
		t.Errorf("%v, the proxy was asked %d times", err, asked.Load())
	}
}
