package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/store"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// traceCommand is `lifehub trace` and its flags.
type traceCommand struct {
	Process      *app.Process
	limit        int
	asJSON, full bool
}

func newTrace(sh *app.Process) *cobra.Command {
	c := &traceCommand{Process: sh}
	list := &cobra.Command{Use: "list", Short: "List traces, newest first", RunE: app.ReadingStore(sh, c.list)}
	app.AddNumber(list, &c.limit, 20, 0, "traces", "how many; 0: all")
	app.AddJSON(list, &c.asJSON, "print a JSON array")
	show := &cobra.Command{
		Use: "show [ID]", Short: "Print a turn event by event",
		Long:    "Print a turn event by event, each with its time since the turn began. ID is that of a turn, or of a\nconversation for its last turn; without one it is the last turn of all.",
		Example: "  lifehub trace show 3f9c2a       # the last turn of that conversation\n  lifehub trace show --full 3f9c2a.4",
		RunE:    c.onTrace(c.show),
	}
	show.Flags().BoolVar(&c.full, "full", false, "print prompts, results and answers in full")
	export := &cobra.Command{
		Use: "export [ID]", Short: "Print a trace as JSON lines, without secrets",
		Long: "Print a trace as JSON lines: a header, then each event and prompt as --stream-json writes events. Keys and\n" +
			"passwords from the settings, the environment and mcp.json are removed in every encoding\n" +
			"(plain, URL, base64, hex), and so is anything that looks like one.",
		RunE: c.onTrace(c.export),
	}
	return app.Group("trace", "Inspect what happened in a turn", list, show, export)
}

const noTraces = "no traces yet; each turn saves one"

// exportHead is the first line of an export.
type exportHead struct {
	Type string `json:"type"`
	store.Trace
}

func (c *traceCommand) export(_ context.Context, t store.Trace, _ []agent.Event) error {
	clean := app.SecretsOf(c.Process)
	t.Question = clean.Text(t.Question)
	if err := app.PrintJSON(c.Process, "trace", exportHead{"trace", t}); err != nil {
		return err
	}
	if _, err := (safetext.JSONWriter{To: c.Process.Out}).Write(clean.Trace(t.Lines)); err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}

func (c *traceCommand) list(ctx context.Context, s *store.Store, _ []string) error {
	list, err := s.Traces.List(ctx, c.limit)
	if err != nil {
		return err
	}
	secrets := app.SecretsOf(c.Process)
	for i := range list {
		list[i].Question = secrets.Text(list[i].Question)
	}
	return app.PrintList(c.Process, c.asJSON, "traces", noTraces, list, func(t store.Trace) string {
		note := ""
		switch {
		case t.Readable() != nil:
			note = fmt.Sprintf(" (format %d)", t.Format)
		case !t.Complete:
			note = " (incomplete)"
		}
		return fmt.Sprintf("%-12s  %s  %-6s  %4d events  %8s  %s%s", t.Turn, t.Started.Local().Format(app.ShownTime),
			t.State, t.Events, draw.Bytes(t.Size), draw.Summary(t.Question, 60), note)
	})
}

// onTrace reads the trace of a turn for a command. Damage is reported on stderr, and what can be
// read is used.
func (c *traceCommand) onTrace(do func(context.Context, store.Trace, []agent.Event) error) func(*cobra.Command, []string) error {
	return app.ReadingStore(c.Process, func(ctx context.Context, s *store.Store, given []string) error {
		if len(given) == 0 {
			last, err := s.Traces.List(ctx, 1)
			if err != nil {
				return err
			}
			if len(last) == 0 {
				return settings.UsageError{Err: errors.New(noTraces)}
			}
			fmt.Fprintf(c.Process.Err, "the last turn, %s: %s\n", last[0].Turn, draw.Summary(app.SecretsOf(c.Process).Text(last[0].Question), 60))
			given = []string{last[0].Turn}
		}
		t, err := s.Traces.Read(ctx, given[0])
		if err != nil {
			return settings.UsageError{Err: err}
		}
		if err := t.Readable(); err != nil {
			return err
		}
		events, missed, err := eventsOf(t.Lines)
		if missed > 0 {
			fmt.Fprintf(c.Process.Err, "! %s of the trace cannot be read: %s\n", draw.Count(missed, "line"), safetext.Line(err.Error()))
		}
		if t.Damage != "" {
			fmt.Fprintf(c.Process.Err, "! the trace is damaged; the readable part follows: %s\n", safetext.Line(t.Damage))
		}
		return do(ctx, t, events)
	})
}

// eventsOf parses the lines of a trace. Lines that are not events are skipped and counted; first is
// the error of the first of them.
func eventsOf(lines []byte) (events []agent.Event, missed int, first error) {
	for line := range bytes.Lines(lines) {
		var e agent.Event
		if err := json.Unmarshal(line, &e); err != nil {
			missed, first = missed+1, cmp.Or(first, err)
			continue
		}
		events = append(events, e)
	}
	return events, missed, first
}

// show prints a turn event by event, field by field.
func (c *traceCommand) show(_ context.Context, t store.Trace, events []agent.Event) error {
	w := bufio.NewWriter(c.Process.Out)
	fmt.Fprintf(w, "%s  %s  %s  %d events, %s\n", t.Turn, t.Started.Local().Format(time.DateTime), t.State, t.Events, draw.Bytes(t.Size))
	for _, event := range joinPieces(events) {
		about, lines, err := fieldsOf(event.Body, c.full)
		if err != nil {
			return err
		}
		head := event.Type + about
		switch b := event.Body.(type) {
		case agent.Ended:
			head += "  " + b.Effects.String()
		case agent.Failed:
			head += "  " + b.Effects.String()
		}
		if event.pieces > 1 {
			head += fmt.Sprintf("  %d pieces until %s", event.pieces, offset(events, event.until))
		}
		fmt.Fprintf(w, "%9s  %s\n", offset(events, event.Time), safetext.Line(head))
		for i, line := range lines {
			if !c.full && i == shownLines {
				fmt.Fprintf(w, "%11s… %d more lines; --full shows them\n", "", len(lines)-i)
				break
			}
			fmt.Fprintf(w, "%11s%s\n", "", line)
		}
	}
	switch {
	case t.Dropped > 0:
		fmt.Fprintf(w, "%9s  %d more events are not in the trace: it reached the limit traces.turn\n", "", t.Dropped)
	case !t.Complete:
		fmt.Fprintf(w, "%9s  the trace ends here: the turn was killed, or is still running\n", "")
	}
	return w.Flush()
}

// Without --full, shownLines bounds the lines of an event and shownWidth each text in it.
const shownLines, shownWidth = 20, 120

// headed are the fields that identify an event. Their values follow its type, without field names.
var headed = []string{"agent", "step", "name", "n", "path", "status", "verdict"}

// fieldsOf returns the fields of an event, named and ordered as by --stream-json: the headed ones
// in head, each other one in a line. With full, texts are not cut and nested fields are indented.
func fieldsOf(body agent.Body, full bool) (head string, lines []string, err error) {
	event, err := json.Marshal(body)
	if err != nil {
		return "", nil, err
	}
	var add func(indent, name string, value []byte) error
	add = func(indent, name string, value []byte) error {
		if full && (value[0] == '{' || value[0] == '[') {
			lines = append(lines, indent+safetext.Line(name)+":")
			return parts(value, func(name string, value []byte) error { return add(indent+"  ", name, value) })
		}
		text := plainly(value)
		if !full {
			text = draw.Summary(text, shownWidth)
		}
		lines = append(lines, indent+safetext.Line(name)+": "+strings.ReplaceAll(safetext.Text(text), "\n", "\n             "+indent))
		return nil
	}
	heads := map[string]string{}
	err = parts(event, func(name string, value []byte) error {
		switch {
		case slices.Contains(headed, name):
			heads[name] = plainly(value)
			return nil
		case !full && value[0] == '[': // one line per item
			return parts(value, func(n string, item []byte) error { return add("", name+" "+n, item) })
		}
		return add("", name, value)
	})
	for _, name := range headed {
		if value := heads[name]; value != "" {
			head += "  " + value
		}
	}
	return head, lines, err
}

// parts calls do with each field of a JSON object, in order, or each item of an array and its
// number from 1.
func parts(value []byte, do func(name string, value []byte) error) error {
	d := json.NewDecoder(bytes.NewReader(value))
	if _, err := d.Token(); err != nil {
		return err
	}
	for n := 1; d.More(); n++ {
		name := strconv.Itoa(n)
		if value[0] == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name = key.(string) // always a string in an object that was just marshalled
		}
		var part json.RawMessage
		if err := d.Decode(&part); err != nil {
			return err
		}
		if err := do(name, part); err != nil {
			return err
		}
	}
	return nil
}

// plainly returns a JSON value as text, strings without quotes.
func plainly(value []byte) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

// offset formats a time relative to the first event.
func offset(events []agent.Event, at time.Time) string {
	return fmt.Sprintf("%.3f s", at.Sub(events[0].Time).Seconds())
}

// joinedEvent is an event of a trace, with consecutive pieces of streamed text joined.
type joinedEvent struct {
	agent.Event
	pieces int
	until  time.Time // time of the last piece
}

func joinPieces(events []agent.Event) []joinedEvent {
	var list []joinedEvent
	for _, e := range events {
		if n := len(list); n > 0 {
			last := &list[n-1]
			if joined, ok := join(last.Body, e.Body); ok {
				last.Body, last.until = joined, e.Time
				last.pieces++
				continue
			}
		}
		list = append(list, joinedEvent{Event: e, pieces: 1})
	}
	return list
}

// join appends a piece of streamed text to the previous one, if they belong together.
func join(before, next agent.Body) (agent.Body, bool) {
	switch next := next.(type) {
	case agent.Said:
		if said, ok := before.(agent.Said); ok && said.Takes+next.Takes == 0 {
			return agent.Said{Content: said.Content + next.Content}, true
		}
	case agent.Thought:
		if thought, ok := before.(agent.Thought); ok && thought.Agent == next.Agent && thought.Step == next.Step {
			next.Content = thought.Content + next.Content
			return next, true
		}
	}
	return nil, false
}
