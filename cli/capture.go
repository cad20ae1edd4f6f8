package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/memory"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/tui"
	"lifehub/tui/safetext"
)

// capture is one run of a command that writes to the notes without a chat or a model. Its calls are
// a turn of a conversation of its own, so that they are journalled and /undo takes them back.
type capture struct {
	process  *app.Process
	runFlags app.RunFlags
	app      *app.App // nil until it is opened
	yes      bool
	asJSON   bool
}

// captured is the object that --json prints.
type captured struct {
	Path string `json:"path"`
	Line int    `json:"line"` // first line of what was added
	Text string `json:"text"`
	Due  string `json:"due,omitempty"` // YYYY-MM-DD
	URL  string `json:"url,omitempty"`
	Turn string `json:"turn,omitempty"` // for `lifehub -r TURN`, where /undo takes it back; "" with --no-save

	Error string `json:"error,omitempty"` // what failed after it was added
}

// writing is what a capture does.
type writing struct {
	message agent.Message // the question of its turn
	from    []string      // whoever wrote the text, if not the user
	work    work
	allows  []gate.Rule // what --yes adds: a rule for each of its tools
	lines   int         // how many it writes, which are printed if no dialog showed them
}

// work has the calls of a capture. *single and *page are the real ones.
type work interface {
	turn.Work
	describe(result *captured) // adds what is known of the result
}

// single is one call.
type single struct {
	step      agent.Step
	text, due string // what it adds; may be ""
}

func (s *single) Next(last *agent.Result) *agent.Step {
	if last != nil {
		return nil
	}
	return &s.step
}

func (s *single) describe(result *captured) { result.Text, result.Due = s.text, s.due }

func (c *capture) register(cmd *cobra.Command) *cobra.Command {
	app.RegisterNotes(&c.runFlags, cmd)
	f := cmd.Flags()
	f.BoolVarP(&c.yes, "yes", "y", false, "do not ask; deny rules still apply")
	f.BoolVar(&c.runFlags.NoSave, "no-save", false, "don't save how to undo it")
	app.AddJSON(cmd, &c.asJSON, "print one JSON object")
	return cmd
}

const capturePermission = "On a terminal the change is shown first; elsewhere a rule or --yes must allow it. " +
	"`lifehub -c` and /undo take it back."

func newAdd(sh *app.Process) *cobra.Command {
	c := &capture{process: sh}
	return c.register(&cobra.Command{
		Use:   "add [TEXT…]",
		Short: "Add a task to your notes",
		Long: "Add a task to your notes; a day at its end becomes the due date. Without TEXT it is read from stdin. " +
			"No model is\nasked. " + capturePermission,
		Example: "  lifehub add call the plumber tomorrow\n" +
			"  lifehub add \"renew the passport by 3 March\" --yes --json",
		RunE: func(cmd *cobra.Command, given []string) error {
			w, text, err := c.text(cmd.Context(), "add", given)
			if err != nil {
				return err
			}
			task, due := when.Due(text, when.DayOf(time.Now()))
			input := map[string]string{"text": task}
			if !due.IsZero() {
				input["due"] = due.String()
			}
			call := w.once("add_task", input)
			call.text, call.due = task, input["due"]
			return c.run(cmd.Context(), w)
		},
	})
}

func newLog(sh *app.Process) *cobra.Command {
	c := &capture{process: sh}
	return c.register(&cobra.Command{
		Use:   "log [TEXT…]",
		Short: "Add a line to today's daily note",
		Long: "Add a line to today's daily note. Without TEXT it is read from stdin. No model is asked. " +
			capturePermission,
		Example: "  lifehub log ran 8 km\n  uptime | lifehub log --yes",
		RunE: func(cmd *cobra.Command, given []string) error {
			w, text, err := c.text(cmd.Context(), "log", given)
			if err != nil {
				return err
			}
			w.once(agent.AppendNote, map[string]string{"content": text}).text = text
			return c.run(cmd.Context(), w)
		},
	})
}

// text returns the words given or, without any, what is piped in. Piped text is untrusted.
func (c *capture) text(ctx context.Context, name string, given []string) (writing, string, error) {
	text := strings.TrimSpace(strings.Join(given, " "))
	w := writing{message: agent.Message{Text: name + " " + text}}
	if len(given) == 0 && c.process.IsPiped() {
		var err error
		if text, err = c.process.ReadInput(ctx, false, c.process.Err); err != nil {
			return w, "", err
		}
		w.message = agent.Message{Text: name, Attached: []agent.Attachment{{Name: "stdin", Text: text}}}
		w.from = []string{"stdin"}
	}
	if text == "" {
		return w, "", settings.UsageError{Err: fmt.Errorf("nothing to %s; pass it as an argument or pipe it in", name)}
	}
	return w, text, nil
}

// once makes it a single call, which it returns.
func (w *writing) once(tool string, input map[string]string) *single {
	call := &single{step: stepOf(tool, input)}
	w.work = call
	w.lines = 1 + strings.Count(strings.TrimSpace(input["content"]), "\n")
	w.allows = []gate.Rule{{Tool: tool, Level: agent.Auto, Untrusted: true, From: "--yes"}}
	return call
}

func stepOf(tool string, input any) agent.Step {
	raw, _ := json.Marshal(input) // strings and numbers, so it cannot fail
	return agent.Step{Tool: tool, Input: raw}
}

// run makes the calls and prints what was done.
func (c *capture) run(ctx context.Context, w writing) error {
	c.runFlags.Alone, c.runFlags.NoIndex = true, true
	attended := !c.yes && term.IsTerminal(c.process.In.Fd()) && term.IsTerminal(c.process.Err.Fd())
	if !attended {
		next, err := c.queueUp(ctx)
		if err != nil {
			return err
		}
		defer next()
	}
	a, err := app.Open(ctx, c.process, c.runFlags)
	if err != nil && !errors.As(err, new(settings.UsageError)) {
		err = fmt.Errorf("nothing was changed: %w", err)
	}
	if err != nil {
		return err
	}
	defer a.Close()
	c.app = a
	if err := a.NeedsNotes(); err != nil {
		return err
	}
	for _, text := range a.MissingVaults {
		c.process.Notice("writing without " + text)
	}
	if first := a.OpenVaults()[0]; first.Lost() { // what was meant for it is not written elsewhere
		return fmt.Errorf("nothing was changed: %w", first.Folder.Check())
	}
	for _, needed := range w.allows {
		if why := a.Missing()[needed.Tool]; why != "" {
			return app.ExitError{
				Err:  fmt.Errorf("nothing was changed: %s is not available: %s", needed.Tool, why),
				Code: app.ExitRefused,
			}
		}
	}
	a.Unattended = !attended
	if c.yes {
		a.Rules = a.Rules.With(w.allows...)
	}
	assistant := a.Agent()
	assistant.Tools = app.AtOnce{App: a} // no model, no servers to wait for
	assistant.Memory, assistant.Facts = memory.LongTerm{}, nil
	events := assistant.Calls(ctx, a.Store.NewConversation(), w.message.String(), w.work, w.from...)
	result, answer, err := c.follow(ctx, attended, w, events)
	if result.Path == "" {
		return err
	}
	if c.runFlags.NoSave {
		result.Turn = ""
	}
	if err != nil { // it was added nevertheless
		err = fmt.Errorf("added to %s:%d; but %w", result.Path, result.Line, err)
		result.Error = err.Error()
	}
	if c.asJSON {
		w.work.describe(&result)
		return errors.Join(app.PrintJSON(c.process, "result", result), err)
	}
	if err != nil {
		return err
	}
	answer = safetext.Text(answer) + "\n"
	if w.lines > 0 && !attended {
		answer += c.wrote(result, w.lines)
	}
	return app.PrintText(c.process, "result", answer)
}

// maxWrote is how many lines of a change are printed.
const maxWrote = 20

// wrote returns count lines that were added to a note, each with its place, and with hidden characters made
// visible.
func (c *capture) wrote(result captured, count int) string {
	raw, err := c.noteText(result.Path)
	lines := strings.Split(raw, "\n")
	if err != nil || result.Line < 1 || result.Line > len(lines) {
		return ""
	}
	var out strings.Builder
	lines = lines[result.Line-1 : min(len(lines), result.Line-1+count)]
	for i, line := range lines {
		if i == maxWrote {
			fmt.Fprintf(&out, "… and %s\n", text.Count(len(lines)-i, "line"))
			break
		}
		fmt.Fprintf(&out, "%s:%d: %s\n", safetext.Line(result.Path), result.Line+i,
			safetext.Visible(strings.TrimSuffix(line, "\r")))
	}
	return out.String()
}

// noteText returns the text of a note by its path, which begins with the vault's name if the vault is not
// the first.
func (c *capture) noteText(path string) (string, error) {
	folders := c.app.Folders()
	folder := folders[0]
	for _, other := range folders[1:] {
		if below, is := strings.CutPrefix(path, filepath.Base(other.Dir())+"/"); is {
			folder, path = other, below
		}
	}
	raw, _, err := folder.Raw(path)
	return string(raw), err
}

// queueUp waits for captures of other processes, which a script may start by the hundred, and returns
// a function that lets the next one run. Without a lock file they compete for the database.
func (c *capture) queueUp(ctx context.Context) (next func(), err error) {
	p, err := settings.FindPaths(c.process.Getenv)
	if err == nil {
		err = os.MkdirAll(p.State, 0o700)
	}
	if err != nil {
		return func() {}, nil
	}
	file, err := os.OpenFile(p.CaptureLock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}, nil
	}
	if err := files.Lock(ctx, file); err != nil {
		return nil, fmt.Errorf("nothing was changed: %w", err)
	}
	return func() { _ = files.Unlock(file) }, nil // the end of the process unlocks it as well
}

// follow answers what the turn asks and returns where it wrote, and the last result. An error means
// that nothing was written, or, with a path, what failed after it.
func (c *capture) follow(ctx context.Context, attended bool, w writing,
	events <-chan agent.Event,
) (result captured, answer string, err error) {
	questions := tui.NewQuestions(c.process.In, c.process.Err)
	var asked agent.PermissionAsked
	var last agent.StepChanged
	var did agent.Effects
	for event := range events {
		result.Turn = event.Turn
		switch body := event.Body.(type) {
		case agent.PermissionAsked:
			if asked = body; attended {
				questions.Permit(ctx, body)
			}
		case agent.StepChanged:
			last = body
		case agent.Failed:
			did, err = body.Effects, failure(body)
			if unsaved := (*agent.UnsavedError)(nil); errors.As(body.Err, &unsaved) {
				unsaved.Did = "" // the caller says what was written, and where
				err = unsaved
			}
		case agent.Ended:
			did, answer = body.Effects, body.Answer
			if body.Interrupted {
				err = app.ExitError{Code: app.ExitInterrupted}
			}
		}
	}
	changed := slices.IndexFunc(did, func(e agent.Effect) bool { return e.Kind == agent.NoteChanged })
	unknown := slices.ContainsFunc(did, func(e agent.Effect) bool { return e.Kind == agent.Unknown })
	interrupted := err != nil && err.Error() == ""
	_, declined := agent.DeclinedIn(last.Status, last.Reason)
	switch {
	case changed >= 0:
		result.Path, result.Line = did[changed].Path, did[changed].Line
		if interrupted {
			err = app.ExitError{Err: errors.New("the run was interrupted"), Code: app.ExitInterrupted}
		}
	case interrupted:
	case last.Status == agent.Denied && asked.Name != "" && !attended:
		err = app.ExitError{Err: c.needs(w, asked), Code: app.ExitRefused}
	case declined:
		err = app.ExitError{Err: errors.New("nothing was changed"), Code: app.ExitFailed}
	case last.Status == agent.Denied:
		err = app.ExitError{Err: fmt.Errorf("nothing was changed: %s", last.Reason), Code: app.ExitRefused}
	case unknown:
		err = fmt.Errorf("it is not known whether anything was changed: %s", last.Reason)
	case last.Reason != "" || err == nil:
		err = fmt.Errorf("nothing was changed: %s", cmp.Or(last.Reason, answer))
	default:
		err = fmt.Errorf("nothing was changed: %w", err)
	}
	return result, answer, err
}

// needs returns the error for a call that nobody could be asked about.
func (c *capture) needs(w writing, asked agent.PermissionAsked) error {
	err := fmt.Errorf("%s needs a permission, and there is nobody to ask (%s)", asked.Name, asked.Reason)
	at := slices.IndexFunc(w.allows, func(r gate.Rule) bool { return r.Tool == asked.Name })
	switch {
	case c.yes || at < 0:
		return err
	case asked.Untrusted: // no rule of the file is enough
		return fmt.Errorf("%w; pass --yes", err)
	}
	return fmt.Errorf("%w. Pass --yes, or add this line to the rules in %s:\n  - %s", err,
		c.app.Paths.PermissionsFile(), gate.Format(w.allows[at]))
}
