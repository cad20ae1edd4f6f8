package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Lines says an event, which was applied, in words, for a front end that prints below what it has printed: each is one
// safe line. Text of the answer, thoughts, citations, the end of a turn and what has to be answered are shown by each
// front end itself.
func (v *View) Lines(e agent.Event, now time.Time) (lines []string) {
	add := func(format string, args ...any) {
		if line := strings.TrimSpace(safetext.Line(fmt.Sprintf(format, args...))); line != "" {
			lines = append(lines, line)
		}
	}
	switch body := e.Body.(type) {
	case agent.Remembered:
		return Recalled(body, now)
	case agent.PlanMade:
		for _, s := range body.Steps {
			add("plan %s: %s %s", s.ID, s.Tool, BriefArguments(s.Input))
		}
		for _, dropped := range body.Dropped {
			add("not as planned: %s", dropped)
		}
	case agent.PhaseStarted:
		if body.Step != "" {
			add("%s worker: attempt %d", body.Agent, body.Attempt)
		}
	case agent.ArtifactChanged:
		add("%s", ArtifactLine(body))
	case agent.Evaluated:
		add("step %s: attempt %d, score %.2f %s", body.Step, body.Attempt, body.Score, body.Feedback)
	case agent.StepChanged:
		if body.Status != agent.Pending && body.Status != agent.Running &&
			(body.Status != agent.Done || body.Reason != "") {
			add("step %s: %s %s", body.Step, body.Status, ForUser(body))
		}
	case agent.ToolStarted:
		if byID(v.Outside, body.Call) != nil {
			add("%s %s", body.Name, BriefArguments(body.Input))
		}
	case agent.ToolProgressed:
		add("step %s: %s", body.Step, body.Progress)
	case agent.ToolEnded:
		text, outside := body.Brief(), byID(v.Outside, body.Call) != nil
		switch {
		case outside && body.Error != "":
			add("%s failed: %s", body.Name, body.Error)
		case outside && text != "":
			add("%s returned: %s", body.Name, text)
		case text != "":
			add("step %s returned: %s", body.Step, text)
		}
		if body.Coverage != nil {
			add("%s", body.Coverage.Health())
		}
	case agent.PermissionGiven:
		add("%s %s", cmp.Or(decided[body.Decision], string(body.Decision)), body.Reason)
	case agent.InputGiven:
		add("%s %s", body.Action, body.Reason)
	case agent.Noticed:
		add("note: %s", body.Text)
	case agent.Ended:
		if offered := v.Offer(now); offered != "" {
			add("→ %s", offered)
		}
	case agent.Reading:
		if !body.Again {
			add("note: %s", body)
		}
	}
	return lines
}

// decided describes decisions.
var decided = map[agent.Decision]string{
	agent.AllowOnce: "allowed once", agent.AllowConversation: "allowed in this chat",
	agent.AllowAlways: "always allowed",
	agent.Refuse:      "declined", agent.AlreadyDone: "taken as done",
}

// Recalled says what came back from long-term memory.
func Recalled(r agent.Remembered, now time.Time) (lines []string) {
	for _, f := range r.Facts {
		if f.Fits {
			lines = append(lines, fmt.Sprintf("remembered: “%s” %s:%d", safetext.Line(f.Text),
				safetext.Line(f.Path), f.Line))
		}
	}
	for _, past := range r.Exchanges {
		from := draw.When(past.Asked, now)
		if past.Untrusted {
			from += ", with untrusted text"
		}
		lines = append(lines, "remembered from "+from+": “"+safetext.Line(past.Question)+"”")
	}
	return lines
}

// ArtifactLine reports a new version of a document.
func ArtifactLine(e agent.ArtifactChanged) string {
	text := fmt.Sprintf("Artifact %s, version %d by %s", e.Name, e.Version, e.By)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text + ". /artifacts shows it."
}

// EffectsLine is the last line of a turn: its effects, or "" if they are unknown. undo reports that a command can undo
// its changes.
func EffectsLine(did agent.Effects, undo bool) string {
	line := safetext.Line(did.String())
	if undo && slices.ContainsFunc(did, agent.Effect.ChangesNote) {
		line += " · /undo takes the change back"
	}
	return line
}
