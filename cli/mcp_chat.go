package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/llm"
	"lifehub/mcpclient"
	"lifehub/mcpclient/config"
	"lifehub/mcpclient/trust"
	"lifehub/tui/backend"
)

// panel is the MCP servers as the screen wants them.
type panel struct{ *app.App }

func (p panel) List() []backend.Server {
	var list []backend.Server
	for _, s := range p.Servers.State() {
		one := backend.Server{
			Name: s.Name, Address: s.Address, About: s.About, State: s.Text(), Running: s.Status == mcpclient.Running, Off: s.Status == mcpclient.Off, Consent: s.WantsConsent(),
			Up: time.Since(s.Since), Restarts: s.Restarts, Tools: len(s.Tools), Tokens: s.Tokens,
			Calls: s.Calls, Failed: s.Failed, P95: s.P95, Said: s.Said,
		}
		for _, c := range s.Unseen {
			one.Unseen = append(one.Unseen, backend.Change(c))
		}
		list = append(list, one)
	}
	return list
}

func (p panel) Restart(name string) error { return p.Servers.Restart(name) }

func (p panel) Switch(name string, on bool) error {
	if err := config.Enable(p.Paths.ServersFile(), name, on); err != nil {
		return err
	}
	return p.ApplyServers()
}

// logLines is how much of a log the screen shows.
const logLines = 1000

func (p panel) Log(name string) (string, error) { return app.ServerLog(p.ServerLog(name), logLines) }

func (p panel) Trust(name string, seen []backend.Change) error {
	changes := make([]trust.Change, 0, len(seen))
	for _, c := range seen {
		changes = append(changes, trust.Change(c))
	}
	return p.Servers.Accept(name, changes)
}

func (p panel) Consent(ctx context.Context, name string, show func(page string)) error {
	return p.Servers.Consent(ctx, name, show)
}

// promptTemplates are the prompts of the servers.
func promptTemplates(a *app.App) []backend.Template {
	var list []backend.Template
	for _, p := range a.Servers.Prompts() {
		list = append(list, backend.Template{
			Name: p.Server + ":" + p.Name, Help: p.Description, Schema: blanks(p.Args),
			Fill: func(ctx context.Context, values json.RawMessage) (string, error) {
				return fillPrompt(ctx, a, p, values)
			},
		})
	}
	return list
}

// blanks is the schema of a prompt's blanks; nil when it has none.
func blanks(args []mcpclient.PromptArg) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	type blank struct {
		Type        string `json:"type"`
		Description string `json:"description,omitempty"`
	}
	var properties bytes.Buffer // in the server's order
	required := []string{}
	for i, a := range args {
		name, _ := json.Marshal(a.Name) // a text and a struct of texts can be written
		field, _ := json.Marshal(blank{"string", a.Description})
		fmt.Fprintf(&properties, "%s%s:%s", strings.Repeat(",", min(i, 1)), name, field)
		if a.Required {
			required = append(required, a.Name)
		}
	}
	names, err := json.Marshal(required)
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":%s}`, &properties, names)
}

// fillPrompt has a server fill in a prompt, and writes it as one text, which is
// remembered as the server's.
func fillPrompt(ctx context.Context, a *app.App, p mcpclient.Prompt, values json.RawMessage) (string, error) {
	args := map[string]string{}
	if err := json.Unmarshal(values, &args); err != nil {
		return "", fmt.Errorf("fill in %s: %w", p.Name, err)
	}
	messages, err := a.Servers.FillPrompt(ctx, p.Server, p.Name, args)
	if err != nil {
		return "", err
	}
	parts := make([]string, 0, len(messages))
	for _, m := range messages {
		text := m.Text
		if m.Role == llm.Assistant {
			text = "(answered) " + text
		}
		parts = append(parts, text)
	}
	text := strings.Join(parts, "\n\n")
	if err := a.Untrusted.Remember(ctx, agent.Untrusted{Source: "the prompt " + p.Server + ":" + p.Name, Prints: agent.Fingerprints(text)}); err != nil {
		return "", fmt.Errorf("fill in %s: %w", p.Name, err)
	}
	return text, nil
}
