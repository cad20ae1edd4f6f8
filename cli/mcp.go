package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"lifehub/mcpclient"
	"lifehub/tui/safetext"
)

func newMCP(sh *shell) *cobra.Command {
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the MCP servers and how they are",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := sh.open(cmd.Context(), runFlags{noSave: true})
			if err != nil {
				return err
			}
			defer a.close()
			a.waitForServers(cmd.Context())
			return sh.listServers(a, asJSON)
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return group("mcp", "The MCP servers, which bring further tools", list)
}

func (sh *shell) listServers(a *app, asJSON bool) error {
	states := a.servers.State()
	if asJSON {
		if states == nil {
			states = []mcpclient.ServerState{}
		}
		return json.NewEncoder(safeJSON{sh.out}).Encode(states)
	}
	if len(states) == 0 {
		fmt.Fprintf(sh.err, "no servers; they are listed in %s\n", a.paths.servers())
	}
	for _, s := range states {
		fmt.Fprintf(sh.out, "%-16s %s\n", safetext.Line(s.Name), safetext.Line(s.Text()))
	}
	return nil
}
