package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/export"
)

// exportStep is the call that makes a note of the document that is named,
// in the words of /export NAME [NOTE]; nil: no document has such a name.
func exportStep(ctx context.Context, a *app.App, conversation, given string) (*agent.Step, error) {
	if conversation == "" {
		return nil, nil
	}
	list, err := a.Store.Artifacts(ctx, conversation)
	if err != nil {
		return nil, err
	}
	for _, document := range list {
		path, named := strings.CutPrefix(given, document.Name)
		if !named || path != "" && !strings.HasPrefix(path, " ") {
			continue
		}
		if path = strings.TrimSpace(path); path == "" {
			path = fileName(document.Name) + ".md"
		}
		input, err := json.Marshal(map[string]string{"path": path, "content": export.Disarm(document.Text)})
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", document.Name, err)
		}
		return &agent.Step{Tool: "create_note", Input: input, Description: "make a note of " + document.Name}, nil
	}
	return nil, nil
}
