package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lifehub/agent"
)

// shelf stores artifacts in memory.
type shelf struct{ list []agent.Artifact }

func (s *shelf) SaveArtifact(_ context.Context, a agent.Artifact) error {
	s.list = append(s.list, a)
	return nil
}

func (s *shelf) Artifact(_ context.Context, _, name string, _ int) (agent.Artifact, error) {
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].Name == name {
			return s.list[i], nil
		}
	}
	return agent.Artifact{}, agent.ErrNoArtifact
}

func (s *shelf) Artifacts(context.Context, string) ([]agent.Artifact, error) { return s.list, nil }

func (s *shelf) MadeBy(_ context.Context, call string) (agent.Artifact, bool, error) {
	for _, a := range s.list {
		if call != "" && a.Call == call {
			return a, true, nil
		}
	}
	return agent.Artifact{}, false, nil
}

func TestArtifactsAreCreatedAndChanged(t *testing.T) {
	kept := &shelf{}
	for _, each := range []struct{ tool, args, want string }{
		{"read_artifact", `{"name":"plan"}`, "none was made in this conversation"},
		{"create_artifact", "{\"name\":\"plan\",\"text\":\"```md\\nRun on Sunday.\\nRest on Monday. Rest on " +
			"Friday.\\n```\",\"why\":\"first\"}", "artifact plan, version 1, 46 bytes"},
		{"create_artifact", `{"name":"plan","text":"x"}`, "already"},
		{
			"update_artifact", `{"name":"plan","old_text":"Rest on","new_text":"x"}`,
			"old_text matches 2 times, on lines 2, 2",
		},
		{"update_artifact", `{"name":"plan","old_text":"Swim","new_text":"x"}`, "old_text not found"},
		{"update_artifact", `{"name":"plan","old_text":"Sunday","new_text":"Saturday"}`, "version 2"},
		{"read_artifact", `{"name":"plan"}`, "Run on Saturday.\nRest on Monday."},
		{"rewrite_artifact", `{"name":"plan","text":"Rest."}`, "version 3, 5 bytes"},
		{"rewrite_artifact", `{"name":"other","text":"x"}`, `no artifact "other"; known: plan`},
		{"create_artifact", `{"name":"  ","text":"x"}`, "needs a name"},
	} {
		got := ""
		for _, tool := range artifactTools(kept) {
			if tool.Spec().Name != each.tool {
				continue
			}
			result, err := tool.Run(t.Context(), json.RawMessage(each.args))
			if got = result.Text; err != nil {
				got = err.Error()
			}
			if made := result.Artifact; made != nil && made.Version != len(kept.list) {
				t.Errorf("%s tells of version %d", each.tool, made.Version)
			}
		}
		if !strings.Contains(got, each.want) {
			t.Errorf("%s %s: got %q, want %q", each.tool, each.args, got, each.want)
		}
	}
}
