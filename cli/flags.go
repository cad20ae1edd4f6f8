package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/store"
)

func registerNotes(f *app.RunFlags, cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.Notes, "notes", nil, "use just this folder of notes, for this run (repeatable)")
}

func registerRun(f *app.RunFlags, cmd *cobra.Command) {
	registerNotes(f, cmd)
	cmd.Flags().StringVarP(&f.Model, "model", "m", "", "chat model for this run")
	cmd.Flags().StringVar(&f.Mode, "mode", "", "how a question is worked on: plan, loop or team")
	cmd.Flags().BoolVar(&f.NoSave, "no-save", false, "keep nothing of this conversation")
}

// registerResume adds the flags that go on with a conversation that was kept.
func registerResume(f *app.RunFlags, cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.HasLast, "continue", "c", false, "go on with the last conversation")
	cmd.Flags().FuncP("resume", "r", "go on with a conversation, by its ID", func(id string) error {
		if f.Resume = id; id == "" { // a script's variable that holds nothing
			return errors.New("no conversation is named")
		}
		return nil
	})
	cmd.MarkFlagsMutuallyExclusive("continue", "resume", "no-save")
}

// spot is where a chat begins.
type spot struct {
	conversation, title string
	turn                string // "": at the end
}

// openConversation is the conversation to go on with, and where in it, or a new one.
func openConversation(ctx context.Context, a *app.App, flags app.RunFlags) (spot, error) {
	switch {
	case flags.Resume != "":
		name, number, isTurn := strings.Cut(flags.Resume, ".")
		c, err := a.Store.Conversation(ctx, name)
		if err != nil {
			return spot{}, settings.UsageError{Err: err}
		}
		at := spot{conversation: c.ID, title: c.Title}
		if isTurn {
			at.turn = c.ID + "." + number
			if err := a.Store.Show(ctx, c.ID, at.turn); err != nil {
				return spot{}, settings.UsageError{Err: err}
			}
		}
		return at, nil
	case flags.HasLast:
		c, err := a.Store.Last(ctx)
		if errors.Is(err, store.ErrNoConversation) {
			return spot{}, settings.UsageError{Err: errors.New("there is no conversation to go on with yet; `lifehub` starts one")}
		}
		if err != nil {
			return spot{}, settings.UsageError{Err: err}
		}
		return spot{conversation: c.ID, title: c.Title}, nil
	}
	return spot{conversation: a.Store.NewConversation()}, nil
}
