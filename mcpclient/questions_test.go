package mcpclient

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mark3labs/mcp-go/client/transport"
)

func TestQuestionsAreFilteredFromAStream(t *testing.T) {
	const question = `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`
	const instead = "data:" + placeholder + "\n"
	for name, c := range map[string]struct {
		in, out string
		asked   int
	}{
		"answer":         {"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"method\":\"x\"}}\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"method\":\"x\"}}\nevent: message\n\n", 0},
		"notification":   {"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\r\n\r\n", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\r\n", 0},
		"question":       {"event: message\nid: 7\ndata: " + question + "\n\n", instead + "event: message\nid: 7\n\n", 1},
		"without blank":  {"data:" + question + "\n\n", instead + "\n", 1},
		"on two lines":   {"data: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\ndata: \"method\":\"roots/list\"}\n\n", instead + "\n", 1},
		"on many lines":  {"data: {\"id\":1,\ndata:\ndata: \"result\":\ndata: {}}\n\n", "data: {\"id\":1,  \"result\": {}}\n\n", 0},
		"among others":   {"data: {}\n\ndata: " + question + "\n\n: ping\n\ndata: {\"id\":1}\n\n", "data: {}\n\n" + instead + "\n: ping\n\ndata: {\"id\":1}\n\n", 1},
		"no JSON":        {"data: \"method\" {\n\nevent: endpoint\ndata: /messages?method=\"method\"\n\n", "data: \"method\" {\n\ndata: /messages?method=\"method\"\nevent: endpoint\n\n", 0},
		"cut":            {"data: " + question + "\n", "", 0},
		"nothing at all": {"", "", 0},
	} {
		if c.out == "" {
			c.out = c.in
		}
		for way, in := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			asked := 0
			got, err := io.ReadAll(&questionFilter{in: bufio.NewReader(in), receive: func(transport.JSONRPCRequest) { asked++ }})
			if err != nil || string(got) != c.out || asked != c.asked {
				t.Errorf("%s, %s: got %q, %d questions, %v; want %q, %d", name, way, got, asked, err, c.out, c.asked)
			}
		}
	}
}

func TestInterruptedStreamIsReportedAsEnded(t *testing.T) {
	const whole = "id: 7\ndata: {\"method\":\"x\"}\n\n"
	broken := io.MultiReader(strings.NewReader(whole+"id: 8\ndata: {\"id\""), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, err := io.ReadAll(&questionFilter{in: bufio.NewReader(broken)})
	if err != nil || string(got) != "data: {\"method\":\"x\"}\nid: 7\n\n" {
		t.Errorf("got %q, %v", got, err)
	}
	long := io.MultiReader(strings.NewReader(whole+strings.Repeat("data: {\n", 1000)), iotest.ErrReader(errTooLong))
	if got, err := io.ReadAll(&questionFilter{in: bufio.NewReader(long)}); err != errTooLong || strings.Contains(string(got), "{\n") {
		t.Errorf("got %q, %v", got, err)
	}
}
