package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"lifehub/cli/settings"
	"lifehub/mcpclient/config"
)

// followed is mcp.json as it was last looked at, and when the trust file was
// last written.
type followed struct {
	mu    sync.Mutex
	text  string // that is in force, or was refused
	last  string // as it was read the time before
	trust time.Time
}

// newFollowed is the state after a start with the servers of mcp.json as they
// were just read.
func newFollowed(p settings.Paths, text string) *followed {
	f := &followed{text: text, last: text}
	f.trusted(p.TrustFile())
	return f
}

// lookAtServers applies mcp.json when it has changed and was the same twice
// in a row, for it may be in the middle of being written. It returns what the
// user should know of that. A file that cannot be read changes nothing.
func (a *app) lookAtServers() string {
	f := a.followed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.trusted(a.Paths.TrustFile()) {
		a.servers.Recheck()
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
		return fmt.Sprintf("mcp.json has changed and is not used, the MCP servers stay as they are: %v", err)
	case len(changes) > 0:
		return "mcp.json has changed: " + strings.Join(changes, ", ") + "."
	}
	return ""
}

// applyServers applies what LifeHub itself has just written into mcp.json.
func (a *app) applyServers() error {
	a.followed.mu.Lock()
	defer a.followed.mu.Unlock()
	text, err := readServersText(a.Paths.ServersFile())
	if err == nil {
		a.followed.text, a.followed.last = text, text
		_, err = a.useServers()
	}
	return err
}

func (a *app) useServers() ([]string, error) {
	config, err := config.Read(a.Paths.ServersFile(), os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return a.servers.Use(config), nil
}

// readServersText is what mcp.json holds; "" where there is none.
func readServersText(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(text), err
}

// trusted reports whether the trust file was written since it was last looked at.
func (f *followed) trusted(file string) bool {
	info, err := os.Stat(file)
	if err != nil || info.ModTime().Equal(f.trust) {
		return false
	}
	f.trust = info.ModTime()
	return true
}
