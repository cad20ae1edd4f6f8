package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"slices"
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

// onEachTransport runs a test with a server in this process and a client for each transport and
// protocol version, and the notifications that the client gets.
func onEachTransport(t *testing.T, dir string, test func(t *testing.T, s *notesServer, c *client.Client, notifications <-chan mcp.JSONRPCNotification)) {
	const token = "token of the test"
	for _, over := range []string{"stdio", "http"} {
		for _, era := range slices.Sorted(maps.Keys(eras)) {
			t.Run(over+" "+era, func(t *testing.T) {
				a, err := app.Open(t.Context(), apptest.Process(t.TempDir()), app.RunFlags{Notes: []string{dir}, NoSave: true, Alone: true})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(a.Close)
				s := newServer(t.Context(), a, false)
				var pipes transport.Interface
				if over == "stdio" {
					toServer, fromClient := io.Pipe()
					toClient, fromServer := io.Pipe()
					go func() { _ = s.serveStdio(t.Context(), toServer, fromServer) }()
					pipes = transport.NewIO(toClient, fromClient, io.NopCloser(strings.NewReader("")))
				} else {
					web := httptest.NewServer(s.handler(token))
					t.Cleanup(web.Close)
					options := []transport.StreamableHTTPCOption{transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + token})}
					if era == "handshake" {
						//lint:ignore SA1019 older clients get notifications only this way
						options = append(options, transport.WithContinuousListening())
					}
					if pipes, err = transport.NewStreamableHTTP(web.URL+"/mcp", options...); err != nil {
						t.Fatal(err)
					}
				}
				c := client.NewClient(pipes, eras[era]...)
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
}

func TestCancelledCallStopsOnEachTransport(t *testing.T) {
	t.Parallel()
	onEachTransport(t, vault(t), func(t *testing.T, s *notesServer, c *client.Client, _ <-chan mcp.JSONRPCNotification) {
		began, stopped := make(chan bool), make(chan bool)
		slow := agent.NewTool(llm.ToolSpec{Name: "slow", Description: "waits", Schema: json.RawMessage(`{"type":"object"}`)}, agent.Auto, func(ctx context.Context, _ struct{}) (agent.Result, error) {
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
func TestProgressIsReportedOnEachTransport(t *testing.T) {
	onEachTransport(t, vault(t), func(t *testing.T, s *notesServer, c *client.Client, heard <-chan mcp.JSONRPCNotification) {
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
			if fields := n.Params.AdditionalFields; n.Method != "notifications/progress" || fields["progressToken"] != "mine" || fields["message"] != "reading the notes" {
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

func TestChangedNotesAreReportedOnEachTransport(t *testing.T) {
	t.Parallel()
	dir := vault(t)
	onEachTransport(t, dir, func(t *testing.T, s *notesServer, c *client.Client, heard <-chan mcp.JSONRPCNotification) {
		unsubscribe := func() {}
		if strings.HasSuffix(t.Name(), "stateless") {
			stop, err := c.ListenAsync(t.Context(), mcp.SubscriptionFilter{ResourcesListChanged: true, ResourceSubscriptions: []string{"note:///shoes.md"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			unsubscribe = stop
		} else if err := send(t, c, "resources/subscribe", map[string]any{"uri": "note:///shoes.md"}); err != nil {
			t.Fatal(err)
		}
		subscribers := func() int {
			s.watched.mu.Lock()
			defer s.watched.mu.Unlock()
			return len(s.subscribed)
		}
		waitFor(t, "a subscriber", func() bool { return subscribers() == 1 })
		for i, notified := 0, false; !notified; i++ { // a stream may open after the notification was sent
			apptest.Write(t, filepath.Join(dir, "running", "plan.md"), "# Running plan\n\nLess."+strings.Repeat(".", i)+"\n")
			apptest.Write(t, filepath.Join(dir, "shoes.md"), "# Shoes\n\nNew ones are needed."+strings.Repeat(".", i)+"\n")
			s.refresh(t.Context())
			select {
			case n := <-heard:
				if strings.Contains(fmt.Sprint(n), "running") {
					t.Errorf("heard %+v, which nobody subscribed to", n)
				}
				notified = n.Method == mcp.MethodNotificationResourceUpdated && n.Params.AdditionalFields["uri"] == "note:///shoes.md"
			case <-time.After(100 * time.Millisecond):
			}
		}
		if unsubscribe(); strings.HasSuffix(t.Name(), "stateless") {
			waitFor(t, "the subscriber's end", func() bool { return subscribers() == 0 })
		}
	})
}

// waitFor waits until so returns true.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
