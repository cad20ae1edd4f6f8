package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/events"
	"lifehub/agent/gate"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/tui/safetext"
)

func newTasks(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var status string
	cmd := &cobra.Command{
		Use:   "tasks [WORDS…]",
		Short: "List the tasks in your notes",
		Long:  "List the tasks in your notes, those with all of the words. No model is asked.",
		Example: "  lifehub tasks\n" +
			"  lifehub tasks garden --status due",
		RunE: func(cmd *cobra.Command, given []string) error {
			flags.NoSave = true
			a, err := app.Open(cmd.Context(), sh, flags)
			if err != nil {
				return err
			}
			defer a.Close()
			if err := a.NeedsNotes(); err != nil {
				return err
			}
			for _, text := range a.Notices("listing") {
				fmt.Fprintf(sh.Err, "! %s\n", safetext.Line(text))
			}
			input, err := json.Marshal(map[string]string{"status": status, "query": strings.Join(given, " ")})
			if err != nil {
				return fmt.Errorf("list the tasks: %w", err)
			}
			text, err := callReader(cmd.Context(), a, "list_tasks", input)
			if err != nil {
				return err
			}
			return app.PrintText(sh, "tasks", safetext.Text(text)+"\n")
		},
	}
	app.RegisterNotes(&flags, cmd)
	cmd.Flags().StringVar(&status, "status", "open", "open, due (within a week, or overdue), overdue, done or all")
	return cmd
}

// callReader runs a read-only tool through the gate, unattended.
func callReader(ctx context.Context, a *app.App, name string, input json.RawMessage) (string, error) {
	tools := a.Offered()
	at := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Spec().Name == name })
	if at < 0 {
		return "", fmt.Errorf("%s is switched off", name)
	}
	schemas := args.Schemas{}
	repaired, err := schemas.Repair(tools[at], input)
	if err != nil {
		return "", err
	}
	guard := &gate.Guard{
		Gate:    gate.New(a.Rules, nil, true),
		Record:  &gate.Record{Stream: events.New(nil, time.Now), Marks: &a.Marks},
		Schemas: &schemas,
	}
	did, err := turn.RunCall(ctx, guard, a.Secrets, tools[at], repaired.Input.JSON())
	switch {
	case err != nil:
		return "", err
	case did.Status != agent.Done:
		return "", errors.New(did.Reason)
	}
	return did.Result.Text, nil
}
