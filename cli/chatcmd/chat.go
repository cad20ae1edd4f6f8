// Package chatcmd opens the chat and runs the work behind it: slash commands, indexing, the first run, the doctor.
// Start with [NewCommand].
package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/cli/serve"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/store"
	"lifehub/tui"
)

// Flags are the flags of `lifehub` and `lifehub chat`.
type Flags struct {
	Process  *app.Process
	RunFlags app.RunFlags
	plain    bool
	inline   bool
	pick     bool
	print    bool
}

// pickOne is the value of -r without an ID.
const pickOne = "?"

// NewFlags returns flags that are not parsed yet.
func NewFlags(sh *app.Process) *Flags { return &Flags{Process: sh} }

// Register adds the flags to a command.
func (f *Flags) Register(cmd *cobra.Command) {
	app.RegisterRun(&f.RunFlags, cmd)
	app.RegisterResume(&f.RunFlags, cmd)
	resume := cmd.Flags().Lookup("resume")
	resume.Usage, resume.NoOptDefVal = "resume a conversation; without an ID: pick one", pickOne
	cmd.Flags().BoolVar(&f.plain, "plain", false, "plain lines, no redraws: for screen readers and logs")
	cmd.Flags().BoolVar(&f.inline, "inline", false, "keep finished messages in the terminal's scrollback (no full "+
		"screen)")
	cmd.MarkFlagsMutuallyExclusive("plain", "inline")
}

// NewCommand returns `lifehub chat`.
func NewCommand(sh *app.Process) *cobra.Command {
	f := NewFlags(sh)
	cmd := &cobra.Command{
		Use:   "chat [PROMPT]",
		Short: "Open the chat",
		Example: "  lifehub chat -c                      # continue the last conversation\n" +
			"  lifehub chat -r 3f9c2a               # resume this one, or start at a message that `chats search` " +
			"found\n" +
			"  lifehub chat --notes ~/notes \"what did I plan for the trip?\"",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, given []string) error {
			given = f.TakeID(given)
			if len(given) > 1 {
				return settings.UsageError{Err: errors.New("one prompt is expected; put it in quotes")}
			}
			return f.Run(cmd.Context(), strings.Join(given, ""))
		},
	}
	f.Register(cmd)
	return cmd
}

// TakeID moves the ID of -r out of the arguments. Because the ID is optional, the flag parser
// leaves it there.
func (f *Flags) TakeID(given []string) []string {
	if f.RunFlags.Resume == pickOne && len(given) > 0 {
		f.RunFlags.Resume, given = given[0], given[1:]
	}
	return given
}

// RegisterPrint adds the flag that answers on stdout instead of opening the chat.
func (f *Flags) RegisterPrint(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.print, "print", "p", false, "answer the question on stdout and exit, as `ask` does")
}

// Asks reports whether the prompt is answered on stdout: if --print was given, or there is no
// terminal for the chat.
func (f *Flags) Asks(prompt string) bool {
	return f.print || prompt != "" && !f.plain && !app.HasScreen(f.Process)
}

// Prompt returns the question among the arguments of `lifehub`. An argument that is close to the
// name of a command is an error.
func (f *Flags) Prompt(cmd *cobra.Command, given []string) (string, error) {
	given = f.TakeID(given)
	if len(given) == 0 {
		return "", nil
	}
	if near := app.DidYouMean(cmd, given[0]); near != "" && !strings.Contains(given[0], " ") {
		return "", settings.UsageError{Err: fmt.Errorf("unknown command %q%s; `lifehub ask %s` asks it as a question",
			given[0], near, given[0])}
	}
	if len(given) > 1 {
		return "", settings.UsageError{Err: errors.New("one question is expected; put it in quotes")}
	}
	return given[0], nil
}

// Run opens the chat with a prompt and returns when the user leaves it.
func (f *Flags) Run(ctx context.Context, prompt string) error {
	if f.RunFlags.Resume == pickOne {
		f.pick, f.RunFlags.Resume = true, ""
	}
	a, err := app.Configured(f.Process, f.RunFlags)
	if err != nil {
		return err
	}
	for _, name := range f.RunFlags.Notes {
		if _, err := settings.VaultDir(name); err != nil {
			return settings.UsageError{Err: err}
		}
	}
	screen, err := f.screenOptions(a)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &openedChat{App: a, flags: f, prompt: prompt, screen: screen}
	defer c.close()
	defer cancel()

	asking := func(path string) (*store.Store, error) { return app.OpenStore(ctx, f.Process, path) }
	show, options := tui.Run, chat.Options{Screen: screen, Opener: c}
	hasScreen := !f.plain && app.HasScreen(f.Process)
	c.hasScreen = hasScreen
	if hasScreen {
		reserveThreads()
		collectSooner()
	} else {
		show = func(ctx context.Context, o chat.Options) (chat.Ended, string, error) {
			ended, err := tui.RunPlain(ctx, o, f.Process.In, f.Process.Out)
			return ended, "", err
		}
	}
	if !hasScreen || f.RunFlags.Resume != "" { // an invalid ID must fail before the screen opens
		if options, err = c.open(ctx, asking); err != nil {
			return err
		}
	}
	f.Process.Signals.LetGo() // the chat handles signals itself, since one may be meant for the turn only
	ended, left, err := show(ctx, options)
	var damaged *store.DamagedError
	if errors.As(c.failed(), &damaged) {
		if options, err = c.open(ctx, asking); err != nil { // the screen cannot ask what to do
			return err
		}
		ended, left, err = show(ctx, options)
	}
	switch {
	case c.failed() != nil:
		return c.failed()
	case err != nil:
		return fmt.Errorf("show the chat: %w", err)
	}
	if left != "" {
		fmt.Fprintln(f.Process.Err, "Resume: "+resumeCommand(programName(), left, f.RunFlags.Notes))
	}
	switch {
	case ended == chat.Interrupted, app.WasInterrupted(ctx):
		return app.ExitError{Code: app.ExitInterrupted}
	case ended == chat.Terminated:
		return app.ExitError{Code: app.ExitTerminated}
	}
	return nil
}

// Serve opens what a chat needs, runs the front end of another program, and closes it when that
// returns.
func (f *Flags) Serve(ctx context.Context, front func(context.Context, *app.App, chat.Options) error) error {
	a, err := app.Configured(f.Process, f.RunFlags)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &openedChat{App: a, flags: f, screen: chat.Screen{Mode: a.Settings.Mode}, served: true}
	defer c.close()
	defer cancel()
	options, err := c.Open(ctx)
	if err != nil {
		return err
	}
	return front(ctx, a, options)
}

// resumes reports whether the user returns to a saved conversation.
func (f *Flags) resumes() bool { return f.pick || f.RunFlags.HasLast || f.RunFlags.Resume != "" }

// screenOptions returns the screen options of the settings and flags. It needs nothing open.
func (f *Flags) screenOptions(a *app.App) (chat.Screen, error) {
	c := a.Settings
	o := chat.Screen{
		Editor: c.Editor, Environ: settings.WithoutOwnSecrets(f.Process.Environ()), Mode: c.Mode,
		Theme: chat.Theme{Name: c.Theme}, NoMouse: !c.Mouse, NoSidebar: !c.Sidebar,
		Settings: a.Paths, Inline: f.inline, Keys: c.Keys, Quiet: !c.Notify,
	}
	o.Host, _ = os.Hostname() // host of file links; links work without it
	if strings.ContainsAny(c.Theme, `/\`) {
		var err error
		if o.Theme.Colours, err = settings.OwnColours(app.AtHome(c.Theme)); err != nil {
			return o, settings.UsageError{Err: err}
		}
	}
	return o, nil
}

// openedChat is a chat and the work behind it. It may open while its screen is already shown.
type openedChat struct {
	App    *app.App
	flags  *Flags
	prompt string
	screen chat.Screen
	served bool // for the front end of another program, which has its own conversations

	hasScreen bool // which can be followed in a second view

	mu         sync.Mutex     // held while opening
	background *background    // nil until open
	used       map[string]int // uses of each command; see loadUsed
	err        error          // why opening failed
}

// Open opens the chat while its screen is already shown. Damage to the store is an error, as the screen cannot ask what
// to do about it.
func (c *openedChat) Open(ctx context.Context) (chat.Options, error) { return c.open(ctx, store.Open) }

// open opens everything the front end needs. Cancelling ctx and calling close end it.
func (c *openedChat) open(ctx context.Context, openStore func(path string) (*store.Store,
	error),
) (o chat.Options, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.err = err }()
	if err := ctx.Err(); err != nil {
		return o, err // the user has left already
	}
	if err := c.App.Assemble(ctx, c.flags.RunFlags, openStore); err != nil {
		return o, err
	}
	at, err := app.OpenConversation(ctx, c.App, c.flags.RunFlags)
	if err != nil {
		c.App.Close()
		return o, err
	}
	c.App.Attended = true
	assistant, warm := c.App.Agent(), ""
	if !c.served {
		warm = at.Conversation
	}
	c.background = startBackground(ctx, c.App, assistant, warm)
	if len(c.flags.RunFlags.Notes) == 0 { // with --notes, folders added later are not wanted
		c.background.spawn(func() { c.background.followFolders(ctx, c.flags.Process.Getenv) })
	}
	o.Screen = c.screen
	o.Assistant, o.Resumer, o.Modes = assistant, assistant, &c.App.Mode
	saved, servers := conversations{c.App.Store, c.App.Paths}, panel{c.App.Servers, c.App}
	o.Conversations, o.Archive, o.Statistics = saved, saved, saved
	o.Branches, o.Artifacts, o.Drafts = c.App.Store, c.App.Store, c.App.Store
	o.Models, o.Notes, o.Setup = models{c.App}, c.background, offers{c.background, c.flags.Process.Examples}
	o.Servers, o.Templates = servers, servers
	o.Conversation, o.Heading, o.Turn = at.Conversation, at.Title, at.Turn
	o.Pick, o.Prompt = c.flags.pick, c.prompt
	o.FirstRun = len(c.App.OpenVaults()) == 0 && len(c.App.MissingVaults) == 0 && !c.flags.resumes()
	var second []chat.Command
	if c.hasScreen {
		hub := serve.NewHub(o.Conversation)
		o.Second = hub
		second = append(second, c.background.serveCommand(ctx, &serve.Server{Hub: hub, Options: o, Paths: c.App.Paths}))
	}
	o.Status, o.Notices = c.background.status, c.background.notices
	o.Commands = slices.Concat(
		c.background.commands(assistant), callCommands(assistant),
		[]chat.Command{c.background.exportCommand(assistant)}, second, c.background.prompts(),
	)
	c.used = loadUsed(c.App.Paths.Used())
	o.Used = c.used
	return o, nil
}

// failed returns why opening failed; nil if it is not over.
func (c *openedChat) failed() error {
	if !c.mu.TryLock() {
		return nil
	}
	defer c.mu.Unlock()
	return c.err
}

// leaveTime bounds the wait for what is still open when the user has left. What is saved is as safe
// as after a kill, and the process ends.
const leaveTime = 3 * time.Second

// close waits for opening and for the background work to end, but not for ever: a folder of notes may
// not answer. The caller has cancelled their context.
func (c *openedChat) close() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	_, _ = files.Await(ctx, func() (struct{}, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.background != nil {
			saveUsed(c.App.Paths.Used(), c.used)
			c.background.wait()
			c.App.Close()
		}
		return struct{}{}, nil
	})
}

// pageOfFigures bounds the rows of the statistics page.
const pageOfFigures = 200

// resumeCommand returns the command that resumes a conversation, with the folders named for this
// run, which are not in the settings.
func resumeCommand(program, id string, notes []string) string {
	line := program + " -r " + id[:min(len(id), 10)]
	for _, name := range notes {
		line += " --notes " + shellWord(name)
	}
	return line
}

// programName returns what starts this program in a shell.
func programName() string {
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	if err != nil {
		return "lifehub"
	}
	return programFor(os.Args[0], own, exec.LookPath)
}

// programFor returns what starts the executable own, which was started as name: the name alone if
// the PATH leads to it. The executable of go run is deleted when it ends.
func programFor(name, own string, lookPath func(string) (string, error)) string {
	if found, err := lookPath(filepath.Base(name)); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil && found == own {
			return filepath.Base(name)
		}
	}
	if strings.Contains(filepath.ToSlash(own), "/go-build") {
		return "go run ."
	}
	return shellWord(name)
}

// shellWord quotes a string for a POSIX shell if necessary.
func shellWord(s string) string {
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-", r) }
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
