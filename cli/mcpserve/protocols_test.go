package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/llm"
)

// inEachProtocol runs a test with a server in this process, a client of each protocol version, and
// the notifications that the client gets.
func inEachProtocol(t *testing.T, dir string, test func(t *testing.T, s *notesServer, c *client.Client,
	notifications <-chan mcp.JSONRPCNotification),
) {
	for era, options := range eras {
		t.Run(era, func(t *testing.T) {
			a, err := app.Open(t.Context(), apptest.Process(t.TempDir()),
				app.RunFlags{Notes: []string{dir}, NoSave: true, Alone: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.Close)
			s := newServer(t.Context(), a, false)
			toServer, fromClient := io.Pipe()
			toClient, fromServer := io.Pipe()
			go func() { _ = s.serveStdio(t.Context(), toServer, fromServer) }()
			c := client.NewClient(transport.NewIO(toClient, fromClient, io.NopCloser(strings.NewReader(""))),
				options...)
			notifications := make(chan mcp.JSONRPCNotification, 1000)
			c.OnNotification(func(n mcp.JSONRPCNotification) { notifications <- n })
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
				t.Fatal(err)
			}
			test(t, s, c, notifications)
		})
	}
}

func TestCancelledCallStopsInEachProtocol(t *testing.T) {
	t.Parallel()
	inEachProtocol(t, vault(t), func(t *testing.T, s *notesServer, c *client.Client, _ <-chan mcp.JSONRPCNotification) {
		began, stopped := make(chan bool), make(chan bool)
		slow := agent.NewTool(llm.ToolSpec{
			Name: "slow", Description: "waits",
			Schema: json.RawMessage(`{"type":"object"}`),
		}, agent.Auto,
			func(ctx context.Context, _ struct{}) (agent.Result, error) {
				began <- true
				<-ctx.Done()
				stopped <- true
				return agent.Result{}, ctx.Err()
			})
		s.mcp.AddTool(served(slow, ""), s.read(slow))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			request := mcp.CallToolRequest{}
			request.Params.Name = "slow"
			_, err := c.CallTool(ctx, request)
			ended <- err
		}()
		<-began
		cancel()
		if err := <-ended; err == nil {
			t.Error("the call ended without an error")
		}
		select {
		case <-stopped:
		case <-time.After(time.Minute):
			t.Fatal("the tool runs on")
		}
		if text, result := call(t, c, "list_tasks", nil); result.IsError { // the slot is free again
			t.Error(text)
		}
	})
}

// This test is not parallel: mcp-go has one session for all stdio servers of a process, so
// notifications of other tests could arrive here.
func TestProgressIsReportedInEachProtocol(t *testing.T) {
	inEachProtocol(t, vault(t), func(t *testing.T, s *notesServer, c *client.Client,
		heard <-chan mcp.JSONRPCNotification,
	) {
		v := s.App.OpenVaults()[0]
		v.Behind.Store(true) // and nothing is indexed
		request := mcp.CallToolRequest{}
		request.Params.Name, request.Params.Arguments = "search_notes", map[string]any{"query": "Brisk Lane"}
		request.Params.Meta = &mcp.Meta{ProgressToken: "mine"}
		ended := make(chan error, 1)
		go func() {
			result, err := c.CallTool(t.Context(), request)
			if err == nil && result.IsError {
				err = fmt.Errorf("%v", result.Content)
			}
			ended <- err
		}()
		select {
		case n := <-heard:
			if fields := n.Params.AdditionalFields; n.Method != "notifications/progress" ||
				fields["progressToken"] != "mine" || fields["message"] != "reading the notes" {
				t.Errorf("heard %+v", n)
			}
		case err := <-ended:
			t.Fatalf("it ended first: %v", err)
		}
		v.Behind.Store(false)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
