package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// toldEvent is an event as a trace shows it: pieces of a text that follow one
// another are one.
type toldEvent struct {
	agent.Event
	pieces int
	until  time.Time // of the last piece
}

func joinPieces(events []agent.Event) []toldEvent {
	var list []toldEvent
	for _, e := range events {
		if n := len(list); n > 0 {
			last := &list[n-1]
			if joined, ok := join(last.Body, e.Body); ok {
				last.Body, last.until = joined, e.Time
				last.pieces++
				continue
			}
		}
		list = append(list, toldEvent{Event: e, pieces: 1})
	}
	return list
}

// join adds a piece of a text to the piece before it.
func join(before, next agent.Body) (agent.Body, bool) {
	switch next := next.(type) {
	case agent.Said:
		if said, ok := before.(agent.Said); ok {
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

// tell says what happened in one line and, where there is more, in detail.
func tell(e agent.Event, full bool) (head, detail string) {
	switch b := e.Body.(type) {
	case agent.Started:
		return b.Mode, b.Message
	case agent.PhaseStarted:
		return strings.TrimSpace(b.Step + " " + b.Agent + attemptOf(b.Attempt)), b.Reason
	case agent.PhaseEnded:
		return strings.TrimSpace(fmt.Sprintf("%s %s%s, %d ms", b.Step, b.Agent, attemptOf(b.Attempt), b.Took)), ""
	case agent.ArtifactChanged:
		return fmt.Sprintf("%s %s, version %d by %s", b.Step, b.Name, b.Version, b.By), b.Why
	case agent.Evaluated:
		return fmt.Sprintf("%s%s: passed %t, score %.2f", b.Step, attemptOf(b.Attempt), b.Passed, b.Score), strings.TrimSpace(b.Feedback + "\n" + b.Suggestions)
	case agent.Prompted:
		return tellPrompt(b, full)
	case agent.PlanMade:
		return tellPlan(b)
	case agent.StepChanged:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", b.Step, b.Status, b.Reason)), ""
	case agent.ToolStarted:
		return fmt.Sprintf("%s %s", b.Step, b.Name), string(b.Input)
	case agent.ToolEnded:
		return tellResult(b)
	case agent.ToolProgressed:
		return fmt.Sprintf("%s %s: %s", b.Step, b.Name, b.Progress), ""
	case agent.InputAsked:
		return fmt.Sprintf("%s %s: %s asks (%s)", b.Step, b.Name, b.From, b.Kind), strings.TrimSpace(b.Message + "\n" + b.URL)
	case agent.InputGiven:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", b.Step, b.Action, b.Reason)), ""
	case agent.PermissionAsked:
		return fmt.Sprintf("%s %s: %s (hash %.12s)", b.Step, b.Name, b.Reason, b.Hash), string(b.Input) + "\n" + b.Preview.Diff
	case agent.PermissionGiven:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", b.Step, b.Decision, b.Reason)), ""
	case agent.Thought:
		return strings.TrimSpace(b.Step + " " + b.Agent), b.Content
	case agent.Said:
		return "", b.Content
	case agent.ContextCounted:
		var holds strings.Builder
		for _, l := range b.Log {
			fmt.Fprintf(&holds, "step %s: %s\n", l.Step, l)
		}
		used := fmt.Sprintf("%s: %d tokens", b.Agent, b.Used)
		if b.Allocated > 0 { // else no model, or one whose window is not known
			used = fmt.Sprintf("%s: %d of %d tokens", b.Agent, b.Used, b.Allocated)
		}
		return used, holds.String()
	case agent.Used:
		return fmt.Sprintf("%s: %d tokens of prompt, %d of answer, %.1f a second", b.Agent, b.Prompt, b.Answer, b.PerSecond), ""
	case agent.Cited:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", b.Mark(), b.Place(), cmp.Or(b.Detail, string(b.Verdict)))), b.Quote
	case agent.Noticed:
		return b.Text, ""
	case agent.Failed:
		return b.Message, strings.TrimSpace(b.Hint + "\n" + b.Effects.String())
	case agent.Ended:
		return tellEnd(b), b.Effects.String()
	}
	return "", ""
}

// attemptOf names the try of a worker; "" for other agents.
func attemptOf(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", attempt %d", n)
}

func tellPrompt(b agent.Prompted, full bool) (head, detail string) {
	size := 0
	var text strings.Builder
	for _, m := range b.Messages {
		size += len(m.Text)
		said := m.Text
		if !full {
			said = clipped(strings.Join(strings.Fields(said), " "), 100)
		}
		fmt.Fprintf(&text, "%s: %s\n", m.Role, said)
	}
	if full && b.Schema != nil {
		fmt.Fprintf(&text, "schema: %s\n", b.Schema)
	}
	return fmt.Sprintf("%s → %s: %d messages, %d bytes", b.Agent, b.Model, len(b.Messages), size), text.String()
}

func tellPlan(b agent.PlanMade) (head, detail string) {
	var text strings.Builder
	for _, s := range b.Steps {
		fmt.Fprintf(&text, "%s. %s %s", s.ID, s.Tool, s.Input)
		if len(s.After) > 0 {
			fmt.Fprintf(&text, " after %s", strings.Join(s.After, ", "))
		}
		text.WriteString("\n")
	}
	for _, dropped := range b.Dropped {
		fmt.Fprintf(&text, "mended: %s\n", dropped)
	}
	if b.Fallback {
		return "no usable plan: the notes are searched", text.String()
	}
	return fmt.Sprintf("%d steps", len(b.Steps)), text.String()
}

func tellResult(b agent.ToolEnded) (head, detail string) {
	head = fmt.Sprintf("%s %s, %d ms", b.Step, b.Name, b.Took)
	if b.Error != "" {
		return head + ", failed", b.Error
	}
	var text strings.Builder
	for _, s := range b.Sources {
		fmt.Fprintf(&text, "%s:%d–%d  %.3f  %s\n", s.Path, s.Line, s.EndLine, s.Score, clipped(strings.Join(strings.Fields(s.Text), " "), 80))
	}
	return fmt.Sprintf("%s, %d passages", head, len(b.Sources)), text.String() + b.Output
}

func tellEnd(b agent.Ended) string {
	state := "finished"
	if b.Interrupted {
		state = "stopped"
	}
	return fmt.Sprintf("%s after %d ms, first word after %d ms, %d model calls, %d + %d tokens", state, b.Latency, b.FirstToken, b.ModelCalls, b.PromptTokens, b.AnswerTokens)
}

// shownLines is how much of a detail is shown, unless all is asked for.
const shownLines = 6

// printDetail writes what there is to say of an event, further in.
func printDetail(w io.Writer, detail string, full bool) {
	detail = strings.TrimSpace(detail)
	if detail == "" {
		return
	}
	lines := strings.Split(safetext.Text(detail), "\n")
	for i, line := range lines {
		if !full && i == shownLines {
			fmt.Fprintf(w, "%11s… %d more lines; --full shows them\n", "", len(lines)-i)
			return
		}
		if !full {
			line = clipped(line, 160)
		}
		fmt.Fprintf(w, "%11s%s\n", "", line)
	}
}
