package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/mcpclient/config"
)

// FuzzAnswers passes arbitrary server output to the library and to our conversion
// of its results. The library reads on its own goroutine, where a panic could not
// be recovered.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"},{"type":"image","data":"",` +
			`"mimeType":""},{"type":"resource","resource":{"uri":"a","blob":"%"}}],"structuredContent":{},` +
			`"isError":true}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","inputSchema":{"type":["object"]},"annotations":null,` +
			`"outputSchema":[]}],"nextCursor":1}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":null,"data":[]}}`,
		`{"jsonrpc":"2.0","id":"1","method":"sampling/createMessage","params":{"messages":[{"role":"user",` +
			`"content":[]}],"tools":[{}]}}`,
		`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"m",` +
			`"requestedSchema":{"properties":{"a":{"$ref":"#"}}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":1,"data":null,"_meta":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required",` +
			`"inputRequests":{"a":{"method":"elicitation/create"}}}}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, response []byte, listing bool) {
		hub := &Client{Options: Options{
			User: testUser{ask: func(_ context.Context, form agent.Question) agent.Input {
				if form.Check != nil {
					_ = form.Check(json.RawMessage(`{"a":1}`))
				}
				return agent.Input{Action: agent.InputAccepted, Values: json.RawMessage(`{}`)}
			}},
		}, changes: make(chan struct{}, 1)}
		hub.defaults()
		s := newSupervisor(hub, config.Entry{Name: "s", Transport: config.Stdio}, "")
		fromServer, toClient := io.Pipe()
		c := client.NewClient(verbatim{transport.NewIO(fromServer, endless{io.Discard}, nil), t.Context().Done()},
			append(s.capabilities(), client.WithSession())...)
		c.OnNotification(func(n mcp.JSONRPCNotification) { s.notified(n) })
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() {
			_ = relay(toClient, &limited{in: bytes.NewReader(response), ends: 1})
			_ = toClient.Close()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if listing {
			if page, err := c.ListToolsByPage(ctx, mcp.ListToolsRequest{}); err == nil {
				_ = s.admit(page.Tools, nil, "")
			}
			return
		}
		if result, err := c.CallTool(ctx, mcp.CallToolRequest{}); err == nil {
			_ = words{hub, "s"}.result(result)
		}
	})
}

// replying is a transport whose server gives one result.
type replying struct {
	transport.Interface
	result string
}

func (r replying) SendRequest(_ context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return transport.NewJSONRPCResultResponse(request.ID, json.RawMessage(r.result)), nil
}

// An item of a kind that the protocol does not have, or a list that is none, is told, and the others are read.
func TestUnknownItemDoesNotLoseTheOthers(t *testing.T) {
	for _, c := range []struct {
		method       mcp.MCPMethod
		result, want string
	}{
		{mcp.MethodToolsCall, `{"content":[{"type":"text","text":"Invalid number"},{"type":"error","text":"x"},` +
			`{"type":"json","data":{"a":1}},5,"plain",null,{"type":"image",` +
			`"data":7}]}`, "Invalid number|x|" + `{"type":"json","data":{"a":1}}|5|plain||{"type":"image",` +
			`"data":7}`},
		{mcp.MethodToolsCall, `{"content":"plain"}`, "plain"},
		{mcp.MethodToolsCall, `{"content":{"type":"text","text":"alone"}}`, "alone"},
		{mcp.MethodToolsCall, `{"structuredContent":{"a":1}}`, ""},
		{mcp.MethodToolsCall, `{"toolResult":"of an old server"}`, "of an old server"},
		{mcp.MethodToolsCall, `{"toolResult":{"a":1}}`, `{"a":1}`},
		{mcp.MethodPromptsGet, `{"messages":[{"role":"system","content":"be kind"},{"role":"user",` +
			`"content":{"type":"text","text":"b"}}]}`, "be kind|b"},
		{
			mcp.MethodResourcesRead, `{"contents":[{"uri":"a:","text":"a"},{"uri":"b:"},{"text":"c"}]}`,
			`a|{"uri":"b:"}|c`,
		},
	} {
		response, err := verbatim{replying{result: c.result}, nil}.SendRequest(t.Context(),
			transport.JSONRPCRequest{Method: string(c.method)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		switch c.method {
		case mcp.MethodToolsCall:
			result, err := mcp.ParseCallToolResult(&response.Result)
			if err != nil {
				t.Fatalf("%s: %v", c.result, err)
			}
			for _, each := range result.Content {
				got = append(got, mcp.GetTextFromContent(each))
			}
		case mcp.MethodPromptsGet:
			result, err := mcp.ParseGetPromptResult(&response.Result)
			if err != nil {
				t.Fatalf("%s: %v", c.result, err)
			}
			for _, each := range result.Messages {
				got = append(got, mcp.GetTextFromContent(each.Content))
			}
		default:
			result, err := mcp.ParseReadResourceResult(&response.Result)
			if err != nil {
				t.Fatalf("%s: %v", c.result, err)
			}
			for _, each := range result.Contents {
				got = append(got, each.(mcp.TextResourceContents).Text)
			}
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.result, text, c.want)
		}
	}
}

// Structured content is left out only if the text tells it all.
func TestStructuredContentIsTold(t *testing.T) {
	hub := &Client{}
	hub.defaults()
	for _, c := range []struct {
		texts  []string
		object string
		told   bool
	}{
		{[]string{"list_projects returned 2 item(s)."}, `{"projects":["Rover","Boiler 42"]}`, false},
		{[]string{"Found 12 rows."}, `{"rows":[1,2]}`, false},
		{[]string{"It is sunny."}, `{"sunny":true}`, false},
		{nil, `{"a":1}`, false},
		{[]string{" { \"b\": [2], \"a\": \"x\\ny\" } "}, `{"a":"x\ny","b":[2]}`, true},
		{[]string{"Here it is:", `{"a":"ü"}`}, `{"a":"\u00fc"}`, true},
		{[]string{"a page of text,\nwith “marks”"}, `{"result":"a page of text,\nwith “marks”"}`, true},
		{[]string{"Rover", "Boiler 42"}, `{"result":["Rover","Boiler 42"]}`, true},
		{[]string{"3.5 °C, -2 at night"}, `{"day":3.5,"night":-2,"wind":null,"note":""}`, true},
		{[]string{"Done."}, `{}`, true},
	} {
		result := &mcp.CallToolResult{RawStructuredContent: json.RawMessage(c.object)}
		for _, text := range c.texts {
			result.Content = append(result.Content, mcp.NewTextContent(text))
		}
		want := strings.Join(c.texts, "\n\n")
		if !c.told {
			want = strings.TrimSpace(want + "\n\n" + c.object)
		}
		if got := (words{hub, "s"}).result(result); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
