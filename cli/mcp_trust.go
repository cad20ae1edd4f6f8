package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/mcpclient"
	"lifehub/mcpclient/config"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

func newMCPTest(sh *app.Process) *cobra.Command {
	return &cobra.Command{
		Use: "test NAME", Short: "Start a server and list what it offers",
		Long: "Start a server and list what it offers; nothing is called. If a remote server needs your consent, the " +
			"page to\n" +
			"open is shown; o and Enter opens it. One port of this machine is open meanwhile.",
		RunE: withServer(sh, func(ctx context.Context, a *app.App, name string) error {
			return testServer(ctx, sh, a.Servers, name, term.IsTerminal(sh.In.Fd()))
		}),
	}
}

func newMCPConsent(sh *app.Process) *cobra.Command {
	return &cobra.Command{
		Use: "consent NAME", Short: "Sign in to a remote server",
		Long: "Sign in to a remote server (OAuth), as `mcp test` does in a terminal: the page to open is shown. The " +
			"credential\n" +
			"is saved in a file that only you can read; `mcp remove` deletes it.",
		RunE: withServer(sh, func(ctx context.Context, a *app.App, name string) error {
			return testServer(ctx, sh, a.Servers, name, true)
		}),
	}
}

// testServer waits for a server to start and lists what it offers. If consent is true, the user can
// sign in.
func testServer(ctx context.Context, sh *app.Process, servers *mcpclient.Client, name string, consent bool) error {
	began := time.Now()
	if err := servers.Wait(ctx); err != nil {
		return err
	}
	if servers.State()[0].WantsConsent() && consent {
		if err := consentTo(ctx, sh, servers, name); err != nil {
			return err
		}
		began = time.Now()
	}
	took := time.Since(began)
	state := servers.State()[0]
	var offers strings.Builder
	fmt.Fprintln(&offers, serverLines(state))
	if state.Status == mcpclient.Running {
		listOffers(&offers, servers, state)
		fmt.Fprintf(&offers, "started and listed in %v; nothing was called\n", took.Round(time.Millisecond))
	}
	if err := app.PrintText(sh, "test of the server", offers.String()); err != nil {
		return err
	}
	if state.Status != mcpclient.Running {
		return fmt.Errorf("test MCP server %s: it is %s", name, safetext.Line(state.Text()))
	}
	return nil
}

// listOffers writes a line for each tool, resource and prompt of a server, and for each change not
// reviewed yet.
func listOffers(to io.Writer, servers *mcpclient.Client, state mcpclient.ServerState) {
	for _, t := range servers.Tools() {
		first, _, _ := strings.Cut(t.Spec().Description, "\n")
		fmt.Fprintf(to, "  tool      %-32s %s\n", safetext.Line(t.Spec().Name), safetext.Line(first))
	}
	for _, r := range servers.Resources() {
		fmt.Fprintf(to, "  resource  @%s:%s  %s\n", safetext.Line(r.Server),
			safetext.Line(r.URI), safetext.Line(r.Name))
	}
	for _, p := range servers.Prompts() {
		fmt.Fprintf(to, "  prompt    /%s:%s  %s\n", safetext.Line(p.Server), safetext.Line(p.Name),
			safetext.Line(p.Description))
	}
	for _, c := range state.Unseen {
		fmt.Fprintf(to, "  unseen    %s\n", safetext.Line(c.What))
	}
}

// consentTo shows a server's sign-in page and waits until the server has restarted.
func consentTo(ctx context.Context, sh *app.Process, servers *mcpclient.Client, name string) error {
	before := servers.State()[0].Since
	err := servers.Consent(ctx, name, func(page string) {
		_, site, _ := agent.ReadAddress(page) // the page was checked
		fmt.Fprintf(sh.Err, "%s needs your consent. Open this page of %s:\n\n  %s\n\n", name,
			site, safetext.Reveal(page))
		fmt.Fprintln(sh.Err, "o and Enter opens it; Ctrl+C cancels.")
		go openOnKey(sh, page)
	})
	if err != nil {
		return err
	}
	return waitUntil(ctx, servers, "test MCP server "+name, func(s mcpclient.ServerState) bool {
		return s.Since.After(before) && s.Status != mcpclient.Starting
	})
}

// waitUntil waits until the only server reaches a state.
func waitUntil(ctx context.Context, servers *mcpclient.Client, what string,
	reached func(mcpclient.ServerState) bool,
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, app.ServerPatience+time.Second, errors.New("it has not started"))
	defer cancel()
	for !reached(servers.State()[0]) {
		select {
		case <-servers.Changes():
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
	return nil
}

// openOnKey opens a page in the browser if the user types o. It returns after the first line of
// stdin.
func openOnKey(sh *app.Process, page string) {
	line, err := bufio.NewReader(sh.In).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "o" {
		return
	}
	opener := map[string][]string{"darwin": {"open"}, "windows": {
		"rundll32",
		"url.dll,FileProtocolHandler",
	}}[runtime.GOOS]
	if opener == nil {
		opener = []string{"xdg-open"}
	}
	cmd := exec.Command(opener[0], append(opener[1:], page)...)
	cmd.Env = settings.WithoutOwnSecrets(sh.Environ())
	if err := cmd.Start(); err != nil {
		sh.Notice(err.Error())
	}
}

func newMCPTrust(sh *app.Process) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "trust NAME", Short: "Review what is new or has changed in a server, and trust it",
		Long: "Show what is new or has changed in a server since you reviewed it: what it runs, and each tool's name,\n" +
			"description and arguments. [-struck out-] is what it was, {+this+} is new. Nothing of it is used until " +
			"you agree.",
		RunE: withServer(sh, func(ctx context.Context, a *app.App,
			name string,
		) error {
			return trustServer(ctx, sh, a, name, yes)
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "trust it without asking")
	return cmd
}

// maxLooks bounds how often a server can present changes in one review: its entry, its tools, and
// one more.
const maxLooks = 3

func trustServer(ctx context.Context, sh *app.Process, a *app.App, name string, yes bool) error {
	servers := a.Servers
	if err := servers.Wait(ctx); err != nil {
		return err
	}
	looks := 0
	for ; looks < maxLooks; looks++ {
		unseen := servers.Unseen(name)
		if len(unseen) == 0 {
			break
		}
		for _, c := range unseen {
			if err := showChange(sh, panel.ChangeHead(chat.Change(c)), c); err != nil {
				return err
			}
		}
		if err := agree(ctx, sh, fmt.Sprintf("Trust %s with this?", name), yes); err != nil {
			return err
		}
		if err := servers.Accept(name, unseen); err != nil {
			return err
		}
		if err := waitUntil(ctx, servers, "trust MCP server "+name, func(s mcpclient.ServerState) bool {
			if reflect.DeepEqual(s.Unseen, unseen) {
				return false // the server has not checked again yet
			}
			settled := []mcpclient.Status{mcpclient.Running, mcpclient.Off, mcpclient.Restarting}
			return len(s.Unseen) > 0 || slices.Contains(settled, s.Status)
		}); err != nil {
			return err
		}
	}
	state := servers.State()[0]
	switch {
	case len(state.Unseen) > 0:
		return fmt.Errorf("trust MCP server %s: it changed during the review; try again", name)
	case looks == 0:
		for _, c := range a.ServerTrust.Trust.Known(name) {
			if err := showChange(sh, safetext.Reveal(c.What)+":", c); err != nil {
				return err
			}
		}
		fmt.Fprintln(sh.Out, "Nothing has changed since you reviewed it.")
	}
	fmt.Fprintf(sh.Out, "%s: %s\n", name, safetext.Line(state.Text()))
	return nil
}

// showChange prints a whole change, with hidden characters made visible.
func showChange(sh *app.Process, head string, c config.Change) error {
	text := panel.MarkedChange(chat.Change(c), draw.Unstyled, draw.Unstyled)
	return app.PrintText(sh, "change", fmt.Sprintf("%s\n  %s\n", head, strings.ReplaceAll(text, "\n", "\n  ")))
}
