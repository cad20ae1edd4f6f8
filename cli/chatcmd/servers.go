package chatcmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/mcpclient"
	"lifehub/mcpclient/config"
)

// panel adapts the MCP servers to the front end.
type panel struct {
	*mcpclient.Client
	app *app.App
}

func (p panel) List() []chat.Server {
	var list []chat.Server
	for _, s := range p.State() {
		one := chat.Server{
			Name: s.Name, Address: s.Address, About: s.About, State: s.Text(),
			Running: s.Status == mcpclient.Running, Off: s.Status == mcpclient.Off, Consent: s.WantsConsent(),
			Up: time.Since(s.Since), Restarts: s.Restarts, Tools: len(s.Tools), Tokens: s.Tokens,
			Calls: s.Calls, Failed: s.Failed, P95: s.P95, Stderr: s.Stderr,
		}
		for _, c := range s.Unseen {
			one.Unseen = append(one.Unseen, p.shown(c))
		}
		list = append(list, one)
	}
	return list
}

func (p panel) Switch(name string, on bool) error { return p.app.SwitchServer(name, on) }

// logLines bounds the lines of a log on screen.
const logLines = 1000

func (p panel) Log(name string) (string, error) {
	return app.ServerLog(p.app.Paths.ServerLog(name), logLines)
}

func (p panel) Trust(name string, seen []chat.Change) error {
	changes := make([]config.Change, 0, len(seen))
	for _, c := range p.Unseen(name) {
		if slices.Contains(seen, p.shown(c)) {
			changes = append(changes, c)
		}
	}
	return p.Accept(name, changes)
}

// shown returns a change with known secrets redacted.
func (p panel) shown(c config.Change) chat.Change {
	redact := p.app.Secrets.Known
	return chat.Change{What: c.What, Before: redact(c.Before), After: redact(c.After)}
}

// Templates returns the prompts of the MCP servers.
func (p panel) Templates() []chat.Template {
	var list []chat.Template
	for _, prompt := range p.Prompts() {
		t := chat.Template{Name: prompt.Server + ":" + prompt.Name, Help: prompt.Description}
		for _, arg := range prompt.Args {
			t.Blanks = append(t.Blanks, chat.Blank{Name: arg.Name, Help: arg.Description, Required: arg.Required})
		}
		list = append(list, t)
	}
	return list
}

func (p panel) Fill(ctx context.Context, template string, values map[string]string) (string, error) {
	server, prompt, _ := strings.Cut(template, ":") // the name of a server has no colon
	return p.app.FillPrompt(ctx, server, prompt, values)
}
