package turn

import (
	"context"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/agent/toolchoice"
	"lifehub/llm"
)

// agentLoop lets a model decide its calls round by round, for the loop or for a
// worker of a team. Its calls belong to the turn and pass the same gate.
type agentLoop struct {
	turn       *turn
	base       prompt.Prompt // the prompt of the first round
	parentStep string        // step that the worker works for; "" for the turn itself
	attempt    int
	callable   []agent.Tool // tools that may be called
	silent     bool         // no tools are offered any more
	rounds     int
	stream     bool // the text is streamed as the answer
	numbered   bool // findings are numbered for citing
	lead       bool // calls are tasks for workers
	writes     bool // the report may be a text that rests on no call

	found    []finding
	shown    []agent.Source // lines of the findings that are in after
	after    []llm.Message  // replies and results so far, oldest first
	text     string         // text of the last reply
	repeated int            // consecutive rounds without new results
	verdicts []string       // on earlier attempts
}

// run runs rounds until the model answers. It reports false if the rounds were
// used up or the answer is empty.
func (l *agentLoop) run(ctx context.Context) (answered bool, err error) {
	for left := l.rounds; left > 0; left-- {
		if l.stream { // the message of a worker is its task
			var sent []steeringMessage
			if ctx, sent, err = l.turn.listen(ctx); err != nil {
				return false, err
			}
			if len(sent) > 0 {
				l.receive(sent)
				left = l.rounds
			}
		}
		if replayed, err := l.savedRound(ctx); err != nil {
			return false, err
		} else if replayed {
			continue
		}
		reply, err := l.decide(ctx)
		if err != nil {
			return false, err
		}
		if !reply.hasCalls() {
			return strings.TrimSpace(l.text) != "", nil
		}
		if err := l.round(ctx, reply); err != nil {
			return false, err
		}
		if l.lead && !l.turn.steps.steeringWaits() {
			if report := l.turn.soleReport(); report != "" {
				l.turn.answer.say(report)
				return true, nil
			}
		}
		if l.repeated > 1 && !l.turn.steps.steeringWaits() || l.turn.steps.roomForSteps() == 0 {
			return false, nil
		}
	}
	return false, nil
}

// receive adds messages of the user to the prompt of the next round: each as a
// message of its own after the results of calls, else to the user's message that
// is last, because some templates reject two in a row.
func (l *agentLoop) receive(sent []steeringMessage) {
	l.repeated = 0
	last := len(l.after) - 1
	switch {
	case last < 0:
		l.base.Question = withSteering(l.base.Question, sent)
	case l.after[last].Role == llm.User: // at its beginning, which is never left out
		l.after[last].Text = alsoSent + textsOf(sent) + "\n\n" + l.after[last].Text
	default:
		l.after = append(l.after, llm.Message{Role: llm.User, Text: textsOf(sent)})
	}
}

// reply is a reply of the model.
type reply struct {
	text    string
	before  string // the part of text before any call
	calls   []llm.ToolCall
	thought string // reasoning before the calls
	printed bool   // the calls were in the text
	problem error  // why a call in the text cannot be parsed
}

func (l *agentLoop) known(name string) bool {
	return toolchoice.Meant(l.callable, name) != nil
}

// hasCalls reports whether the reply has calls, or a malformed one.
func (r reply) hasCalls() bool { return len(r.calls) > 0 || r.problem != nil }

// decide asks the model what to do next. Text is held back while it may be a
// call. Text before native calls is part of the answer; text before a printed
// call is a thought.
func (l *agentLoop) decide(ctx context.Context) (reply, error) {
	var r reply
	p := l.prompt()
	p.Call = func(c llm.ToolCall) { r.calls = append(r.calls, c) }
	p.Think = func(text string) { r.thought += text }
	l.text = ""
	hear := prompt.CallSplitter{Hold: l.stream && l.turn.answer.unlikely(), Say: func(piece string) {
		l.text += piece
		if l.stream {
			l.turn.answer.say(piece)
		}
	}}
	usage, err := l.turn.model.Ask(ctx, p, hear.Add)
	if err != nil {
		if !prompt.CannotCall(err) {
			hear.Flush()
		}
		if l.stream && !prompt.CannotCall(err) {
			l.turn.events.Cut = l.turn.answer.hasText()
		}
		return r, err
	}
	r.text = hear.All()
	if r.before = r.text; len(r.calls) == 0 {
		r.readPrinted(l.known)
	}
	if r.hasCalls() {
		before := strings.TrimRight(r.before, " \t\r\n")
		if l.stream && (!r.printed || l.text != "") { // more text may precede a printed call than is held back
			hear.UpTo(len(before))
		} else if strings.TrimSpace(before) != "" {
			l.turn.events.Emit(agent.Thought{Agent: l.base.Agent, Step: l.parentStep, Content: before + "\n"})
		}
		if l.stream && strings.TrimSpace(l.text) != "" {
			l.turn.answer.say("\n\n") // separates the text before and after the calls
			l.turn.answer.sayHeld(false)
		}
		return r, nil
	}
	if hear.Hold && strings.TrimSpace(r.text) != "" {
		l.turn.answer.doubt()
	}
	hear.Flush()
	if l.stream && usage.Stopped == llm.StopLength {
		l.turn.events.ReachedLimit()
	}
	return r, nil
}

// prompt returns the prompt of a round.
func (l *agentLoop) prompt() prompt.Prompt {
	p := l.base
	if l.stream { // the conversation may have been summarized meanwhile
		p.Summary, p.Omitted, p.History = l.turn.recalled.Summary.Text, l.turn.recalled.Omitted, prompt.Alternating(l.turn.recalled.History)
	}
	p.After, p.Log = l.after, contextLog(l.found)
	p.Request = llm.Request{MaxTokens: maxAnswerTokens}
	p = l.turn.answer.withAttached(p)
	if b := l.turn.offered(l.callable, l.found); !l.silent {
		p.Request.Tools = toolchoice.InTheirWords(toolchoice.Specs(b.Tools))
		p.System += l.turn.besides(b)
	}
	return p
}

// readPrinted parses the calls in the text.
func (r *reply) readPrinted(known func(name string) bool) {
	var printed []prompt.Step
	r.before, printed, r.problem = prompt.Calls(r.text, known)
	for _, d := range printed {
		r.calls = append(r.calls, llm.ToolCall{Name: d.Tool, Args: d.Input})
	}
	r.printed = r.hasCalls()
}

// prefix returns the prefix of the ids of its steps.
func (l *agentLoop) prefix() string {
	if l.parentStep == "" {
		return ""
	}
	return l.parentStep + "."
}
