package mcpclient

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func TestOnlyMessagesAreForwarded(t *testing.T) {
	long := strings.Repeat("x", maxFrame)
	for name, c := range map[string]struct {
		in, out string
		garbage int64
	}{
		"messages":           {"{\"a\":1}\n {\"b\":2}\r\n", "{\"a\":1}\n{\"b\":2}\n", 0},
		"no end of line":     {`{"a":1}`, "{\"a\":1}\n", 0},
		"garbage":            {"hello\n\n[1]\n{\"a\":\n\x00\xff\n{\"a\":1}\n", "{\"a\":1}\n", 4},
		"too long, id first": {`{"jsonrpc":"2.0","id":7,"result":"` + long + "\"}\n{}\n", `{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"the response is longer than 8 MiB"}}` + "\n{}\n", 0},
		"too long, id last":  {`{"result":"` + long + `","jsonrpc":"2.0","id":8}` + "\n{}\n", `{"jsonrpc":"2.0","id":8,"error":{"code":-32000,"message":"the response is longer than 8 MiB"}}` + "\n{}\n", 0},
		"too long, no id":    {long + long + "\n{}\n", "{}\n", 1},
		"id before version":  {`{"result":"` + long + `","id":9,"jsonrpc":"2.0"}` + "\n{}\n", `{"jsonrpc":"2.0","id":9,"error":{"code":-32000,"message":"the response is longer than 8 MiB"}}` + "\n{}\n", 0},
		"an id in a text":    {`{"jsonrpc":"2.0","result":"` + long + `\"id\":5}` + "\n{}\n", "{}\n", 1},
		"damaged":            {"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"a\x00b\"}\n{}\n", `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"the response is not valid JSON"}}` + "\n{}\n", 0},
		"nested too deep":    {`{"jsonrpc":"2.0","id":3,"result":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}\n", `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"the response is not valid JSON"}}` + "\n", 0},
		"byte order mark":    {"\ufeff{\"a\":1}\r\n", "{\"a\":1}\n", 0},
		"several in a list":  {`[{"id":1}, 7, {"id":2}]` + "\n[]\n", "{\"id\":1}\n{\"id\":2}\n", 2},
		"too many in a list": {"[{}" + strings.Repeat(",{}", maxBatch) + "]\n", "", 1},
		"other framing":      {"Content-Length: 8\r\n\r\n{\"a\":1}Content-Length: 8\r\n", "", 2},
		"cut":                {"{\"a\":1}\n{\"b\":", "{\"a\":1}\n", 1},
	} {
		var f frames
		var out bytes.Buffer
		if err := f.Copy(&out, strings.NewReader(c.in)); err != nil {
			t.Error(err)
		}
		if out.String() != c.out || f.Garbage.Load() != c.garbage {
			t.Errorf("%s: got %.200q and %d lines of garbage", name, out.String(), f.Garbage.Load())
		}
		if len(c.in) < 1000 { // also in small pieces
			out.Reset()
			if err := f.Copy(&out, iotest.OneByteReader(strings.NewReader(c.in))); err != nil || out.String() != c.out {
				t.Errorf("%s, byte by byte: got %q, %v", name, out.String(), err)
			}
		}
	}
}

func TestFloodIsThrottled(t *testing.T) {
	const events = "event: message\r\ndata: {}\r\n\r\n"
	for name, flood := range map[string]func(n int) error{
		"on stdout": func(n int) error {
			var f frames
			return f.Copy(io.Discard, strings.NewReader(strings.Repeat("{}\n", n)))
		},
		"by HTTP": func(n int) error {
			_, err := io.Copy(io.Discard, &boundedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat(events, n))), empty: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				if err := flood(5 * framesPerSecond); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took < 4*time.Second || took > 6*time.Second {
					t.Errorf("%d messages took %v", 5*framesPerSecond, took)
				}
			})
		})
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("{}\n[\n{\"id\":1}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var frames frames
		var out bytes.Buffer
		_ = frames.Copy(&out, bytes.NewReader(data))
		for line := range bytes.Lines(out.Bytes()) {
			if line[0] != '{' || line[len(line)-1] != '\n' {
				t.Errorf("let through %q", line)
			}
		}
	})
}
