package mcpclient

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/mcpclient/config"
)

func TestFiguresReportTheP95OfRecentCalls(t *testing.T) {
	t.Parallel()
	var f figures
	if f.p95() != 0 {
		t.Error("without calls")
	}
	for i := range 300 {
		f.add(time.Duration(i)*time.Millisecond, i%3 == 0)
	}
	if f.count != 300 || f.failed != 100 || f.p95() != 294*time.Millisecond {
		t.Errorf("got %d, %d, %v", f.count, f.failed, f.p95())
	}
}

// A server that is trusted to read says so, and only for tools that say that they
// only read and nothing to the contrary.
func TestTrustedServerIsReadOnly(t *testing.T) {
	if got := (ServerState{Status: Running, Reads: true}).Text(); !strings.Contains(got, "trusted to read") {
		t.Errorf("got %q", got)
	}
	for annotations, want := range map[string]bool{
		`{"readOnlyHint":true}`: true, `{"readOnlyHint":false}`: false, `{}`: false,
		`{"readOnlyHint":true,"destructiveHint":true}`: false,
	} {
		for _, trusted := range []bool{true, false} {
			made, err := newTool(&supervisor{
				Entry: config.Entry{Name: "s", Reads: trusted},
				hub:   &Client{Options: Options{Secrets: agent.NoSecrets{}}},
			},
				Tool{Name: "get", InputSchema: json.RawMessage(`{}`), Annotations: json.RawMessage(annotations)})
			if err != nil {
				t.Fatal(err)
			}
			if of := made.Properties(); of.Server != "s" || of.Trusted != (want && trusted) {
				t.Errorf("%s, trusted %v: %v", annotations, trusted, of.Trusted)
			}
		}
	}
}
