package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/store"
)

// RegisterNotes adds the flag --notes.
func RegisterNotes(f *RunFlags, cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.Notes, "notes", nil, "use only this notes folder, for this run (repeatable)")
}

// RegisterRun adds the flags of commands that run the agent.
func RegisterRun(f *RunFlags, cmd *cobra.Command) {
	RegisterNotes(f, cmd)
	cmd.Flags().StringVarP(&f.Model, "model", "m", "", "chat model for this run")
	cmd.Flags().StringVar(&f.Mode, "mode", "", "answer strategy: auto, plan, loop or team")
	cmd.Flags().BoolFunc("read-only", "no tool that writes or sends, whatever the rules say", func(on string) error {
		f.ReadOnly = on
		return nil
	})
	cmd.Flags().BoolVar(&f.NoSave, "no-save", false, "don't save this conversation")
}

// RegisterResume adds the flags that resume a saved conversation.
func RegisterResume(f *RunFlags, cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.HasLast, "continue", "c", false, "continue the last conversation")
	cmd.Flags().FuncP("resume", "r", "resume a conversation, by its ID", func(id string) error {
		if f.Resume = id; id == "" { // such as an empty variable in a script
			return errors.New("no conversation ID given")
		}
		return nil
	})
	cmd.MarkFlagsMutuallyExclusive("continue", "resume", "no-save")
}

// Spot is where a chat begins.
type Spot struct {
	Conversation, Title string
	Turn                string // "": at the end
}

// OpenConversation returns the conversation to resume and the turn to resume at, or a new
// conversation.
func OpenConversation(ctx context.Context, a *App, flags RunFlags) (Spot, error) {
	switch {
	case flags.Resume != "":
		name, number, isTurn := strings.Cut(flags.Resume, ".")
		c, err := a.Store.Conversation(ctx, name)
		if err != nil {
			return Spot{}, settings.UsageError{Err: err}
		}
		at := Spot{Conversation: c.ID, Title: c.Title}
		if isTurn {
			at.Turn = c.ID + "." + number
			if err := a.Store.Show(ctx, c.ID, at.Turn); err != nil {
				return Spot{}, settings.UsageError{Err: err}
			}
		}
		return at, nil
	case flags.HasLast:
		c, err := a.Store.Last(ctx)
		if errors.Is(err, store.ErrNoConversation) {
			return Spot{}, settings.UsageError{Err: errors.New("no conversation to continue yet; `lifehub` starts one")}
		}
		if err != nil {
			return Spot{}, settings.UsageError{Err: err}
		}
		return Spot{Conversation: c.ID, Title: c.Title}, nil
	}
	return Spot{Conversation: a.Store.NewConversation()}, nil
}

// CheckArgs limits the number of arguments of a command and its subcommands to what the usage line
// says: NAME is required, [NAME] optional, NAME… repeatable. Any violation is a usage error, also
// if the command has a check of its own.
func CheckArgs(cmd *cobra.Command) {
	own, takes := cmd.Args, argsOf(cmd.Use)
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		var err error
		if own != nil {
			err = own(cmd, given)
		} else if takes(cmd, given) != nil {
			err = fmt.Errorf("usage: %s", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
		}
		if err != nil {
			return settings.UsageError{Err: fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath())}
		}
		return nil
	}
	for _, below := range cmd.Commands() {
		CheckArgs(below)
	}
}

func argsOf(use string) cobra.PositionalArgs {
	least, most, endless := 0, 0, false
	for _, name := range strings.Fields(use)[1:] {
		most++
		if !strings.HasPrefix(name, "[") {
			least++
		}
		endless = endless || strings.Contains(name, "…")
	}
	switch {
	case endless:
		return cobra.MinimumNArgs(least)
	case most == 0:
		return cobra.NoArgs
	case least == most:
		return cobra.ExactArgs(most)
	}
	return cobra.RangeArgs(least, most)
}

// Group returns a command with subcommands. Called without one it runs the subcommand list, as git
// branch does, or prints its help.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, given []string) error {
			if len(given) > 0 {
				return settings.UsageError{Err: fmt.Errorf("%s has no command %q%s; see `lifehub %s --help`", use,
					given[0], DidYouMean(cmd, given[0]), use)}
			}
			i := slices.IndexFunc(commands, func(c *cobra.Command) bool { return c.Name() == "list" })
			if i < 0 {
				return cmd.Help()
			}
			commands[i].SetContext(cmd.Context())
			if err := commands[i].RunE(commands[i], nil); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "`lifehub %s --help` shows its other commands\n", use)
			return nil
		},
	}
	cmd.AddCommand(commands...)
	return cmd
}

// DidYouMean suggests a subcommand of cmd with a name close to word, or returns "".
func DidYouMean(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = 2
	if len(word) <= 3 { // most of these differ in two characters
		cmd.SuggestionsMinimumDistance = 1
	}
	near := cmd.SuggestionsFor(word)
	if len(near) == 0 {
		return ""
	}
	meant := cmp.Or(text.Nearest(word, near, 2), near[0])
	if at := slices.IndexFunc(near, func(name string) bool { return strings.HasPrefix(name, word) }); at >= 0 {
		meant = near[at]
	}
	return fmt.Sprintf(" (did you mean %q?)", meant)
}

// FlagError turns a flag parsing error into a usage error that suggests the nearest flag.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := text.Nearest(unknown.GetSpecifiedName(), names, 3); near != "" &&
			len(unknown.GetSpecifiedName()) > 1 {
			err = fmt.Errorf("%w (did you mean --%s?)", err, near)
		}
	}
	return settings.UsageError{Err: fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath())}
}
