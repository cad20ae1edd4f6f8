package turn

import (
	"context"
	"strings"

	"lifehub/agent"
	"lifehub/agent/parse"
	"lifehub/agent/prompt"
	"lifehub/llm"
)

// agentLoop is one way of deciding again and again: that of the loop, or that of
// a worker of a team. Its calls are those of the turn, and pass the same gate.
type agentLoop struct {
	*turn
	agent      string
	parentStep string // the step that it works for; "": the turn itself
	attempt    int
	system     string
	history    []llm.Message
	material   []prompt.Part
	task       string
	tools      []agent.Tool // those it is offered
	callable   []agent.Tool // those it may call: a model may know one that is not offered this time
	rounds     int
	stream     bool // what it says is the answer, and is numbered and streamed
	inWords    bool // the model calls no tools; it is told how to print calls

	found    []finding
	after    []llm.Message // what it said and got back, oldest first
	text     string        // its last words
	repeated int           // rounds in a row that brought nothing new
}

// run goes round and round. false: it used up its rounds, or had nothing to say.
func (th *agentLoop) run(ctx context.Context) (said bool, err error) {
	for range th.rounds {
		if kept, err := th.savedRound(ctx); err != nil {
			return false, err
		} else if kept {
			continue
		}
		reply, err := th.decide(ctx)
		if err != nil {
			return false, err
		}
		if !reply.hasCalls() {
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
	before  string // what of text is no call
	calls   []llm.ToolCall
	printed bool  // the calls stood in its text
	problem error // why a call in its text cannot be read
}

func (th *agentLoop) known(name string) bool { return toolMeant(th.callable, name) != nil }

// hasCalls reports whether the reply is calls, or was meant to be.
func (r reply) hasCalls() bool { return len(r.calls) > 0 || r.problem != nil }

// decide asks the model what to do next. What it says is held back as long as
// it may be a call; what it says before its calls is a part of the answer.
func (th *agentLoop) decide(ctx context.Context) (reply, error) {
	var r reply
	p := th.prompt()
	p.Call = func(c llm.ToolCall) { r.calls = append(r.calls, c) }
	th.text = ""
	hear := parse.CallSplitter{Hold: th.stream && th.unlikely(), Say: func(piece string) {
		th.text += piece
		if th.stream {
			th.say(piece)
		}
	}}
	usage, err := th.ask(ctx, p, hear.Add)
	if err != nil {
		if !cannotCall(err) {
			hear.Flush()
		}
		if th.stream && !cannotCall(err) {
			th.cut = th.answer.Len() > 0
		}
		return r, err
	}
	r.text = hear.All()
	if r.before = r.text; len(r.calls) == 0 {
		r.readPrinted(th.known)
	}
	if r.hasCalls() {
		hear.UpTo(len(strings.TrimRight(r.before, " \t\r\n")))
		switch {
		case strings.TrimSpace(th.text) == "":
		case th.stream:
			th.say("\n\n") // the calls come between this and what is said next
		default:
			th.emit(agent.Thought{Agent: th.agent, Step: th.parentStep, Content: th.text + "\n"})
		}
		return r, nil
	}
	if hear.Hold && strings.TrimSpace(r.text) != "" {
		th.doubt()
	}
	hear.Flush()
	if th.stream && usage.Stopped == llm.StopLength {
		th.reachedLimit()
	}
	return r, nil
}

// prompt is what the model is asked in each round.
func (th *agentLoop) prompt() prompt.Prompt {
	p := prompt.Prompt{
		Agent: th.agent, Step: th.parentStep, System: th.system, History: th.history, Material: th.material, Question: th.task, After: th.after,
		Fence:   th.fence(),
		Log:     contextLog(th.found),
		Request: llm.Request{MaxTokens: maxAnswerTokens},
	}
	p = th.withAttached(p)
	if th.stream {
		p.Summary = th.turn.summary.Text
	}
	if th.inWords {
		p.System += "\n\n" + inWords + "\n" + describe(specs(th.tools), th.fence())
	} else {
		p.Request.Tools = inTheirWords(specs(th.tools))
	}
	return p
}

// readPrinted finds the calls that stand in the text.
func (r *reply) readPrinted(known func(name string) bool) {
	var printed []parse.Step
	r.before, printed, r.problem = parse.Calls(r.text, known)
	for _, d := range printed {
		r.calls = append(r.calls, llm.ToolCall{Name: d.Tool, Args: d.Input})
	}
	r.printed = r.hasCalls()
}

// prefix is what the ids of its steps begin with.
func (th *agentLoop) prefix() string {
	if th.parentStep == "" {
		return ""
	}
	return th.parentStep + "."
}

// inWords tells a model that can call no tools how to print calls.
const inWords = "To call a tool, print nothing but this, once for each call, and stop: " +
	"<tool_call>{\"name\": \"TOOL\", \"arguments\": {…}}</tool_call>\n\nTools (a ? marks an argument that may be left out):"
