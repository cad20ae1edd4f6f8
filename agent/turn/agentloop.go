package turn

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
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
	ends     bool           // a small model has to answer now
	nudged   bool           // the last reply could not be read
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
		if reply.problem != nil && l.nudged {
			return l.givenUp(reply)
		}
		l.nudged = reply.problem != nil
		if !reply.hasCalls() {
			return strings.TrimSpace(l.text) != "", nil
		}
		if err := l.round(ctx, reply); err != nil {
			return false, err
		}
		if report := l.turn.reportOfWrites(); l.turn.traits.Small && l.stream && report != "" &&
			!l.turn.steeringWaits() {
			l.turn.events.Say(report) // a small model would go on, or claim more
			l.turn.answer.citations = new([]agent.Citation{})
			return true, nil
		}
		if l.lead && !l.turn.steeringWaits() {
			if report := l.turn.soleReport(); report != "" {
				l.turn.events.Say(report)
				return true, nil
			}
		}
		if l.repeated > 1 && !l.turn.steeringWaits() || l.turn.steps.roomForSteps() == 0 {
			return false, nil
		}
	}
	return false, nil
}

// givenUp ends the loop with the second reply in a row that cannot be read: text
// that ends like a call is an answer after all.
func (l *agentLoop) givenUp(r reply) (answered bool, err error) {
	if !errors.Is(r.problem, prompt.ErrNotAlone) {
		return false, fmt.Errorf("%w: %w", agent.ErrPlanned, r.problem)
	}
	if l.text = r.text; l.stream {
		l.turn.events.Say(r.text)
	}
	return true, nil
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
	whole   string // as the model wrote it
	text    string // the answer, or the text before the calls
	calls   []llm.ToolCall
	thought string // reasoning before the calls
	printed bool   // the calls were in the text
	problem error  // why it is neither an answer nor calls
}

func (l *agentLoop) known(name string) bool {
	return prompt.Meant(l.callable, name) != nil
}

// listener adds what is no text to a reply.
type listener struct {
	loop *agentLoop
	to   *reply
}

func (h *listener) Called(c llm.ToolCall) {
	if name := prompt.ToolName(c.Name, h.loop.known); h.loop.known(name) {
		c.Name = name
	}
	h.to.calls = append(h.to.calls, c)
}

func (h *listener) Thought(text string) { h.to.thought += text }

// hasCalls reports whether the reply has calls, or a malformed one.
func (r reply) hasCalls() bool { return len(r.calls) > 0 || r.problem != nil }

// decide asks the model what to do next. Text before native calls is part of the
// answer; text before a call that is written as text is a thought.
func (l *agentLoop) decide(ctx context.Context) (reply, error) {
	var r reply
	var hear prompt.Hear
	p := l.prompt()
	p.Listener = &listener{l, &r}
	doubts := l.stream && l.turn.unlikely()
	holds := doubts || l.stream && l.turn.traits.Small && l.turn.knowsNothing()
	said := ""
	usage, err := l.turn.model.Ask(ctx, p, func(piece string) {
		thought, certain := hear.Add(piece)
		if !l.stream || holds {
			certain = ""
		}
		said += certain
		l.turn.pass(p, thought, certain)
	})
	l.read(&r, hear.Whole())
	l.text = r.text
	if err != nil && p.Request.Tools != nil && said == "" && l.inOtherNotation(err) {
		return l.decide(ctx)
	}
	if err != nil {
		if l.stream {
			l.turn.settle(said, r.text)
			l.turn.events.Cut = l.turn.hasText()
		}
		return r, err
	}
	switch {
	case !l.stream:
	case !r.hasCalls():
		if doubts && r.text != "" {
			l.turn.doubt()
		} else if holds && l.turn.isFromMemory(r.text) { // a small model invents
			r.text = notThere
		}
		l.turn.settle(said, r.text)
		if usage.Stopped == llm.StopLength {
			l.turn.events.ReachedLimit()
		}
		return r, nil
	case r.problem != nil || r.printed:
		l.turn.settle(said, "")
	default:
		l.turn.settle(said, r.text)
		if r.text != "" {
			l.turn.events.Say("\n\n") // separates the text before and after the calls
		}
		return r, nil
	}
	if len(r.calls) > 0 && r.text != "" {
		l.turn.events.Emit(agent.Thought{Agent: l.base.Agent, Step: l.parentStep, Content: r.text + "\n"})
	}
	return r, nil
}

// inOtherNotation reports whether the model is to write its calls as JSON from
// now on: it or its server does not support native calls, or refused a request
// with them, also after it was shortened if it was long.
func (l *agentLoop) inOtherNotation(err error) bool {
	var status *llm.StatusError
	if !prompt.CannotCall(err) && (!errors.As(err, &status) || !status.MayBeTools()) {
		return false
	}
	l.turn.traits.Native = false
	return true
}

// read reads the text of a reply, which has calls only if the model made none
// natively, and none that a result of the turn holds: that is a quotation.
func (l *agentLoop) read(r *reply, whole string) {
	said := prompt.Read(whole, l.known)
	r.whole, r.text = whole, said.Text
	if len(r.calls) > 0 {
		return
	}
	if said.Problem == nil && l.quotes(said.Calls) {
		r.text = prompt.Answer(prompt.WithoutThoughts(whole))
		return
	}
	if said.IsAnswer() || !errors.Is(said.Problem, prompt.ErrNotAlone) && len(said.Calls) == 0 {
		if answer := prompt.AnswerInJSON(whole, l.known); answer != "" && !l.turn.traits.Native {
			said = prompt.Reply{Text: answer}
			r.text = answer
		}
	}
	for _, c := range said.Calls {
		r.calls = append(r.calls, llm.ToolCall{Name: c.Tool, Args: c.Input})
	}
	r.printed, r.problem = true, said.Problem
	if l.turn.traits.Small && l.stream && l.turn.repeatsExample(whole) {
		r.calls, r.problem = nil, errExample
	}
	if errors.Is(r.problem, prompt.ErrEmpty) { // asked for an answer after the loop
		r.problem = nil
	}
}

// quotes reports whether a note or result of the turn holds one of these calls:
// the name of the tool and all its texts.
func (l *agentLoop) quotes(calls []prompt.Step) bool {
	var held []string
	for _, s := range l.turn.answer.sources {
		held = append(held, s.Text)
	}
	for _, f := range l.allFound() {
		held = append(held, f.Result.Text+"\n"+textOf(f.Result.Sources))
	}
	for _, c := range calls {
		texts := append(agent.ParseArgs(c.Input).Texts(), c.Tool)
		holdsAll := func(in string) bool {
			return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(in, text) })
		}
		if len(texts) > 1 && slices.ContainsFunc(held, holdsAll) {
			return true
		}
	}
	return false
}

//go:embed prompts/notation.md
var notationPrompt string

// prompt returns the prompt of a round.
func (l *agentLoop) prompt() prompt.Prompt {
	p := l.base
	if l.stream { // the conversation may have been summarized meanwhile
		p = l.turn.withConversation(p)
	}
	if l.stream && !l.turn.traits.Native {
		p.History = l.turn.inNotation()
	}
	p.After, p.Log = l.after, contextLog(l.found)
	p.Request = llm.Request{MaxTokens: maxAnswerTokens}
	p = l.turn.withAttached(p)
	b := l.turn.offered(l.callable, l.found)
	specs, fence, small := prompt.Specs(b.Tools), l.turn.toolFence(), l.turn.traits.Small && l.stream
	switch {
	case l.silent:
	case small:
		p.Request.Schema = prompt.AnswerOrCall(prompt.Specs(l.actingNow(b.Tools)), true)
		p.Examples = smallExamples(l.turn.agent.Guide)
		p.System = strings.TrimSpace(p.System + "\n\n" + briefly(smallPrompt, l.turn.agent.Guide.ForSmall(), specs,
			fence, b.Servers()))
	case !l.turn.traits.Native:
		p.Request.Schema = prompt.AnswerOrCall(specs, false)
		p.System += "\n\n" + strings.ReplaceAll(notationPrompt, "{tools}",
			prompt.Describe(specs, fence)) + l.turn.besides(b)
	default:
		p.Request.Tools = prompt.InTheirWords(specs)
		p.System += l.turn.besides(b)
	}
	return p
}

// prefix returns the prefix of the ids of its steps.
func (l *agentLoop) prefix() string {
	if l.parentStep == "" {
		return ""
	}
	return l.parentStep + "."
}
