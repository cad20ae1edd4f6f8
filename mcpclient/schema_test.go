package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/mcpclient/config"
)

// doublingSchema returns a schema of a few kilobytes whose parts double 28 times.
func doublingSchema() string {
	defs := `"a28":{"type":"string"}`
	for i := range 28 {
		defs += fmt.Sprintf(`,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%[2]d"}]}`, i, i+1)
	}
	return `{"type":"object","properties":{"x":{"$ref":"#/$defs/a0"}},"$defs":{` + defs + `}}`
}

// testServer returns a server that is never started.
func testServer(ask func(context.Context, agent.Question) agent.Input) *supervisor {
	hub := &Client{Options: Options{User: testUser{ask: ask}}, changes: make(chan struct{}, 1)}
	hub.defaults()
	return newSupervisor(hub, config.Entry{Name: "s", Transport: config.Stdio}, "")
}

func TestToolWhoseSchemaIsNotCheckedIsOffered(t *testing.T) {
	for _, schema := range []string{
		doublingSchema(),
		`{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}}}`,
		`{"type":"object","properties":{"a":{"pattern":"(?=x)"}}}`,
		`{"type":"object","properties":{"n":{"type":"number","maximum":1e999999999},"m":{"enum":[1,2]}},` +
			`"required":["missing"]}`,
	} {
		if _, err := newTool(testServer(nil), Tool{Name: "get", InputSchema: json.RawMessage(schema)}); err != nil {
			t.Errorf("%.60s: got %v", schema, err)
		}
	}
}

func TestFormWithTooLargeSchemaIsNotShown(t *testing.T) {
	for _, schema := range []string{doublingSchema(), `{"type":"object","properties":{"a":{"enum":["` +
		strings.Repeat(`x","`, 100_000) + `"]}}}`, `{"type":5}`} {
		s := testServer(func(context.Context, agent.Question) agent.Input {
			t.Errorf("%.60s: the user was asked", schema)
			return agent.Input{}
		})
		_, end, err := s.clock.limit(t.Context(), time.Hour, nil)
		if err != nil {
			t.Fatal(err)
		}
		var request mcp.ElicitationRequest
		request.Params.RequestedSchema = json.RawMessage(schema)
		if _, err := (questions{s}).Elicit(t.Context(), request); err == nil ||
			!strings.Contains(err.Error(), "requestedSchema") {
			t.Errorf("%.60s: got %v", schema, err)
		}
		end()
	}
}
