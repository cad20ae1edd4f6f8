package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/turn"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
	"lifehub/tui/safetext"
)

// askCommand is one run of `lifehub ask`.
type askCommand struct {
	Process    *app.Process
	RunFlags   app.RunFlags
	files      []string
	asJSON     bool
	streamJSON bool
	quiet      bool
	timeout    time.Duration   // for the whole turn; 0: none
	prompt     string          // saved prompt or skill to ask; "" if none
	to         string          // note that the answer is added to; "" if none
	schemaFile string          // file of the JSON Schema that the answer is to fit; "" if none
	schema     json.RawMessage // nil if none
	rule       gate.Rule       // rule that would allow adding the answer
	thought    strings.Builder // reasoning not printed yet
	found      string          // notice about a discovered model server
	notices    []string        // what was left out of the question

	allow, allowUntrusted []string
}

func newAsk(sh *app.Process) *cobra.Command {
	q := &askCommand{Process: sh}
	cmd := &cobra.Command{
		Use:   "ask [PROMPT…]",
		Short: "Answer one question on stdout",
		Long: "Answer one question on stdout, in Markdown; progress goes to stderr. Piped input is attached as " +
			"data, never read as a command.",
		Example: "  lifehub ask \"when did I last change the boiler filter?\"\n" +
			"  git diff | lifehub ask \"summarise this for my work log\"\n" +
			"  lifehub ask --json \"which shoes at the Lakeside Ten?\" | jq .citations\n" +
			"  lifehub ask -c \"and how often in winter?\"         # continue the last conversation\n" +
			"  lifehub ask -r 3f9c2a.2 \"and in May?\"              # a branch: ask this after its second turn\n" +
			"  lifehub ask --allow add_task \"/task call Ines\"\n" +
			"  lifehub ask --schema boiler.json \"when was it serviced?\" | jq .date\n" +
			"  lifehub ask --prompt week --to daily               # a saved prompt, the answer into today's note",
		Args: func(_ *cobra.Command, given []string) error {
			if len(given) > 1 && q.prompt == "" {
				return errors.New("one question is expected; put it in quotes")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, given []string) error { return q.run(cmd.Context(), given) },
	}
	app.RegisterRun(&q.RunFlags, cmd)
	app.RegisterResume(&q.RunFlags, cmd)
	f := cmd.Flags()
	f.StringArrayVarP(&q.files, "file", "f", nil, "attach a text or image file, or - for standard input (repeatable)")
	f.StringArrayVar(&q.allow, "allow", nil, "allow calls that would ask: a tool, a glob or a rule (repeatable)")
	f.StringArrayVar(&q.allowUntrusted, "allow-untrusted", nil,
		"allow them even if untrusted text had a part in it; the rule must name arguments (repeatable)")
	f.BoolVar(&q.asJSON, "json", false, "print one JSON object")
	f.BoolVar(&q.streamJSON, "stream-json", false, "print each event as a line of JSON")
	f.BoolVarP(&q.quiet, "quiet", "q", false, "print only errors to stderr")
	f.DurationVar(&q.timeout, "timeout", 0, "stop after this time, such as 2m, with what was answered; 0: never")
	f.StringVar(&q.prompt, "prompt", "", "ask this saved prompt or skill; PROMPT is what follows its name")
	f.StringVar(&q.schemaFile, "schema", "", "print the answer as JSON that fits the JSON Schema in this file; with "+
		"--json as its value")
	f.StringVar(&q.to, "to", "", "add the answer to a note: daily, or its path; a rule must allow append_note")
	cmd.MarkFlagsMutuallyExclusive("json", "stream-json")
	cmd.MarkFlagsMutuallyExclusive("schema", "stream-json")
	return cmd
}

func (q *askCommand) run(ctx context.Context, given []string) error {
	m, err := q.message(ctx, strings.Join(given, " "))
	if err != nil {
		return err
	}
	if err := q.readSchema(ctx); err != nil {
		return err
	}
	a, err := app.Open(ctx, q.Process, q.RunFlags)
	if err != nil {
		return err
	}
	defer a.Close()
	a.Unattended = true
	if err := q.needsModel(ctx, a); err != nil {
		return err
	}
	if err := errors.Join(a.Allow(app.AllowFlag, q.allow), a.Allow(app.UntrustedFlag, q.allowUntrusted)); err != nil {
		return err
	}
	if err := a.Ready(ctx, m.String(), app.NewBar(q.Process)); err != nil {
		return err
	}
	named, fill, err := q.saved(a, given)
	if err != nil {
		return err
	}
	a.WaitForTools(ctx, strings.Join(slices.Concat([]string{m.String(), named}, q.allow, q.allowUntrusted), "\n"),
		q.say)
	a.Waited = true
	message, err := fill(m)
	if err != nil {
		return err
	}
	for _, flag := range a.UnmatchedAllows() {
		q.Process.Notice(flag + " matches no tool")
	}
	at, err := app.OpenConversation(ctx, a, q.RunFlags)
	if err != nil {
		return err
	}
	if at.Turn != "" {
		if err := a.Store.GoOn(ctx, at.Conversation, at.Turn); err != nil {
			return err
		}
	}
	if !q.quiet {
		q.warn(ctx, a)
		q.tellUnfinished(ctx, a, at.Conversation)
	}
	if q.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.timeout)
		defer cancel()
	}
	assistant := a.Agent()
	events := func() <-chan agent.Event { return assistant.Ask(ctx, at.Conversation, message) }
	if q.to != "" {
		if err := q.mayWrite(ctx, a, assistant); err != nil {
			return err
		}
		assistant.Then = q.append
		if conversation, id := q.cutOff(ctx, a, message); id != "" {
			at.Conversation = conversation
			events = func() <-chan agent.Event { return assistant.Resume(ctx, conversation, id) }
		}
	}
	err = q.follow(ctx, a, assistant, at.Conversation, events())
	// exit at once: if killed while embedding, the run would look as if nothing had been written; the next run embeds
	if q.to != "" {
		return err
	}
	patience, cancel := context.WithTimeout(ctx, app.EmbedPatience)
	defer cancel()
	if err := assistant.Memory.EmbedAll(patience); err != nil {
		slog.Warn("embed the memory", "error", err)
	}
	return err
}

// say prints a notice on stderr.
func (q *askCommand) say(text string) {
	if !q.quiet {
		q.Process.Notice(text)
	}
}

// warn prints what is missing for the answer.
func (q *askCommand) warn(ctx context.Context, a *app.App) {
	q.found = a.FoundServer(ctx)
	for _, text := range append(a.Notices("answering"), q.found) {
		q.say(text)
	}
	for _, s := range a.Servers.State() {
		q.say(app.Unseen(s))
	}
	if len(a.OpenVaults()) == 0 && len(a.MissingVaults) == 0 {
		q.say("answering without notes: `lifehub index DIR` adds a folder, --notes DIR uses one for this run")
	}
}

// tellUnfinished reports that the previous question has no complete answer. The new question is
// asked nevertheless.
func (q *askCommand) tellUnfinished(ctx context.Context, a *app.App, conversation string) {
	w, err := a.Store.Window(ctx, conversation, 1) // no whole exchange
	if err != nil || len(w.Exchanges) == 0 {
		return
	}
	switch last := w.Exchanges[0]; {
	case last.Running:
		q.say("another LifeHub is still answering the previous question")
	case last.Open:
		q.say("the previous question was interrupted; it is left as it is")
	}
}

// message combines the prompt with piped input and attached files. Those are attachments, never
// commands, even if the prompt is empty. Input that the question can do without is not awaited long.
func (q *askCommand) message(ctx context.Context, prompt string) (agent.Message, error) {
	named := slices.Contains(q.files, "-")
	optional := !named && (prompt != "" && prompt != "-" || q.prompt != "")
	if prompt == "-" {
		prompt = ""
	}
	m := agent.Message{Text: prompt}
	if named || q.Process.IsPiped() {
		notices := io.Writer(q.Process.Err)
		if q.quiet {
			notices = io.Discard
		}
		piped, err := q.Process.ReadInput(ctx, optional, notices)
		if errors.Is(err, app.ErrNoInput) {
			q.notices = append(q.notices, err.Error())
			q.say(err.Error() + "; asking without it")
		} else if err != nil {
			return m, err
		}
		if piped != "" {
			m.Attached = append(m.Attached, agent.Attachment{Name: "stdin", Text: piped})
		}
	}
	for _, name := range q.files {
		if name == "-" {
			continue // read above
		}
		if agent.IsPicture(name) {
			mention, err := mentionOf(name)
			if err != nil {
				return m, settings.UsageError{Err: fmt.Errorf("add an image to the question: %w", err)}
			}
			m.Text = strings.TrimSpace(m.Text + " " + mention)
			continue
		}
		text, err := app.ReadAttached(ctx, name)
		if err != nil {
			return m, fmt.Errorf("add a file to the question: %w", err)
		}
		m.Attached = append(m.Attached, agent.Attachment{Name: name, Text: text})
	}
	if strings.TrimSpace(m.Text) == "" && len(m.Attached) == 0 && q.prompt == "" {
		return m, settings.UsageError{Err: errors.New("no question given; pass it as an argument or pipe it in")}
	}
	return m, nil
}

// mentionOf returns what attaches an image file to a message, as typed in the chat.
func mentionOf(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", name)
	case strings.ContainsAny(path, "\"\n"):
		return "", fmt.Errorf("%s: rename it; its path contains a quote or a line break", name)
	}
	return `@"` + path + `"`, nil
}

// askResult is the object that --json prints. Its keys are stable, except those about the coverage of
// the search.
type askResult struct {
	Answer       string           `json:"answer"`
	Citations    []agent.Citation `json:"citations"`
	Effects      agent.Effects    `json:"effects"`
	Conversation string           `json:"conversation"`
	Turn         string           `json:"turn"`
	Metrics      agent.Metrics    `json:"metrics"`
	// actions and reasoning, each with the length of the answer before it in bytes
	Log []agent.Logged `json:"log,omitempty"`
	// the notes hardly answer the question, as the answer then begins by saying
	Unanswered bool      `json:"unanswered,omitempty"`
	Nearest    []nearest `json:"nearest,omitempty"` // if Unanswered: the nearest passages, best first
	// if Unanswered: they are near the topic but hardly answer it
	Close        bool            `json:"close,omitempty"`
	Coverage     *agent.Coverage `json:"coverage,omitempty"`      // how much the search covered
	StillReading string          `json:"still_reading,omitempty"` // progress of indexing during the search, and advice
	caveats      []string
	Dropped      []string        `json:"dropped,omitempty"` // plan steps left out or changed, with the reason
	Notices      []string        `json:"notices,omitempty"` // what was left out of the question
	Value        json.RawMessage `json:"value,omitempty"`   // the answer as JSON that fits the schema of --schema
	// why the answer is incomplete, with what was found listed in it, or why no step succeeded
	Error string `json:"error,omitempty"`
	Exit  int    `json:"exit"`
}

// nearest is a passage that is close to the question but does not answer it.
type nearest struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Heading string `json:"heading"`
}

// follow prints the events of a turn and returns an error that carries the exit code.
func (q *askCommand) follow(ctx context.Context, a *app.App, asks *turn.Agent, conversation string,
	events <-chan agent.Event,
) error {
	result := askResult{Conversation: conversation, Citations: []agent.Citation{}, Notices: q.notices}
	var failed error
	var view chat.View
	// the offline answer is a list, rendered at the end
	atEnd := a.Provider.State().Provider == "offline" && term.IsTerminal(q.Process.Out.Fd())
	streams := !q.asJSON && !q.streamJSON && !atEnd && q.schema == nil
	lines := json.NewEncoder(safetext.JSONWriter{To: q.Process.Out})
	lines.SetEscapeHTML(false)
	for event := range events {
		view.Apply(event, time.Now())
		if q.streamJSON {
			if err := lines.Encode(event); err != nil {
				failed = fmt.Errorf("write an event: %w", err)
			}
		}
		if said, ok := event.Body.(agent.Said); ok && streams {
			if said.Takes > 0 {
				said.Content = "\n\n" // what is printed stays
			}
			if _, err := io.WriteString(q.Process.Out, safetext.Text(said.Content)); err != nil {
				failed = fmt.Errorf("write the answer: %w", err)
			}
		}
		q.report(&view, event)
	}
	result.Turn, result.Answer, result.Effects = view.Turn, string(view.Answer), view.Effects()
	for _, c := range view.Cited {
		result.Citations = append(result.Citations, c.Citation)
	}
	if view.Failed != nil {
		failed, result.Dropped = failure(*view.Failed), view.Failed.Dropped
		if errors.Is(view.Failed.Err, turn.ErrNotDone) && len(view.Asked) > 0 {
			failed = q.notWritten(view.Failed.Message, view.Asked)
		}
		result.Error = failed.Error()
	} else if end := view.Ended; end != nil {
		result.caveats = end.Caveats()
		result.Log, result.StillReading, result.Dropped = end.Log, end.Coverage.StillReading(), end.Dropped
		result.Metrics, result.Unanswered, result.Close, result.Coverage = end.Metrics,
			end.Unanswered, end.Close, end.Coverage
		for _, s := range end.Nearest {
			result.Nearest = append(result.Nearest, nearest{s.Path, s.Line, s.Heading})
		}
		switch {
		case end.Interrupted && errors.Is(ctx.Err(), context.DeadlineExceeded):
			failed = app.ExitError{Err: fmt.Errorf("no whole answer within %v", q.timeout), Code: app.ExitFailed}
			result.Error = failed.Error()
		case end.Interrupted:
			failed = app.ExitError{Code: app.ExitInterrupted}
		}
	}
	if failed == nil && len(view.Asked) > 0 {
		failed = app.ExitError{Err: unaskedError(view.Asked), Code: app.ExitRefused}
	}
	if err := stepsFailed(view.FailedSteps()); failed == nil && err != nil {
		failed, result.Error = app.ExitError{Err: err, Code: app.ExitFailed}, err.Error()
	}
	if q.schema != nil && failed == nil {
		if result.Value, failed = q.value(ctx, asks, result); failed != nil {
			result.Error = failed.Error()
		}
	}
	result.Exit = exitCode(ctx, failed)
	if q.asJSON {
		if err := lines.Encode(result); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	} else if !q.streamJSON {
		if q.schema != nil {
			if err := q.printValue(result.Value); err != nil {
				return err
			}
		} else if atEnd {
			if err := printDocument(q.Process, result.Answer, 0); err != nil {
				return err
			}
		} else if result.Answer != "" && !strings.HasSuffix(result.Answer, "\n") {
			fmt.Fprintln(q.Process.Out)
		}
		q.closeAnswer(result)
	}
	// The model server may have connected meanwhile, so check only now.
	if state := a.Provider.State(); state.Provider == "offline" && !q.quiet && state.Text != q.found {
		fmt.Fprintln(q.Process.Err, safetext.Line(state.Text))
	}
	for _, s := range a.Servers.State() {
		if !s.OK() && len(s.Unseen) == 0 {
			q.say("answered without the MCP server " + s.Name + ", which is " + safetext.Line(s.Text()))
		}
	}
	return failed
}

// stepsFailed returns an error with the reasons why steps failed; nil if there are none.
func stepsFailed(failed []chat.Step) error {
	var reasons []string
	for _, s := range failed {
		reasons = append(reasons, s.Step.Tool+": "+s.Reason)
	}
	if len(reasons) == 0 {
		return nil
	}
	return errors.New(safetext.Line("every step failed: " + strings.Join(slices.Compact(reasons), "; ")))
}

// unaskedError lists the calls that needed permission and the flags that would have allowed them.
func unaskedError(asked []agent.PermissionAsked) error {
	var names, flags, never []string
	for _, a := range asked {
		flag, rule := app.AllowFlag, a.Allow
		if a.Untrusted {
			flag = app.UntrustedFlag
		}
		if strings.Contains(rule, " ") {
			rule = "'" + rule + "'"
		}
		names = append(names, a.Name)
		if rule == "" {
			never = append(never, "no flag can allow "+a.Name+": "+a.Reason)
		} else {
			flags = append(flags, flag+" "+rule)
		}
	}
	distinct := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	text := strings.Join(distinct(names), ", ") + " needed permission, and there was nobody to ask"
	if flags = distinct(flags); len(flags) > 0 {
		text += "; allow it with " + strings.Join(flags, " ")
	}
	return errors.New(safetext.Line(strings.Join(append([]string{text}, distinct(never)...), "; ")))
}

// closeAnswer prints the citations and effects of the turn on stderr.
func (q *askCommand) closeAnswer(result askResult) {
	if q.quiet {
		return
	}
	fmt.Fprintln(q.Process.Err)
	for _, line := range app.CitationLines(result.Citations) {
		fmt.Fprintln(q.Process.Err, line)
	}
	fmt.Fprintln(q.Process.Err, safetext.Line(result.Effects.String()))
	for _, line := range result.caveats {
		q.say(line)
	}
}

// report prints the progress of the turn on stderr.
func (q *askCommand) report(view *chat.View, event agent.Event) {
	if q.quiet {
		return
	}
	if thought, ok := event.Body.(agent.Thought); ok && thought.Step == "" {
		q.thought.WriteString(thought.Content)
		return
	}
	if text := strings.TrimSpace(q.thought.String()); text != "" {
		fmt.Fprintf(q.Process.Err, "· thinking: %s\n", safetext.Line(text))
		q.thought.Reset()
	}
	if asked, ok := event.Body.(agent.InputAsked); ok {
		q.say(fmt.Sprintf("%s asks for something (%s): %s", asked.From, asked.Kind, asked.Message))
	}
	for _, line := range view.Lines(event, time.Now()) {
		fmt.Fprintf(q.Process.Err, "· %s\n", line)
	}
}

// failure returns the error of a failed turn with its exit code.
func failure(body agent.Failed) error {
	err := errors.New(body.Message)
	if body.Hint != "" {
		err = fmt.Errorf("%w\n  %s", err, body.Hint)
	}
	if errors.Is(body.Err, llm.ErrUnreachable) {
		return app.ExitError{Err: err, Code: app.ExitUnreachable}
	}
	return app.ExitError{Err: err, Code: app.ExitFailed}
}
