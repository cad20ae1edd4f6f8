package turn

import (
	"context"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/agent/toolchoice"
	"lifehub/llm"
)

// agentLoop is one way of deciding again and again: that of the loop, or that of
// a worker of a team. Its calls are those of the turn, and pass the same gate.
type agentLoop struct {
	turn       *turn
	base       prompt.Prompt // what it is asked before its first round
	parentStep string        // the step that it works for; "": the turn itself
	attempt    int
	callable   []agent.Tool // those it may call
	silent     bool         // it is offered none of them any more
	rounds     int
	stream     bool     // what it says is the answer, and is streamed
	numbered   bool     // what it found has numbers, by which it cites
	reports    []string // what other workers reported that is in its prompt, for the gate
	lead       bool     // its calls are tasks for workers

	found    []finding
	told     []agent.Source // the lines of what it found that are in after
	after    []llm.Message  // what it said and got back, oldest first
	text     string         // its last words
	repeated int            // rounds in a row that brought nothing new
	verdicts []string       // on its earlier attempts
}

// run goes round and round. false: it used up its rounds, or had nothing to say.
func (l *agentLoop) run(ctx context.Context) (said bool, err error) {
	for range l.rounds {
		if kept, err := l.savedRound(ctx); err != nil {
			return false, err
		} else if kept {
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
		if l.lead {
			if report := l.turn.soleReport(); report != "" {
				l.turn.answer.say(report)
				return true, nil
			}
		}
		if l.repeated > 1 || l.turn.steps.roomForSteps() == 0 {
			return false, nil
		}
	}
	return false, nil
}

// reply is what the model decided.
type reply struct {
	text    string
	before  string // what of text is no call
	calls   []llm.ToolCall
	thought string // before its calls, as the server tells it
	printed bool   // the calls were in its text
	problem error  // why a call in its text cannot be read
}

func (l *agentLoop) known(name string) bool {
	return toolchoice.Meant(l.callable, name) != nil
}

// hasCalls reports whether the reply is calls, or was meant to be.
func (r reply) hasCalls() bool { return len(r.calls) > 0 || r.problem != nil }

// decide asks the model what to do next. What it says is held back as long as
// it may be a call; what it says before its calls is a part of the answer, but
// before a call that it prints a thought.
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
			l.turn.events.Cut = l.turn.answer.hasSaid()
		}
		return r, err
	}
	r.text = hear.All()
	if r.before = r.text; len(r.calls) == 0 {
		r.readPrinted(l.known)
	}
	if r.hasCalls() {
		before := strings.TrimRight(r.before, " \t\r\n")
		if l.stream && (!r.printed || l.text != "") { // a printed call may come after more than is held back
			hear.UpTo(len(before))
		} else if strings.TrimSpace(before) != "" {
			l.turn.events.Emit(agent.Thought{Agent: l.base.Agent, Step: l.parentStep, Content: before + "\n"})
		}
		if l.stream && strings.TrimSpace(l.text) != "" {
			l.turn.answer.say("\n\n") // the calls come between this and what is said next
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

// prompt is what the model is asked in each round.
func (l *agentLoop) prompt() prompt.Prompt {
	p := l.base
	if l.stream { // the conversation may have been summarised meanwhile
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

// readPrinted finds the calls that are in the text.
func (r *reply) readPrinted(known func(name string) bool) {
	var printed []prompt.Step
	r.before, printed, r.problem = prompt.Calls(r.text, known)
	for _, d := range printed {
		r.calls = append(r.calls, llm.ToolCall{Name: d.Tool, Args: d.Input})
	}
	r.printed = r.hasCalls()
}

// prefix is what the ids of its steps begin with.
func (l *agentLoop) prefix() string {
	if l.parentStep == "" {
		return ""
	}
	return l.parentStep + "."
}
