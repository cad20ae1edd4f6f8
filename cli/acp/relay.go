package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// relay sends the events of one turn to the client.
type relay struct {
	*server
	session    acp.SessionId
	turn       string
	view       chat.View
	calls      map[string]bool // calls already sent to the client
	answerText streamed        // filter of the answer
	thought    streamed
	asides     int
	answer     acp.PromptResponse
	failed     error
}

// follow runs a turn in a mode and sends its events until the turn is saved.
func (r *relay) follow(ctx context.Context, begin func(context.Context) <-chan agent.Event, mode string,
	in *session,
) (acp.PromptResponse, error) {
	r.calls = map[string]bool{}
	r.begins.Lock()
	r.options.Modes.Use(agent.Mode(mode))
	events := begin(ctx)
	e, open := <-events // by its first event the turn has read the mode
	r.begins.Unlock()
	r.turn = e.Turn // set once: questions to the client read it in the background
	for ; open; e, open = <-events {
		r.take(ctx, e)
	}
	if who := r.answers(); who != "" && who != in.answers {
		in.answers = who
		r.aside(who)
	}
	if c, err := r.App.Store.Conversation(ctx, string(r.session)); err == nil && c.Title != in.title {
		in.title = c.Title
		r.send(acp.SessionUpdate{SessionInfoUpdate: &acp.SessionSessionInfoUpdate{Title: acp.Ptr(shown(c.Title))}})
	}
	return r.answer, r.failed
}

// answers describes the model in use if it is not local, or "".
func (r *relay) answers() string {
	switch state := r.App.Provider.State(); {
	case state.Provider == "offline":
		return state.Text
	case state.Remote != "":
		return fmt.Sprintf("%s answers, on %s: what you ask leaves this machine.", state.Model, state.Remote)
	}
	return ""
}

func (r *relay) send(what acp.SessionUpdate) { r.update(r.session, what) }

// take sends one event.
func (r *relay) take(ctx context.Context, e agent.Event) {
	now := time.Now()
	r.view.Apply(e, now)
	switch e := e.Body.(type) {
	case agent.Said:
		if e.Takes > 0 {
			e.Content = "\n\n" // what was sent stays
		}
		r.say(e.Content)
	case agent.Thought:
		if e.Step == "" { // workers think in parallel
			r.think(e.Content)
		}
	case agent.Remembered:
		r.think(strings.Join(chat.Recalled(e, now), "\n") + "\n")
	case agent.PlanMade:
		for _, dropped := range e.Dropped {
			r.think("not as planned: " + dropped + "\n")
		}
		r.sendPlan()
	case agent.StepChanged:
		r.sendPlan()
	case agent.PermissionAsked:
		r.permit(ctx, e)
	case agent.PermissionGiven:
		if e.Decision == agent.Refuse && r.calls[e.Call] {
			r.send(acp.UpdateToolCall(r.id(e.Call), acp.WithUpdateStatus(acp.ToolCallStatusFailed),
				acp.WithUpdateContent(literal(e.Reason))))
		}
	case agent.InputAsked:
		r.input(ctx, e)
	case agent.ToolStarted:
		r.started(e)
	case agent.ToolProgressed:
		r.send(acp.UpdateToolCall(r.id(e.Call), acp.WithUpdateContent(literal(e.Progress.String()))))
	case agent.ToolEnded:
		status, text := acp.ToolCallStatusCompleted, e.Output
		if e.Error != "" {
			status, text = acp.ToolCallStatusFailed, e.Error
		}
		r.send(acp.UpdateToolCall(r.id(e.Call), acp.WithUpdateStatus(status),
			acp.WithUpdateContent(literal(text)), acp.WithUpdateLocations(locations(e.Sources))))
	case agent.ArtifactChanged:
		r.aside(chat.ArtifactLine(e))
	case agent.Noticed:
		r.aside(e.Text)
	case agent.Reading:
		if !e.Again {
			r.aside(e.String())
		}
	case agent.ContextCounted:
		if e.Step == "" && e.Allocated > 0 {
			r.send(acp.SessionUpdate{UsageUpdate: &acp.SessionUsageUpdate{Used: e.Used, Size: e.Allocated}})
		}
	case agent.Failed:
		r.effects(e.Effects, r.options.CanUndo())
		r.failed = refused(failed, "%s", strings.TrimSpace(e.Message+" "+e.Hint))
	case agent.Ended:
		r.ended(e)
	}
}

func (r *relay) ended(e agent.Ended) {
	r.sources(r.view.Sources())
	for _, line := range e.Caveats() {
		r.aside(line)
	}
	if offered := r.view.Offer(time.Now()); offered != "" {
		r.aside("→ " + offered)
	}
	r.effects(e.Effects, r.options.CanUndo())
	r.answer.StopReason = acp.StopReasonEndTurn
	if e.Interrupted {
		r.answer.StopReason = acp.StopReasonCancelled
	}
}

// say sends a piece of the answer. Messages with the turn's ID form the answer.
func (r *relay) say(text string) { r.message(r.answerText.next(safetext.Text(text)), r.turn) }

func (r *relay) message(text, id string) {
	if text == "" {
		return
	}
	update := acp.UpdateAgentMessageText(text)
	if id != "" {
		update.AgentMessageChunk.MessageId = &id
	}
	r.send(update)
}

func (r *relay) think(text string) {
	r.send(acp.UpdateAgentThoughtText(r.thought.next(safetext.Text(text))))
}

// aside sends a line that is not part of the answer, as a separate message.
func (r *relay) aside(text string) {
	id := "" // a turn that has not begun has no ID
	if r.asides++; r.turn != "" {
		id = fmt.Sprintf("%s.note.%d", r.turn, r.asides)
	}
	r.message("\n\n> "+escaped(safetext.Line(text))+"\n\n", id)
}

// effects reports what a turn changed or sent, if anything.
func (r *relay) effects(did agent.Effects, undo bool) {
	if len(did) > 0 {
		r.aside(chat.EffectsLine(did, undo))
	}
}

// sources lists the citations of an answer with their verdicts. A cited note links to its line.
func (r *relay) sources(list []chat.Cited) {
	var b strings.Builder
	for _, c := range list {
		place := escaped(safetext.Line(c.Citation.Place()))
		if c.Source.Vault != "" {
			file := url.URL{
				Scheme: "file", Path: filepath.ToSlash(fileOf(c.Source)),
				Fragment: fmt.Sprintf("L%d", max(1, c.Citation.Line)),
			}
			place = fmt.Sprintf("[%s](%s)", place, strings.NewReplacer("(", "%28", ")", "%29").Replace(file.String()))
		}
		fmt.Fprintf(&b, "- %s\n", strings.TrimSpace(escaped(safetext.Line(c.Citation.Mark()))+" "+place+" "+
			escaped(safetext.Line(c.Citation.Label()))))
	}
	if b.Len() > 0 {
		r.message("\n\n"+b.String(), r.turn+".sources")
	}
}

// sendPlan sends the steps of the turn, which replace those sent before.
func (r *relay) sendPlan() {
	entries := []acp.PlanEntry{}
	var steps []chat.Step
	for _, p := range r.view.Plans {
		steps = append(steps, p.Steps...)
	}
	for _, step := range steps {
		entry := acp.PlanEntry{
			Content: title(step.Step.Tool, step.Step.Input), Priority: acp.PlanEntryPriorityMedium,
			Status: acp.PlanEntryStatusCompleted,
		}
		switch step.Status {
		case agent.Pending:
			entry.Status = acp.PlanEntryStatusPending
		case agent.Running:
			entry.Status = acp.PlanEntryStatusInProgress
		case agent.StepFailed, agent.Denied, agent.Skipped:
			entry.Content += " (" + string(step.Status) + ")"
		}
		entries = append(entries, entry)
	}
	r.send(acp.UpdatePlan(entries...))
}

// id returns the client's ID of a call.
func (r *relay) id(call string) acp.ToolCallId { return acp.ToolCallId(r.turn + "/" + call) }

// started reports that a call has begun. The client may know the call from a permission request.
func (r *relay) started(e agent.ToolStarted) {
	if r.calls[e.Call] {
		r.send(acp.UpdateToolCall(r.id(e.Call), acp.WithUpdateTitle(title(e.Name, e.Input)),
			acp.WithUpdateStatus(acp.ToolCallStatusInProgress)))
		return
	}
	r.calls[e.Call] = true
	r.send(acp.StartToolCall(r.id(e.Call), title(e.Name, e.Input),
		acp.WithStartKind(r.kind(e.Name)), acp.WithStartStatus(acp.ToolCallStatusInProgress),
		acp.WithStartRawInput(revealed(e.Input))))
}

// titleWidth bounds the title of a call, in columns.
const titleWidth = 100

// title describes a call in one line: the tool and its arguments.
func title(tool string, input json.RawMessage) string {
	return shown(draw.Truncate(strings.TrimSpace(safetext.Line(tool)+"  "+chat.BriefArguments(input)), titleWidth))
}

// kind returns the category of a tool, for which an editor may show an icon.
func (r *relay) kind(name string) acp.ToolKind {
	tools := r.App.Tools()
	i := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Spec().Name == name })
	if i < 0 {
		return acp.ToolKindOther
	}
	_, fetches := tools[i].(agent.Fetcher)
	switch {
	case name == agent.SearchNotes:
		return acp.ToolKindSearch
	case agent.HasNoEffect(tools[i]):
		return acp.ToolKindRead
	case fetches || agent.IsOutward(tools[i]) && agent.ReadOnly(tools[i]):
		return acp.ToolKindFetch
	case agent.IsOutward(tools[i]):
		return acp.ToolKindOther
	}
	return acp.ToolKindEdit
}

// locations returns the notes among the sources, each with its line.
func locations(sources []agent.Source) (list []acp.ToolCallLocation) {
	for _, s := range sources {
		if s.Vault != "" {
			list = append(list, acp.ToolCallLocation{Path: fileOf(s), Line: acp.Ptr(max(1, s.Line))})
		}
	}
	return list
}

func fileOf(s agent.Source) string { return filepath.Join(s.Vault, filepath.FromSlash(s.Path)) }
