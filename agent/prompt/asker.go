package prompt

import (
	"context"
	_ "embed"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lifehub/agent"
	"lifehub/agent/events"
	"lifehub/internal/text"
	"lifehub/llm"
)

// Asker asks the model of a turn. Model and Meters are required.
type Asker struct {
	Stream *events.Stream
	Model  llm.Model
	Meters *Meters
	Server
	// Roles maps the agent of a prompt to an Asker with another model.
	Roles map[string]*Asker
	// Compact may shorten the conversation in a prompt that does not fit. May
	// be nil.
	Compact func(ctx context.Context, p Prompt) Prompt

	slow, blind atomic.Bool // whether the user was notified that the model is slow, or cannot see images
	mu          sync.Mutex
	lacking     []string // omissions from prompts that the user was notified of
}

// Role is a separate model for one agent of a turn, such as the planner.
type Role struct {
	Model llm.Model
	Server
}

// Server describes the current model and its server.
type Server struct {
	Window    func() int    // tokens in the model's window; 0 if unknown
	ModelName func() string // name of the model, for metrics and notices; "" if unknown
	Think     func() string // as in llm.Request
	// Ready waits until Window and ModelName describe the model of the next
	// request.
	Ready func(ctx context.Context) error
	// RejectsLongPrompts reports whether the server rejects prompts that are
	// too long rather than truncating them silently.
	RejectsLongPrompts func() bool
}

// Ask makes one model call: it fits the prompt into the window, streams the
// reply to say as the model wrote it, and emits usage, and reasoning that the
// server reports separately, as events. If the model cannot
// see images, the prompt mentions them instead.
func (a *Asker) Ask(ctx context.Context, p Prompt, say func(text string)) (llm.Usage, error) {
	if other := a.Roles[p.Agent]; other != nil {
		return other.Ask(ctx, p, say)
	}
	if a.blind.Load() {
		p = p.WithoutImages()
	}
	usage, err := a.askWithin(ctx, p, say)
	if p.HasImages() && a.isBlind(err) {
		return a.askWithin(ctx, p.WithoutImages(), say)
	}
	return usage, err
}

// askWithin asks within the window. A prompt that the server rejects as too
// long is shortened and sent again.
func (a *Asker) askWithin(ctx context.Context, p Prompt, say func(text string)) (llm.Usage, error) {
	if err := a.Wait(ctx); err != nil {
		return llm.Usage{}, err
	}
	if a.Compact != nil {
		p = a.Compact(ctx, p)
	}
	for n := 1; ; n++ {
		window, s := a.measured(ctx)
		if window == 0 && n > 1 { // the window is unknown
			window, s = int(float64(p.Tokens())*math.Pow(Shorter, float64(n-1))), 1
		}
		usage, err := a.send(ctx, p, window, s, say)
		if !errors.Is(err, llm.ErrTooLong) || ctx.Err() != nil || n == lengthTries {
			return usage, err
		}
		a.Meters.Learn(ctx, a.ModelName(), Longer)
		if n == 1 {
			a.Stream.Notice("The prompt was longer than the context window; it is shortened and sent again.")
		}
		if err := a.Wait(ctx); err != nil { // the server may report another window now
			return usage, err
		}
	}
}

const (
	// lengthTries is how often a prompt is sent if the server rejects it as too
	// long.
	lengthTries = 4
)

// measured returns the current window, 0 if unknown, and the factor that
// converts estimated tokens to the server's.
func (a *Asker) measured(ctx context.Context) (window int, scale float64) {
	g := a.Meters.Of(ctx, a.ModelName())
	window = a.Window()
	if g.Window > 0 && window > 0 {
		window = min(window, g.Window)
	}
	return window, Scale(g, a.RejectsLongPrompts())
}

// send makes one request that fits the window, and reads the response to its
// end.
func (a *Asker) send(ctx context.Context, p Prompt, window int, scale float64, say func(string)) (llm.Usage, error) {
	fitted := p.Fit(window, scale)
	a.Stream.Emit(fitted.Counted(p, window, a.Meters.Of(ctx, a.ModelName())))
	if fitted.Left != "" && a.leftOut(fitted.Left) {
		a.Stream.Notice("%s", fitted.Left)
	}
	req := p.Request
	req.Messages = fitted.Messages
	if room := window - int(float64(fitted.Estimate)*scale); window > 0 && req.MaxTokens > 0 { // vLLM rejects more
		req.MaxTokens = min(req.MaxTokens, max(room, Reserve(window)))
	}
	req.Think = a.Think()
	a.Stream.Count(func(m *agent.Metrics) { m.ModelCalls++ })
	a.traceRequest(p.Agent, req)
	cached := a.Meters.cached(a.ModelName(), req.Messages)
	defer a.Stream.CountWork()()

	var usage llm.Usage
	defer func() { a.Stream.Count(func(m *agent.Metrics) { m.Model = a.ModelName() }) }()
	for delta, err := range a.listen(ctx, func(ctx context.Context) iter.Seq2[llm.Delta, error] { return a.Model.Stream(ctx, req) }) {
		if err != nil {
			return usage, err
		}
		if delta.Thinking != "" {
			a.Stream.Emit(agent.Thought{Agent: p.Agent, Step: p.Step, Content: delta.Thinking})
			if p.Think != nil {
				p.Think(delta.Thinking)
			}
		}
		if delta.Text != "" {
			say(delta.Text)
		}
		if delta.Call != nil && p.Call != nil {
			p.Call(*delta.Call)
		}
		if delta.Usage != nil {
			usage = *delta.Usage
		}
	}
	a.emitUsage(p, usage)
	a.checkWhole(ctx, Count{Estimate: fitted.Estimate, Counted: usage.Prompt, Cached: cached}, window)
	return usage, nil
}

// leftOut records an omission, and reports whether it is new in this turn.
func (a *Asker) leftOut(what string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Contains(a.lacking, what) {
		return false
	}
	a.lacking = append(a.lacking, what)
	return true
}

// Shortened reports whether any prompt of the turn was shortened.
func (a *Asker) Shortened() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.lacking) > 0
}

// checkWhole notifies the user if the server silently truncated the prompt, and
// learns from its token count.
func (a *Asker) checkWhole(ctx context.Context, c Count, window int) {
	expected := float64(c.Estimate) * max(a.Meters.Of(ctx, a.ModelName()).High, 1)
	if a.Meters.Cut(ctx, a.ModelName(), c, window, a.RejectsLongPrompts()) {
		next := "; the next prompts will be shorter"
		if c.farShort() {
			next = ", and `context` may have to be smaller"
		}
		a.Stream.Notice("The model server truncated the prompt: it read %d tokens of about %.0f, and the beginning is likely lost. "+
			"This answer may miss something%s.", c.Counted, expected, next)
	}
}

// slowModel is how long a model may be silent before the user is notified.
const slowModel = 3 * time.Second

// tellSlow notifies the user, once in a turn, why the model is silent: the
// reason given by its server, or else the likely one.
func (a *Asker) tellSlow(why string) {
	if a.slow.Swap(true) {
		return
	}
	if why != "" {
		a.Stream.Emit(agent.Noticed{Text: text.AsSentence(why) + " The request is sent again.", Passing: true})
		return
	}
	name := a.ModelName()
	if name != "" {
		name = " (" + name + ")"
	}
	a.Stream.Emit(agent.Noticed{Text: "The model is loading" + name + ", or reading a long prompt. The first time, this can take a minute or two.", Passing: true})
}

// Wait waits until Window and ModelName describe the model of the next request.
func (a *Asker) Wait(ctx context.Context) error {
	for _, err := range a.listen(ctx, func(ctx context.Context) iter.Seq2[llm.Delta, error] {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, a.Ready(ctx)) }
	}) {
		return err
	}
	return ctx.Err()
}

func (a *Asker) emitUsage(p Prompt, usage llm.Usage) {
	a.Stream.Count(func(m *agent.Metrics) {
		m.PromptTokens += usage.Prompt
		m.AnswerTokens += usage.Answer
		m.Generating += usage.Generating.Milliseconds()
	})
	used := agent.Used{Agent: p.Agent, Step: p.Step, Prompt: usage.Prompt, Answer: usage.Answer}
	if s := usage.Generating.Seconds(); s > 0 {
		used.PerSecond = float64(usage.Answer) / s
	}
	a.Stream.Emit(used)
}

// listen reads a stream of the model in a goroutine, so that a cancelled ctx
// ends the loop at once even if the model ignores it. The goroutine ends when
// the stream does, or at its next piece after the loop was left.
func (a *Asker) listen(ctx context.Context, stream func(context.Context) iter.Seq2[llm.Delta, error]) iter.Seq2[llm.Delta, error] {
	type piece struct {
		delta llm.Delta
		err   error
	}
	return func(yield func(llm.Delta, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		pieces := make(chan piece)
		send := func(p piece) bool {
			select {
			case pieces <- p:
				return true
			case <-ctx.Done():
				return false
			}
		}
		go func() {
			defer close(pieces)
			var err error
			defer func() {
				if err != nil {
					send(piece{err: err})
				}
			}()
			defer agent.Catch(&err)
			for delta, err := range stream(ctx) {
				if !send(piece{delta, err}) || err != nil {
					return
				}
			}
		}()
		silence := time.NewTimer(slowModel)
		defer silence.Stop()
		why := ""
		for {
			select {
			case <-silence.C:
				a.tellSlow(why)
			case p, more := <-pieces:
				if p.delta.Waiting != "" {
					why = p.delta.Waiting
					continue
				}
				silence.Stop()
				if !more || !yield(p.delta, p.err) || p.err != nil {
					return
				}
			case <-ctx.Done():
				yield(llm.Delta{}, ctx.Err())
				return
			}
		}
	}
}

// Room returns the number of tokens, as estimated by [Tokens], that a prompt
// may have now.
func (a *Asker) Room(ctx context.Context) int {
	const unknown = 8192 // assumed if the window is unknown
	window, scale := a.measured(ctx)
	if window <= 0 {
		window = unknown
	}
	return int(float64(window-Reserve(window)) / scale)
}

// Overflows reports whether a prompt does not fit even with its results
// shortened.
func (a *Asker) Overflows(ctx context.Context, p Prompt) bool {
	window, s := a.measured(ctx)
	if window <= 0 {
		return false
	}
	p.Material = slices.Clone(p.Material)
	for i := range p.Material {
		p.Material[i].Text = p.cutTail(p.Material[i].Text, Floor)
	}
	p.After = slices.Clone(p.After)
	for i := range p.After {
		p.After[i].Text, p.After[i].Thinking = p.cutTail(p.After[i].Text, Floor), ""
	}
	return float64(p.Tokens())*s > float64(window-Reserve(window))
}

// traceRequest writes a request to the trace.
func (a *Asker) traceRequest(who string, req llm.Request) {
	body := agent.Prompted{Agent: who, Model: a.ModelName(), Messages: req.Messages, Schema: req.Schema, Think: req.Think, MaxTokens: req.MaxTokens}
	for _, spec := range req.Tools {
		body.Tools = append(body.Tools, spec.Name)
	}
	a.Stream.Prompted(body)
}

// images is the name of the capability to see images.
const images = "images"

// isBlind reports whether err means that the model cannot see images. It
// notifies the user once in a turn.
func (a *Asker) isBlind(err error) bool {
	var unsupported *llm.UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Capability != images {
		return false
	}
	if !a.blind.Swap(true) {
		a.Stream.Notice("%s cannot see images; it only learns that there is one.", unsupported.Model)
	}
	return true
}

// CannotCall reports whether err means that the model or its server does not
// support tool calls.
func CannotCall(err error) bool {
	var unsupported *llm.UnsupportedError
	var status *llm.StatusError
	return errors.As(err, &unsupported) && unsupported.Capability != images ||
		errors.As(err, &status) && !status.Busy() && strings.Contains(strings.ToLower(status.Message), "tool")
}

//go:embed prompts/repair.md
var repairPrompt string

// MaxPlanTokens bounds a reply that is parsed, for a model that never stops.
const MaxPlanTokens = 4096

// Tries is how often the model is asked for a parsable reply: once, and once to
// repair it.
const Tries = 2

// AskFor asks until read accepts the answer, at most [Tries] times. unusable is
// why the last answer was rejected, err why there was none.
func (a *Asker) AskFor(ctx context.Context, p Prompt, read func(answer string) error) (unusable, err error) {
	for range Tries {
		var answer strings.Builder
		_, unusable = a.Ask(ctx, p, func(piece string) { answer.WriteString(piece) })
		switch {
		case unusable == nil:
			unusable = read(answer.String())
		case !errors.Is(unusable, llm.ErrCut):
			return nil, unusable
		}
		if unusable == nil {
			return nil, nil
		}
		p.After = Repair(answer.String(), unusable)
	}
	return unusable, nil
}

// UnusableError is why an answer is unusable, with help for repairing it.
type UnusableError struct {
	Err  error
	Help string // shown only to the model
}

func (e *UnusableError) Error() string { return e.Err.Error() }
func (e *UnusableError) Unwrap() error { return e.Err }

// Repair returns the messages that ask the model to repair an unusable answer.
func Repair(answer string, problem error) []llm.Message {
	message := text.Clip(problem.Error(), 1000)
	if unusable := (*UnusableError)(nil); errors.As(problem, &unusable) {
		message = strings.TrimSpace(message + "\n\n" + unusable.Help)
	}
	fill := strings.NewReplacer("{problem}", message)
	return []llm.Message{
		{Role: llm.Assistant, Text: text.Clip(answer, 4000)},
		{Role: llm.User, Text: fill.Replace(repairPrompt)},
	}
}
