package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/llm"
	"lifehub/mcpclient"
	"lifehub/mcpclient/config"
)

// ServerTrust is the content of mcp.json and what the user has reviewed of it.
type ServerTrust struct {
	Settings config.Config
	text     string // text of mcp.json
	Trust    *config.Trust
	adopted  []string // servers adopted without review, at first use
}

// ReadServers reads mcp.json and the trust file. A mistake in them is a usage error.
func ReadServers(p settings.Paths) (ServerTrust, error) {
	text, err := readServersText(p.ServersFile())
	if err != nil {
		return ServerTrust{}, settings.UsageError{Err: fmt.Errorf("read MCP servers: %w", err)}
	}
	servers, err := config.Read(p.ServersFile())
	if err != nil {
		return ServerTrust{}, settings.UsageError{Err: err}
	}
	trust, err := config.OpenTrust(p.TrustFile())
	if err != nil {
		return ServerTrust{}, settings.UsageError{Err: err}
	}
	adopted, err := trust.Adopt(servers.Servers)
	if err != nil {
		return ServerTrust{}, err
	}
	return ServerTrust{servers, text, trust, adopted}, nil
}

// UnreadServers returns one line that explains why mcp.json cannot be read, or "" if it can, for
// commands that do not need it.
func UnreadServers(p settings.Paths) string {
	_, err := config.Read(p.ServersFile())
	if err == nil {
		return ""
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return "no MCP server is known: " + line
}

// KnownServers finds the folders and calls ReadServers.
func KnownServers(sh *Process) (settings.Paths, ServerTrust, error) {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return p, ServerTrust{}, err
	}
	k, err := ReadServers(p)
	return p, k, err
}

// FirstUse returns a notice about servers adopted without review, or "" if there are none.
func (k ServerTrust) FirstUse() string {
	if len(k.adopted) == 0 {
		return ""
	}
	return "first use of the MCP servers in mcp.json: " + strings.Join(k.adopted, ", ") +
		" (`lifehub mcp list` shows what they run)"
}

// serversFile tracks changes of mcp.json and of the trust file.
type serversFile struct {
	mu    sync.Mutex
	text  string    // last text applied or refused
	last  string    // text of the previous read
	trust time.Time // modification time of the trust file
}

// newServersFile returns the state after a start with the given text of mcp.json.
func newServersFile(p settings.Paths, text string) *serversFile {
	f := &serversFile{text: text, last: text}
	f.trustChanged(p.TrustFile())
	return f
}

// LookAtServers applies mcp.json if it has changed and two reads in a row agree, since the file may
// be half written. It returns a notice for the user. A file that cannot be read changes nothing.
func (a *App) LookAtServers() string {
	f := a.followed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.trustChanged(a.Paths.TrustFile()) {
		a.Servers.Recheck()
	}
	text, err := readServersText(a.Paths.ServersFile())
	if err != nil {
		text = "cannot be read: " + err.Error()
	}
	settled := text == f.last
	f.last = text
	if !settled || text == f.text {
		return ""
	}
	f.text = text
	changes, err := a.useServers()
	switch {
	case err != nil:
		return fmt.Sprintf("mcp.json has changed and is not used; the MCP servers stay as they are: %v", err)
	case len(changes) > 0:
		return "mcp.json has changed: " + strings.Join(changes, ", ") + "."
	}
	return ""
}

// SwitchServer enables or disables a server, in mcp.json and in this run.
func (a *App) SwitchServer(name string, on bool) error {
	if err := config.Enable(a.Paths.ServersFile(), name, on); err != nil {
		return err
	}
	return a.followServers()
}

// AddServer adds a server that the user was shown and agreed to, to mcp.json and to this run. What
// it offers must still be reviewed.
func (a *App) AddServer(s config.Entry) error {
	if err := config.Add(a.Paths.ServersFile(), s); err != nil {
		return err
	}
	written, err := config.Read(a.Paths.ServersFile())
	if err == nil {
		written, err = written.Only(s.Name)
	}
	if err == nil {
		err = a.ServerTrust.Trust.Shown(written.Servers...)
	}
	if err == nil {
		err = a.followServers()
	}
	return err
}

// followServers applies a change of mcp.json by this run.
func (a *App) followServers() error {
	a.followed.mu.Lock()
	defer a.followed.mu.Unlock()
	text, err := readServersText(a.Paths.ServersFile())
	if err == nil {
		a.followed.text, a.followed.last = text, text
		_, err = a.useServers()
	}
	return err
}

func (a *App) useServers() ([]string, error) {
	servers, err := config.Read(a.Paths.ServersFile())
	if err != nil {
		return nil, err
	}
	return a.Servers.Use(servers), nil
}

// readServersText returns the text of mcp.json, or "" if it does not exist.
func readServersText(file string) (string, error) {
	text, err := files.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(text), err
}

// trustChanged reports whether the trust file was written since the last call, and remembers when.
func (f *serversFile) trustChanged(file string) bool {
	info, err := os.Stat(file)
	if err != nil || info.ModTime().Equal(f.trust) {
		return false
	}
	f.trust = info.ModTime()
	return true
}

// maxSampled bounds the output of sampling by a server, in tokens.
const maxSampled = 2048

// user answers what MCP servers request.
type user struct{ app *App }

// Ask shows a server's form to the user through the front end that runs the call.
func (user) Ask(ctx context.Context, form agent.Question) agent.Input {
	return agent.HostFrom(ctx).Ask(ctx, form)
}

// Roots returns the folders of notes.
func (u user) Roots() []string { return u.app.noteFolders() }

// Sample answers a server's sampling request with the user's model, if the user agrees. The user is
// shown the whole prompt.
func (u user) Sample(ctx context.Context, server string, request llm.Request) (model, text string, err error) {
	if u.app.Provider.State().Provider == "offline" {
		return "", "", errors.New("no model is available now")
	}
	given := agent.HostFrom(ctx).Ask(ctx, agent.Question{
		From: server, Kind: agent.SamplingInput,
		Prompt: request.Messages,
	})
	switch {
	case given.Action == agent.InputAccepted:
	case given.Reason != "":
		return "", "", fmt.Errorf("the user's model may not answer: %s", given.Reason)
	default:
		return "", "", errors.New("the user's model may not answer: the user said no")
	}
	if request.MaxTokens <= 0 || request.MaxTokens > maxSampled {
		request.MaxTokens = maxSampled
	}
	answer, _, err := llm.Collect(u.app.Provider.Stream(ctx, request))
	if err != nil {
		return "", "", fmt.Errorf("the user's model: %w", err)
	}
	return u.app.Provider.State().Model, answer.Text, nil
}

// Unseen returns a notice about parts of a server that are not used until the user reviews them, or
// "" if there are none.
func Unseen(s mcpclient.ServerState) string {
	if len(s.Unseen) == 0 {
		return ""
	}
	what := make([]string, 0, len(s.Unseen))
	for _, c := range s.Unseen {
		what = append(what, c.What)
	}
	if len(what) > 3 {
		what = append(what[:3], fmt.Sprintf("%d more", len(what)-3))
	}
	return fmt.Sprintf("MCP server %s changed (%s); review before use: /mcp in the chat, or lifehub mcp trust %s",
		s.Name, strings.Join(what, ", "), s.Name)
}

// ServerLog returns the last lines of a server's log, including the rotated file.
func ServerLog(file string, lines int) (string, error) {
	var text strings.Builder
	for _, part := range []string{file + ".old", file} {
		data, err := os.ReadFile(part)
		if err != nil && !os.IsNotExist(err) {
			return "", fmt.Errorf("read the log: %w", err)
		}
		text.Write(data)
	}
	all := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if lines > 0 && len(all) > lines {
		all = all[len(all)-lines:]
	}
	return strings.Join(all, "\n"), nil
}

// FillPrompt has a server fill in a prompt by its name and returns it as one text, which the user did not type.
func (a *App) FillPrompt(ctx context.Context, server, name string, args map[string]string) (string, error) {
	messages, err := a.Servers.FillPrompt(ctx, server, name, args)
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
	return strings.Join(parts, "\n\n"), nil
}
