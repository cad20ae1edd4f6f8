package cli

import (
	"fmt"
	"os"
	"strings"

	"lifehub/cli/settings"
	"lifehub/mcpclient/config"
	"lifehub/mcpclient/trust"
)

// known is mcp.json and what the user has seen of it.
type known struct {
	config  config.Config
	text    string // of mcp.json
	trust   *trust.Trust
	adopted []string // servers that are taken as they are, for the first time
}

// readServers reads mcp.json and what the user has seen of it. A mistake in
// them is one of usage.
func readServers(p settings.Paths) (known, error) {
	text, err := readServersText(p.ServersFile())
	if err != nil {
		return known{}, settings.UsageError{Err: fmt.Errorf("read MCP servers: %w", err)}
	}
	config, err := config.Read(p.ServersFile(), os.LookupEnv)
	if err != nil {
		return known{}, settings.UsageError{Err: err}
	}
	trust, err := trust.Open(p.TrustFile())
	if err != nil {
		return known{}, settings.UsageError{Err: err}
	}
	adopted, err := trust.Adopt(config.Servers)
	if err != nil {
		return known{}, err
	}
	return known{config, text, trust, adopted}, nil
}

// knownServers is what readServers reads, for a command about servers.
func knownServers(sh *process) (settings.Paths, known, error) {
	p, err := settings.FindPaths(sh.getenv)
	if err != nil {
		return p, known{}, err
	}
	k, err := readServers(p)
	return p, k, err
}

// firstUse tells of servers that are taken as they are; "" when there is none.
func (k known) firstUse() string {
	if len(k.adopted) == 0 {
		return ""
	}
	return "first use of the MCP servers in mcp.json, as they stand there: " + strings.Join(k.adopted, ", ") + " (`lifehub mcp list` shows what they run)"
}
