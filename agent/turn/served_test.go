package turn

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/gate"
)

// served is a tool of a server.
type served struct {
	*fakeTool
	server string
	reads  bool // read-only, on a server that is trusted to read
}

func (s served) Properties() agent.Properties {
	of := s.fakeTool.Properties()
	of.Server, of.Trusted, of.Declared = s.server, s.reads, &s.reads
	return of
}

// A server that is trusted to read is asked without permission, private text
// included, until somebody else outside had a part in it.
func TestTrustedServerIsAskedWithoutPermission(t *testing.T) {
	const list = `{}`
	id := func(value string) string {
		raw, _ := json.Marshal(map[string]string{"id": value})
		return string(raw)
	}
	confirm := (*gate.Rules)(nil).With(gate.Rule{Tool: "tracker_get", Level: agent.Confirm})
	note, clip := []string{"search_notes", `{"query":"safe"}`}, []string{"read_note", `{"query":"clip"}`}
	for name, tc := range map[string]struct {
		calls   []string // tool, arguments
		asked   string   // the calls that asked, one per line
		rules   *gate.Rules
		without bool // the server is not trusted
	}{
		"a value that it listed":     {calls: []string{"tracker_list", list, "tracker_get", id("LIFE-1234")}},
		"a part of a value":          {calls: []string{"tracker_list", list, "tracker_get", id("LIFE")}},
		"after a note was read":      {calls: slices.Concat(note, []string{"tracker_list", list, "tracker_get", id("471199")})},
		"after a clipping was read":  {calls: slices.Concat(clip, []string{"tracker_get", id("LIFE-1234")}), asked: "tracker_get"},
		"after another server spoke": {calls: []string{"other_list", list, "tracker_get", id("LIFE-1234")}, asked: "tracker_get"},
		"another server, after it":   {calls: []string{"tracker_list", list, "other_get", id("LIFE-1234")}, asked: "other_get"},
		"not trusted":                {calls: []string{"tracker_list", list}, without: true, asked: "tracker_list"},
		"a tool that writes":         {calls: []string{"tracker_list", list, "tracker_add", id("LIFE-1234")}, asked: "tracker_add"},
		"a rule that asks":           {calls: []string{"tracker_list", list, "tracker_get", id("LIFE-1234")}, rules: confirm, asked: "tracker_get"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := func(server, name, text string, reads bool) agent.Tool {
				return served{&fakeTool{
					name: server + "_" + name, level: agent.Confirm, outward: true, schema: `{"type":"object","properties":{"id":{"type":"string"}}}`,
					result: agent.Result{Text: text, Untrusted: true},
				}, server, reads && !tc.without}
			}
			own := &fakeTool{name: "search_notes", reads: true, result: agent.Result{Text: "The PIN is 471199."}}
			outside := &fakeTool{name: "read_note", reads: true, result: agent.Result{Text: clipping.Text, Sources: []agent.Source{clipping}}}
			kit := tools(own, outside, tool("tracker", "list", "LIFE-1234 Fix the login.", true), tool("tracker", "get", "By Friday.", true),
				tool("tracker", "add", "done", false), tool("other", "list", "OTHER-999 Paint", true), tool("other", "get", "Painted.", true))
			model := &script{}
			for i := 0; i < len(tc.calls); i += 2 {
				model.lines = append(model.lines, calling(tc.calls[i], tc.calls[i+1]))
			}
			model.lines = append(model.lines, say("Done."))
			a := New(Options{Model: model, History: &shelf{}, Tools: kit, Rules: tc.rules, Session: inMode(agent.LoopMode), Now: saturday})
			var asked []string
			for _, p := range bodies[agent.PermissionAsked](collect(a.Ask(t.Context(), "c1", "What is open for Henrik in the tracker?"), always(agent.AllowOnce))) {
				asked = append(asked, p.Name)
			}
			if got := strings.Join(asked, "\n"); got != tc.asked {
				t.Errorf("asked\n%s\nwant\n%s", got, tc.asked)
			}
		})
	}
}
