package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/tui"
)

// chatFlags are the flags of `lifehub` and `lifehub chat`.
type chatFlags struct {
	*shell
	runFlags
	plain  bool
	inline bool
	pick   bool
}

// pickOne is what -r means without an ID.
const pickOne = "?"

func newChatFlags(sh *shell) *chatFlags { return &chatFlags{shell: sh} }

func (f *chatFlags) register(cmd *cobra.Command) {
	f.runFlags.register(cmd)
	cmd.Flags().BoolVarP(&f.hasLast, "continue", "c", false, "go on with the last conversation")
	cmd.Flags().StringVarP(&f.resume, "resume", "r", "", "go on with a conversation; without an ID: pick one")
	cmd.Flags().Lookup("resume").NoOptDefVal = pickOne
	cmd.Flags().BoolVar(&f.plain, "plain", false, "print lines and never draw again: for screen readers and logs")
	cmd.Flags().BoolVar(&f.inline, "inline", false, "print what is over into the terminal's own scrollback")
	cmd.MarkFlagsMutuallyExclusive("continue", "resume")
	cmd.MarkFlagsMutuallyExclusive("plain", "inline")
}

func newChat(sh *shell) *cobra.Command {
	f := newChatFlags(sh)
	cmd := &cobra.Command{
		Use:   "chat [PROMPT]",
		Short: "Open the chat",
		Example: "  lifehub chat -c                      # go on with the last conversation\n" +
			"  lifehub chat -r 3f9c2a               # go on with this one, or at a message that `chats search` found\n" +
			"  lifehub chat --notes ~/notes \"what did I plan for the trip?\"",
		Args: args(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			given = f.takeID(given)
			if len(given) > 1 {
				return usageError{errors.New("one prompt is expected; put it in quotes")}
			}
			return f.run(cmd.Context(), strings.Join(given, ""))
		},
	}
	f.register(cmd)
	return cmd
}

// takeID gives -r its ID, which reaches us as an argument since it may be left
// out, and returns the other arguments.
func (f *chatFlags) takeID(given []string) []string {
	if f.resume == pickOne && len(given) > 0 {
		f.resume, given = given[0], given[1:]
	}
	return given
}

func (f *chatFlags) run(ctx context.Context, prompt string) error {
	if f.resume == pickOne {
		f.pick, f.resume = true, ""
	}
	a, err := f.open(ctx, f.runFlags)
	if err != nil {
		return err
	}
	defer a.close()
	at, err := a.place(ctx, f.runFlags)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	life := begin(ctx, a)
	defer life.wait()
	defer cancel()

	assistant := a.agent()
	options := tui.Options{
		Assistant: assistant, Resume: a.resume(assistant), Conversations: conversations{a.store}, Branches: a.store, Models: models{a}, Notes: offers{life},
		Servers: panel{a}, Mentions: a.mentions, Preview: a.preview, Templates: a.templates,
		Conversation: at.conversation, Heading: at.title, Turn: at.turn, Search: a.store.Search, Rename: a.store.Rename, Pick: f.pick, Prompt: prompt, FirstRun: len(a.open()) == 0,
		Status: life.status, Notices: life.notices, Prompts: a.store.Prompts, Figures: a.figures, Commands: slices.Concat(life.commands(), []tui.Command{noteCommand(assistant)}, a.prompts()),
		Editor: a.config.Editor, Mode: a.config.Mode, UseMode: func(name string) { a.modes.use(agent.Mode(name)) }, Theme: a.config.Theme, NoMouse: !a.config.Mouse,
		Inline: f.inline, Keys: a.config.Keys, Vi: a.config.Editing == "vi", Quiet: !a.config.Notify,
	}
	if strings.ContainsAny(a.config.Theme, `/\`) {
		if options.Colours, err = ownColours(atHome(a.config.Theme)); err != nil {
			return usageError{err}
		}
	}
	if a.config.Titles {
		options.Title = life.title
	}
	show := tui.Run
	if f.plain || !f.hasScreen() {
		show = func(ctx context.Context, o tui.Options) (tui.Ended, error) { return tui.RunPlain(ctx, o, f.in, f.out) }
	}
	ended, err := show(ctx, options)
	switch {
	case err != nil:
		return fmt.Errorf("show the chat: %w", err)
	case ended == tui.Interrupted:
		return exitError{code: exitInterrupted}
	case ended == tui.Terminated:
		return exitError{code: exitTerminated}
	}
	return nil
}

// resume goes on with a turn once the servers are up that its steps may need.
func (a *app) resume(assistant *agent.Agent) func(ctx context.Context, conversation, turn string) <-chan agent.Event {
	return func(ctx context.Context, conversation, turn string) <-chan agent.Event {
		a.waitForServers(ctx, nil)
		return assistant.Resume(ctx, conversation, turn)
	}
}

// hasScreen tells whether there is a terminal that can be drawn on.
func (sh *shell) hasScreen() bool {
	name, _ := sh.getenv("TERM")
	return term.IsTerminal(sh.in.Fd()) && term.IsTerminal(sh.out.Fd()) && name != "dumb" && name != ""
}
