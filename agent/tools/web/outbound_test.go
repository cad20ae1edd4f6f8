package web

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
)

// wire is a connection that accepts all data.
type wire struct {
	net.Conn
	to string
}

func (w wire) Write(p []byte) (int, error) { return len(p), nil }
func (w wire) RemoteAddr() net.Addr        { return &net.TCPAddr{IP: net.ParseIP(w.to), Port: 443} }

func TestOutgoingBytesAreCounted(t *testing.T) {
	for to, want := range map[string]int64{
		"93.184.215.14": 5, "2606:2800::1": 5, "192.168.1.7": 5,
		"127.0.0.1": 0, "::1": 0,
	} {
		var sent atomic.Int64
		by := Counted(func(context.Context, string, string) (net.Conn, error) { return wire{to: to}, nil }, &sent)
		connection, err := by(t.Context(), "tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := connection.Write([]byte("hello")); n != 5 || err != nil || sent.Load() != want {
			t.Errorf("to %s: %d bytes, %v; %d counted, want %d", to, n, err, sent.Load(), want)
		}
	}
	if plain := Counted(nil, nil); plain != nil {
		t.Error("without a counter the dial is another one")
	}
}
