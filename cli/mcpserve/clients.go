package mcpserve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/tui/safetext"
)

// program is a client and the format of its configuration.
type program struct {
	file   string // name of its settings file
	path   string // key in that file under which servers are listed
	format func(any) ([]byte, error)
}

// run is the command that starts the server, as clients write it.
type run struct {
	Command string            `json:"command" toml:"command"`
	Args    []string          `json:"args" toml:"args"`
	Env     map[string]string `json:"env,omitempty" toml:"env,omitempty"`
}

// programs are the clients that --print-config supports.
var programs = map[string]program{
	"claude-code": {".mcp.json of a project, or ~/.claude.json for all", "mcpServers", asJSON},
	"codex":       {"~/.codex/config.toml", "mcp_servers", asTOML},
	"cursor":      {"~/.cursor/mcp.json", "mcpServers", asJSON},
	"zed":         {"~/.config/zed/settings.json", "context_servers", asJSON},
}

func clientNames() string { return strings.Join(slices.Sorted(maps.Keys(programs)), ", ") }

// asJSON encodes v as JSON without escaping HTML characters in paths.
func asJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// asTOML omits the header of the outer table, because a file may define a table only once.
func asTOML(v any) ([]byte, error) {
	text, err := toml.Marshal(v)
	_, entry, _ := bytes.Cut(text, []byte("\n"))
	return entry, err
}

// printConfig prints the entry for a client on stdout, and the name of its settings file on stderr.
func printConfig(sh *app.Process, o options) error {
	c, ok := programs[o.config]
	if !ok {
		hint := ""
		if near := text.Nearest(o.config, slices.Collect(maps.Keys(programs)), 4); near != "" {
			hint = fmt.Sprintf(" Did you mean %s?", near)
		}
		return settings.UsageError{Err: fmt.Errorf("--print-config %s: this client is not known.%s Known are %s; "+
			"most others take the entry of cursor", o.config, hint, clientNames())}
	}
	r, err := o.run(sh)
	if err != nil {
		return err
	}
	entry, err := c.format(map[string]map[string]run{c.path: {"lifehub": r}})
	if err != nil {
		return fmt.Errorf("write the entry: %w", err)
	}
	fmt.Fprintf(sh.Err, "add this to %s\n", c.file)
	_, err = fmt.Fprintf(sh.Out, "%s\n", bytes.TrimSpace(entry))
	return err
}

// run returns the command with absolute paths, since a client may start it in any directory.
func (o options) run(sh *app.Process) (run, error) {
	command, err := os.Executable()
	if err != nil {
		return run{}, fmt.Errorf("find the path of this program: %w", err)
	}
	r := run{Command: command, Args: []string{"mcp", "serve"}, Env: map[string]string{}}
	for _, dir := range o.RunFlags.Notes {
		full, err := settings.VaultDir(dir)
		if err != nil {
			return run{}, settings.UsageError{Err: err}
		}
		r.Args = append(r.Args, "--notes", full)
	}
	if o.writes {
		r.Args = append(r.Args, "--writes")
	}
	if home, ok := sh.Getenv("LIFEHUB_HOME"); ok && home != "" {
		if home, err = filepath.Abs(home); err != nil {
			return run{}, err
		}
		r.Env["LIFEHUB_HOME"] = home
	}
	for _, path := range append([]string{r.Command, r.Env["LIFEHUB_HOME"]}, r.Args...) {
		if safetext.Line(path) != path { // some formats cannot hold it, and the user could not read it
			return run{}, settings.UsageError{Err: fmt.Errorf("the path %s has characters that cannot be shown: "+
				"give the folder another name, or a link to it", strconv.QuoteToASCII(path))}
		}
	}
	return r, nil
}
