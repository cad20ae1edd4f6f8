package agent

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lifehub/llm"
)

// Mode is how a turn is worked on.
type Mode string

// The modes. They share tools, gate, journal, events and memory.
const (
	PlanMode Mode = "plan" // one plan, then the answer
	LoopMode Mode = "loop" // the model decides each next call
	TeamMode Mode = "team" // a lead hands tasks to workers, and an evaluator judges what they bring
)

// Modes are all of them, in the order in which a key goes through them.
func Modes() []Mode { return []Mode{PlanMode, LoopMode, TeamMode} }

//go:embed prompts/loop.md
var loopPrompt string

const (
	defaultRounds = 8       // rounds of the loop
	maxRoundCalls = 8       // calls of one round
	repeatResult  = 4 << 10 // what of a result is told once more, in bytes
)

// loop lets the model decide each next call until it answers. false: the
// model cannot call tools, and nothing was done.
func (t *turn) loop(ctx context.Context) (able bool, err error) {
	t.tools = append(slices.Clip(t.tools), t.delegation()...)
	offered := offer(t.tools, t.question, t.MaxTools)
	end := t.phase("loop")
	th := &thread{
		turn: t, agent: "loop", tools: offered, rounds: t.Rounds,
		system:   t.withPersona(strings.NewReplacer("{today}", date(t.Now()), "{rounds}", strconv.Itoa(t.Rounds)).Replace(loopPrompt)),
		history:  t.history,
		material: append(t.factPart(0), t.pastParts()...),
		task:     t.question,
		stream:   true,
	}
	said, err := th.run(ctx)
	end()
	switch {
	case cannotCall(err) && len(t.found) == 0:
		return false, nil
	case err != nil:
		return true, err
	case said:
		return true, nil
	}
	t.missing = "No more calls can be made now. Answer with what there is, and say what is missing."
	return true, t.explain(ctx)
}

// cannotCall tells whether a model, or its server, knows no calls of tools.
func cannotCall(err error) bool {
	var unsupported *llm.UnsupportedError
	var status *llm.StatusError
	return errors.As(err, &unsupported) ||
		errors.As(err, &status) && status.Code != 429 && strings.Contains(strings.ToLower(status.Message), "tool")
}

// thread is one way of deciding again and again: that of the loop, or that of
// a worker of a team. Its calls are those of the turn, and pass the same gate.
type thread struct {
	*turn
	agent    string
	under    string // the step that it works for; "": the turn itself
	attempt  int
	system   string
	history  []llm.Message
	material []part
	task     string
	tools    []Tool
	rounds   int
	stream   bool // what it says is the answer, and is numbered and streamed
	inWords  bool // the model calls no tools; it is told how to print calls

	found    []finding
	after    []llm.Message // what it said and got back, oldest first
	text     string        // its last words
	repeated int           // rounds in a row that brought nothing new
}

// run goes round and round. false: it used up its rounds, or had nothing to say.
func (th *thread) run(ctx context.Context) (said bool, err error) {
	for range th.rounds {
		if kept, err := th.keptRound(ctx); err != nil {
			return false, err
		} else if kept {
			continue
		}
		reply, err := th.decide(ctx)
		if err != nil {
			return false, err
		}
		if len(reply.calls) == 0 && reply.problem == nil {
			return strings.TrimSpace(th.text) != "", nil
		}
		if err := th.round(ctx, reply); err != nil {
			return false, err
		}
		if th.repeated > 1 || th.roomForSteps() == 0 {
			return false, nil
		}
	}
	return false, nil
}

// reply is what the model decided.
type reply struct {
	text    string
	calls   []llm.ToolCall
	printed bool  // the calls stood in its text
	problem error // why a call in its text cannot be read
}

func (th *thread) known(name string) bool { return findTool(th.tools, name) != nil }

// decide asks the model what to do next.
func (th *thread) decide(ctx context.Context) (reply, error) {
	var r reply
	hear := callSplitter{say: th.say}
	p := prompt{
		agent: th.agent, system: th.system, history: th.history, material: th.material, question: th.task, after: th.after,
		summary: th.turn.summary.Text, fence: th.fence(),
		request: llm.Request{MaxTokens: maxAnswerTokens},
		call:    func(c llm.ToolCall) { r.calls = append(r.calls, c) },
	}
	if th.inWords {
		p.system += "\n\n" + inWords + "\n" + describe(specs(th.tools))
	} else {
		p.request.Tools = specs(th.tools)
	}
	if !th.stream {
		p.summary = ""
	}
	hear.hold = th.stream && th.unlikely()
	begin := opening{turn: th.turn}
	th.text = ""
	hear.say = func(piece string) {
		th.text += piece
		if th.stream {
			begin.add(piece)
		}
	}
	usage, err := th.ask(ctx, p, hear.add)
	if err != nil {
		if th.stream && !cannotCall(err) {
			hear.flush()
			begin.flush()
			th.cut = th.answer.Len() > 0
		}
		return r, err
	}
	r.text = hear.text.String()
	if len(r.calls) == 0 {
		var printed []draftStep
		_, printed, r.problem = readCalls(r.text, th.known)
		for _, d := range printed {
			r.calls = append(r.calls, llm.ToolCall{Name: d.Tool, Args: d.Input})
		}
		r.printed = len(printed) > 0 || r.problem != nil
	}
	if len(r.calls) > 0 || r.problem != nil {
		if held := hear.held(); held != "" && !r.printed {
			th.emit(Thought{Content: held + "\n"})
		}
		begin.flush()
		if th.stream && th.text != "" {
			th.gap = "\n\n" // what was said before the calls stays
		}
		return r, nil
	}
	begin.unlikely = hear.hold
	hear.flush()
	begin.flush()
	if th.stream && usage.Stopped == llm.StopLength {
		th.cut = true
		th.emit(Noticed{Text: "The answer reached the model's limit and lacks its end."})
	}
	return r, nil
}

// round makes the calls of a reply, side by side, and tells the model what
// they brought.
func (th *thread) round(ctx context.Context, r reply) error {
	var steps []Step
	var told []told
	var dropped []string
	taken := map[string]bool{}
	for _, id := range idsOf(th.found) {
		taken[strings.TrimPrefix(id, th.prefix())] = true
	}
	for i, c := range r.calls {
		step, notes, err := th.mendStep(draftStep{Tool: c.Name, Input: c.Args}, th.tools)
		switch {
		case i >= maxRoundCalls:
			err = fmt.Errorf("it is more than the %d calls of one round", maxRoundCalls)
		case err == nil && th.roomForSteps() <= len(steps):
			err = fmt.Errorf("a turn has no more than %d calls", maxTurnSteps)
		}
		if err != nil {
			dropped = append(dropped, fmt.Sprintf("%.60s: %v", c.Name, err))
			told = append(told, toldOf(c, "It was not run: "+err.Error()+"."))
			continue
		}
		for _, note := range notes {
			dropped = append(dropped, fmt.Sprintf("%.60s: %s", c.Name, note))
		}
		step.ID = th.prefix() + unique("", taken)
		steps = append(steps, step)
		t := toldOf(c, "")
		t.step = step.ID
		told = append(told, t)
	}
	if len(steps) > 0 {
		made := PlanMade{Mode: th.mode, Under: th.under, Attempt: th.attempt, Steps: steps, Dropped: shorten(dropped)}
		if th.under == "" {
			made.Before = stepsOf(th.found)
		}
		if _, err := th.planned(ctx, made); err != nil {
			return err
		}
	}
	switch {
	case r.problem != nil:
		th.emit(Noticed{Text: "The model printed a call that cannot be read; it is told so: " + clip(r.problem.Error(), 200)})
	case len(steps) == 0:
		th.emit(Noticed{Text: "The model asked for what cannot be run; it is told so: " + clip(strings.Join(shorten(dropped), "; "), 500)})
	}
	if r.problem != nil {
		th.after = append(th.after, llm.Message{Role: llm.Assistant, Text: clip(r.text, repeatResult)},
			llm.Message{Role: llm.User, Text: "That reads like a call of a tool, and cannot be run: " + clip(r.problem.Error(), 500) +
				". Call again, as one JSON object {\"name\": …, \"arguments\": {…}} between <tool_call> and </tool_call>, or answer without a call."})
		return nil
	}
	return th.runRound(ctx, steps, told, r)
}

// told is a call of the model and what it is told of it.
type told struct {
	call llm.ToolCall
	step string // "": it was not run
	text string
}

func toldOf(c llm.ToolCall, text string) told { return told{call: c, text: text} }

// runRound runs the steps of a round and tells the model of them.
func (th *thread) runRound(ctx context.Context, steps []Step, calls []told, r reply) error {
	found, err := th.runSteps(withAgent(ctx, th.agent), steps, th.found)
	th.found = append(th.found, found...)
	if th.stream {
		th.turn.found = th.found
		th.sources = number(th.found)
		th.foundSources = len(th.sources)
		for _, f := range found {
			th.coverage = cmp.Or(f.result.Coverage, th.coverage)
		}
	}
	if err != nil {
		return err
	}
	th.repeated++
	for i, c := range calls {
		for _, f := range found {
			if f.step.ID == c.step {
				calls[i].text = th.tell(f)
				if f.same == "" {
					th.repeated = 0
				}
			}
		}
		if calls[i].call.ID == "" {
			calls[i].call.ID = "call_" + strconv.Itoa(len(th.after)+i)
		}
		if !isObject(calls[i].call.Args) {
			calls[i].call.Args = []byte("{}")
		}
	}
	th.after = append(th.after, replies(calls, r)...)
	return nil
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

// replies are the messages that a round adds.
func replies(calls []told, r reply) (messages []llm.Message) {
	if r.printed {
		var b strings.Builder
		for _, c := range calls {
			fmt.Fprintf(&b, "%s:\n%s\n\n", c.call.Name, c.text)
		}
		return []llm.Message{{Role: llm.Assistant, Text: clip(r.text, repeatResult)}, {Role: llm.User, Text: "What the calls brought:\n\n" + strings.TrimSpace(b.String())}}
	}
	asked := llm.Message{Role: llm.Assistant, Text: r.text}
	for _, c := range calls {
		asked.Calls = append(asked.Calls, c.call)
		messages = append(messages, llm.Message{Role: llm.ToolReply, CallID: c.call.ID, Tool: c.call.Name, Text: c.text})
	}
	return append([]llm.Message{asked}, messages...)
}

// keptRound goes through the next round that was made before the turn was
// cut; false: there is none.
func (th *thread) keptRound(ctx context.Context) (bool, error) {
	kept, err := th.keptPlan(th.under, th.attempt)
	if err != nil || kept == nil {
		return false, err
	}
	var calls []told
	for _, step := range kept.made.Steps {
		calls = append(calls, told{call: llm.ToolCall{Name: step.Tool, Args: step.Input}, step: step.ID})
	}
	return true, th.runRound(ctx, kept.made.Steps, calls, reply{})
}

// prefix is what the ids of its steps begin with.
func (th *thread) prefix() string {
	if th.under == "" {
		return ""
	}
	return th.under + "."
}

// inWords tells a model that can call no tools how to print calls.
const inWords = "To call a tool, print nothing but this, once for each call, and stop: " +
	"<tool_call>{\"name\": \"TOOL\", \"arguments\": {…}}</tool_call>\n\nTools (a ? marks an argument that may be left out):"

// nudge is said to a model that makes the same call again.
const nudge = "You made this very call before; it was not run again, and this is what it brought. Do something else, or answer now."

// tell is what the model learns of a step. Text from outside stands between
// marks.
func (th *thread) tell(f finding) string {
	fence := th.fence()
	quote := func(text string, limit int) string { return fence + "\n" + clip(text, limit) + "\n" + fence }
	var b strings.Builder
	limit := maxResult
	if f.same != "" {
		b.WriteString(nudge + "\n")
		limit = repeatResult
	}
	switch {
	case f.status != Done:
		return b.String() + string(f.status) + ": " + clip(f.reason, maxReason)
	case f.result.Nothing:
		b.WriteString("It found nothing.\n")
	}
	for _, s := range f.result.Sources {
		head := oneLine(s.Title())
		if n := numberOf(th.sources, s); th.stream && n > 0 {
			head = fmt.Sprintf("[%d] %s", n, head)
		}
		fmt.Fprintf(&b, "%s\n%s\n", head, quote(s.Text, limit))
	}
	if len(f.result.Sources) == 0 || f.step.Tool == DelegateTool {
		b.WriteString(quote(f.result.Text, limit))
	}
	return strings.TrimSpace(clip(b.String(), limit+len(nudge)))
}

// numberOf is the number of the source that holds s; 0: none does.
func numberOf(sources []Source, s Source) int {
	for i := range sources {
		if covered(sources[i:i+1], s) {
			return sources[i].N
		}
	}
	return 0
}
