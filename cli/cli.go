// Package cli is the command line and the wiring, the only package that knows all others. Start
// with [Main]; cli/app opens and connects what a command needs.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"lifehub/cli/acp"
	"lifehub/cli/app"
	"lifehub/cli/chatcmd"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/internal/when"
	"lifehub/llm"
	"lifehub/tui/safetext"
)

// grace is the time that a command has to end after a signal. The process ends then, whatever it is
// blocked in; what was saved is as safe as after a kill.
const grace = 2 * time.Second

// Main runs the command line and returns the exit code. licences is the text of the command licenses; examples has the
// starter notes in examples/notes.
func Main(licences string, examples fs.FS) int {
	// New files are private to their owner, whatever the user's umask.
	setUmask()
	when.SetLocal()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := app.CancelOnSignal(cancel)
	defer signals.LetGo()
	defer context.AfterFunc(ctx, func() {
		time.Sleep(grace)
		os.Exit(exitCode(ctx, nil))
	})()

	sh := &app.Process{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environment: app.System{}, Signals: signals,
		Licences: licences, Examples: examples,
	}
	if p, err := settings.FindPaths(sh.Getenv); err == nil {
		defer dumpOnSignal(p.State)()
	}
	root := newRoot(sh)
	showErrorsOf(sh, root)
	if width, ok := app.Columns(os.Stdout); ok {
		wrapHelp(root, width)
	}
	shown := func(w io.Writer, s fang.Styles, err error) { showError(sh, w, s, err) }
	err := fang.Execute(ctx, root, fang.WithVersion(settings.Version()), fang.WithErrorHandler(shown))
	if err == nil {
		err = sh.Failed
	}
	return exitCode(ctx, err)
}

// showErrorsOf makes a command and its subcommands print their own errors. Before fang prints an
// error it queries the terminal's background colour, which would disturb a plain chat and block
// forever while another reader has stdin.
func showErrorsOf(sh *app.Process, cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, given []string) error {
			if sh.Failed = run(cmd, given); sh.Failed != nil {
				showError(sh, sh.Err, fang.Styles{}, sh.Failed)
			}
			return nil
		}
	}
	for _, below := range cmd.Commands() {
		showErrorsOf(sh, below)
	}
}

func exitCode(ctx context.Context, err error) int {
	var exit app.ExitError
	var usage settings.UsageError
	var caught app.SignalError
	signalled := errors.As(context.Cause(ctx), &caught)
	switch {
	case errors.As(err, &exit) && !(signalled && exit.Code == app.ExitInterrupted):
		return exit.Code
	case signalled:
		if caught.Signal == syscall.SIGTERM {
			return app.ExitTerminated
		}
		return app.ExitInterrupted
	case err == nil:
		return app.ExitDone
	case errors.As(err, &usage) && !files.IsFault(err):
		return app.ExitUsage
	case errors.Is(err, llm.ErrUnreachable):
		return app.ExitUnreachable
	}
	return app.ExitFailed
}

// showError prints an error in plain Unix form, with secrets redacted.
func showError(sh *app.Process, w io.Writer, _ fang.Styles, err error) {
	var exit app.ExitError
	if errors.As(err, &exit) && exit.Err == nil || errors.Is(err, context.Canceled) {
		return
	}
	fmt.Fprintln(w, "lifehub:", safetext.Text(app.SecretsOf(sh).Text(err.Error())))
}

func newRoot(sh *app.Process) *cobra.Command {
	flags, prompt := chatcmd.NewFlags(sh), ""
	root := &cobra.Command{
		Use:   "lifehub [PROMPT]",
		Short: "A chat in your terminal that knows your notes",
		Long: "LifeHub answers from your Markdown notes, runs tools, asks before it changes anything, and checks\n" +
			"every citation against the note it names. It works with Ollama, any OpenAI-compatible server, or none.",
		Example: "  lifehub                                 # the chat\n" +
			"  lifehub \"what is due?\"                  # the chat, with a question; -p prints the answer\n" +
			"  lifehub index ~/notes                   # index your notes\n" +
			"  lifehub ask \"how often do I run?\"       # one question, answer on stdout\n" +
			"  lifehub search \"boiler pressure\" -n 3   # passages, without a model",
		Args: func(cmd *cobra.Command, given []string) (err error) {
			prompt, err = flags.Prompt(cmd, given)
			return err
		},
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.Asks(prompt) {
				return (&askCommand{Process: sh, RunFlags: flags.RunFlags}).run(cmd.Context(), []string{prompt})
			}
			return flags.Run(cmd.Context(), prompt)
		},
	}
	root.SetFlagErrorFunc(app.FlagError)
	flags.Register(root)
	flags.RegisterPrint(root)
	root.AddCommand(
		chatcmd.NewCommand(sh), newAsk(sh), newIndex(sh), newSearch(sh), newNote(sh), newRelated(sh),
		newChats(sh), newMemory(sh), newArtifacts(sh), newTools(sh), newPermissions(sh),
		newMCP(sh), newModels(sh), newTrace(sh), newStats(sh), newDoctor(sh), newConfig(sh), acp.New(sh), newServe(sh),
		newTasks(sh), newBrief(sh), newHealth(sh), newContradictions(sh), newCheck(sh),
		newAdd(sh), newLog(sh), newClip(sh), newExport(sh), newLicenses(sh), newVersion(sh),
	)
	app.CheckArgs(root)
	return root
}
