package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/store"
	"lifehub/tui/safetext"
)

// artifactsCommand is `lifehub artifacts` and its flags.
type artifactsCommand struct {
	Process       *app.Process
	chat          string // only documents of this conversation; "": all
	asJSON, force bool
}

func newArtifacts(sh *app.Process) *cobra.Command {
	c := &artifactsCommand{Process: sh}
	list := &cobra.Command{Use: "list", Short: "List documents, last changed first", RunE: app.ReadingStore(sh, c.list)}
	app.AddJSON(list, &c.asJSON, "one JSON object")
	show := &cobra.Command{
		Use: "show NAME [VERSION]", Short: "Print a document (default: its newest version)",
		RunE: app.ReadingStore(sh, c.show),
	}
	diff := &cobra.Command{
		Use: "diff NAME [VERSION]", Short: "Show a document's versions, or what one changed",
		RunE: app.ReadingStore(sh, c.diff),
	}
	export := &cobra.Command{
		Use: "export NAME FILE", Short: "Write the newest version of a document to a file",
		RunE: app.ReadingStore(sh, c.export),
	}
	export.Flags().BoolVar(&c.force, "force", false, "overwrite an existing file")
	cmd := app.Group("artifacts", "Documents LifeHub wrote", list, show, diff, export)
	cmd.PersistentFlags().StringVar(&c.chat, "chat", "", "only documents of this conversation")
	return cmd
}

func (c *artifactsCommand) list(ctx context.Context, conversations *store.Store, _ []string) error {
	all, err := conversations.Artifacts(ctx, c.chat)
	if err != nil {
		return err
	}
	if c.asJSON {
		for i := range all {
			all[i].Text = ""
		}
		return app.PrintJSON(c.Process, "documents", map[string]any{"artifacts": append([]agent.Artifact{}, all...)})
	}
	return app.PrintList(c.Process, false, "documents", "no documents yet; LifeHub writes them in loop and team mode",
		all, func(a agent.Artifact) string {
			return fmt.Sprintf("%s  version %d, %d bytes, %s, by %s  (conversation %s)",
				safetext.Line(a.Name), a.Version, len(a.Text), a.Time.Format(time.DateTime),
				safetext.Line(a.By), a.Conversation)
		})
}

func (c *artifactsCommand) show(ctx context.Context, conversations *store.Store, given []string) error {
	a, err := artifactOf(ctx, conversations, c.chat, given)
	if err != nil {
		return err
	}
	return printDocument(c.Process, a.Text, 0)
}

func (c *artifactsCommand) diff(ctx context.Context, conversations *store.Store, given []string) error {
	a, err := artifactOf(ctx, conversations, c.chat, given)
	if err != nil {
		return err
	}
	versions, err := conversations.ArtifactVersions(ctx, a.Conversation, a.Name)
	if err != nil {
		return err
	}
	was := agent.Artifact{}
	for _, v := range versions {
		if len(given) == 1 || v.Version == a.Version {
			fmt.Fprintf(c.Process.Out, "version %d, %s, by %s  %s\n", v.Version, v.Time.Format(time.DateTime),
				safetext.Line(v.By), safetext.Line(v.Why))
			fmt.Fprint(c.Process.Out, safetext.Text(udiff.Unified(fmt.Sprint(was.Version),
				fmt.Sprint(v.Version), was.Text, v.Text)))
		}
		was = v
	}
	return nil
}

func (c *artifactsCommand) export(ctx context.Context, conversations *store.Store, given []string) error {
	a, err := artifactOf(ctx, conversations, c.chat, given[:1])
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !c.force {
		flags |= os.O_EXCL
	}
	file, err := os.OpenFile(given[1], flags, 0o600)
	if err != nil {
		return fmt.Errorf("export %s: %w", a.Name, err)
	}
	_, err = file.WriteString(app.Sourced(app.Disarm(a.Text), a.Origin))
	return errors.Join(err, file.Close())
}

// artifactOf finds a document by name, in the given version or the newest. If several conversations
// have one of that name, it takes the one changed last.
func artifactOf(ctx context.Context, conversations *store.Store, chat string, given []string) (agent.Artifact, error) {
	version := 0
	if len(given) > 1 {
		n, err := strconv.Atoi(given[1])
		if err != nil || n < 1 {
			return agent.Artifact{}, settings.UsageError{Err: fmt.Errorf("%q is not a version; versions are numbered from 1", given[1])}
		}
		version = n
	}
	all, err := conversations.Artifacts(ctx, chat)
	if err != nil {
		return agent.Artifact{}, err
	}
	for _, a := range all {
		if a.Name == given[0] {
			found, err := conversations.Artifact(ctx, a.Conversation, a.Name, version)
			if errors.Is(err, agent.ErrNoArtifact) {
				err = app.ExitError{Err: err, Code: app.ExitNothing}
			}
			return found, err
		}
	}
	err = fmt.Errorf("%q: %w; `lifehub artifacts list` names them all", given[0], agent.ErrNoArtifact)
	return agent.Artifact{}, app.ExitError{Err: err, Code: app.ExitNothing}
}
