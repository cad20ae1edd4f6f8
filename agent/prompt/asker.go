package prompt

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// Asker asks the model of a turn. Model and Meters are required.
type Asker struct {
	Stream *agent.Stream
	Model  llm.Model
	Meters *Meters
	Server
	Think string // as in [llm.Request]
	// Roles maps the agent of a prompt to an Asker with another model.
	Roles     map[string]*Asker
	Compactor Compactor // nil: nothing shortens a conversation

	blind   atomic.Bool // whether the user was notified that the model cannot see images
	timeout error       // the time-out after which nothing is asked any more
	mu      sync.Mutex
	limit   atomic.Int64 // tokens of a shortened prompt, for the rest of the turn; 0: none was
	lacking []string     // omissions from prompts that the user was notified of
}

// Compactor may shorten the conversation in a prompt that does not fit.
type Compactor interface {
	Compact(ctx context.Context, p Prompt) Prompt
}

// Role is a separate model for one agent of a turn, such as the planner.
type Role struct {
	Model llm.Model
	Server
}

// Server describes the current model and its server.
type Server interface {
	Window() int       // tokens in the model's window; 0 if unknown
	ModelName() string // name of the model, for metrics and notices; "" if unknown
	// Ready waits until Window and ModelName describe the model of the next
	// request.
	Ready(ctx context.Context) error
	// RejectsLongPrompts reports whether the server rejects prompts that are
	// too long rather than truncating them silently.
	RejectsLongPrompts() bool
}

// ServerOf describes the model of a provider. Without a model, its name is that of the
// provider.
func ServerOf(p llm.Provider) Server { return provided{p} }

type provided struct{ llm.Provider }

// ModelName implements [Server].
func (p provided) ModelName() string { return cmp.Or(p.State().Model, p.State().Provider) }

// RejectsLongPrompts implements [Server].
func (p provided) RejectsLongPrompts() bool { return p.State().RejectsLongPrompts }

// Ask makes one model call: it fits the prompt into the window, streams the
// reply to say as the model wrote it, and emits usage, and reasoning that the
// server reports separately, as events. If the model cannot see images, the
// prompt mentions them instead. After a time-out, it asks nothing.
func (a *Asker) Ask(ctx context.Context, p Prompt, say func(text string)) (llm.Usage, error) {
	if other := a.Roles[p.Agent]; other != nil {
		return other.Ask(ctx, p, say)
	}
	if err := a.timedOut(nil); err != nil {
		return llm.Usage{}, err
	}
	if a.blind.Load() {
		p = p.WithoutImages()
	}
	usage, err := a.askWithin(ctx, p, say)
	if ctx.Err() == nil && llm.TimedOut(err) {
		return usage, a.timedOut(err)
	}
	if p.HasImages() && a.isBlind(err) {
		return a.askWithin(ctx, p.WithoutImages(), say)
	}
	return usage, err
}

// timedOut records a time-out, and returns the first one: no other request of the
// turn follows it.
func (a *Asker) timedOut(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timeout = cmp.Or(a.timeout, err)
	return a.timeout
}

// askWithin asks within the window. Whatever the words of its refusal, a long prompt
// that the server refuses is shortened and sent once more.
func (a *Asker) askWithin(ctx context.Context, p Prompt, say func(text string)) (llm.Usage, error) {
	if err := a.Wait(ctx); err != nil {
		return llm.Usage{}, err
	}
	if err := a.afterWarm(ctx, p); err != nil {
		return llm.Usage{}, err
	}
	if a.Compactor != nil {
		p = a.Compactor.Compact(ctx, p)
	}
	window, scale := a.measured(ctx)
	usage, size, err := a.send(ctx, p, window, scale, say)
	var status *llm.StatusError
	if !errors.As(err, &status) || !status.Refused() || !status.Long || ctx.Err() != nil ||
		!a.limit.CompareAndSwap(0, int64(size/2)) {
		return usage, err
	}
	a.Stream.Notice("The model server refused a long request; it is shortened and sent again.")
	if err := a.Wait(ctx); err != nil { // the server may report another window now
		return usage, err
	}
	window, scale = a.measured(ctx)
	usage, _, err = a.send(ctx, p, window, scale, say)
	return usage, err
}

// measured returns the current window, 0 if unknown, and the factor that
// converts estimated tokens to the server's.
func (a *Asker) measured(ctx context.Context) (window int, scale float64) {
	g := a.Meters.Of(ctx, a.ModelName())
	window = a.Window()
	if limit := int(a.limit.Load()); limit > 0 {
		window = min(cmp.Or(window, limit), limit)
	}
	return window, Scale(g, a.RejectsLongPrompts())
}

// send makes one request that fits the window, and reads the response to its
// end. size is that of the request, in tokens.
func (a *Asker) send(ctx context.Context, p Prompt, window int, scale float64,
	say func(string),
) (usage llm.Usage, size int, err error) {
	fitted := p.Fit(window, scale)
	a.Stream.Emit(fitted.Counted(p, window, a.Meters.Of(ctx, a.ModelName())))
	if fitted.Left != "" && a.leftOut(fitted.Left) {
		a.Stream.Notice("%s", fitted.Left)
	}
	req := p.Request
	req.Messages = fitted.Messages
	size = int(float64(fitted.Estimate) * scale)
	if room := window - size; window > 0 && req.MaxTokens > 0 { // vLLM rejects more
		req.MaxTokens = min(req.MaxTokens, max(room, Reserve(window)))
	}
	req.Think = a.Think
	a.Stream.Count(func(m *agent.Metrics) { m.ModelCalls++ })
	a.traceRequest(p.Agent, req)
	cached := a.Meters.cached(a.ModelName(), req.Messages)
	defer a.Stream.CountWork()()

	defer func() { a.Stream.Count(func(m *agent.Metrics) { m.Model = a.ModelName() }) }()
	reading := agent.Reading{
		Agent: p.Agent, Step: p.Step, Model: a.ModelName(),
		Tokens:    max(0, size-int(float64(cached)*scale)),
		PerSecond: a.Meters.readingRate(a.ModelName(), 0),
	}
	stream := func(ctx context.Context) iter.Seq2[llm.Delta, error] { return a.Model.Stream(ctx, req) }
	sent, heard, silent := time.Now(), time.Duration(0), true
	for delta, err := range a.listen(ctx, reading, stream) {
		if heard == 0 {
			heard = time.Since(sent)
		}
		if err != nil {
			if status := (*llm.StatusError)(nil); errors.As(err, &status) {
				status.Long = llm.IsLong(size, window)
			}
			return usage, size, err
		}
		if delta.Thinking != "" {
			a.Stream.Emit(agent.Thought{Agent: p.Agent, Step: p.Step, Content: delta.Thinking})
			if p.Listener != nil {
				p.Listener.Thought(delta.Thinking)
			}
		}
		if delta.Text != "" {
			say(delta.Text)
		}
		if delta.Call != nil && p.Listener != nil {
			p.Listener.Called(*delta.Call)
		}
		if delta.Usage != nil {
			usage = *delta.Usage
		}
		silent = silent && delta.Thinking == "" && delta.Text == "" && delta.Call == nil
	}
	a.emitUsage(p, usage)
	if fresh := usage.Prompt - max(usage.Cached, int(float64(cached)*scale)); fresh >= leastMeasured && heard > 0 {
		a.Meters.readingRate(a.ModelName(), float64(fresh)/heard.Seconds())
	}
	if s := usage.Generating.Seconds(); usage.Answer >= leastWritten && s > 0 {
		a.Meters.Learn(ctx, a.ModelName(), func(g *agent.TokenRatio) {
			g.Writes = cmp.Or(g.Writes, float64(usage.Answer)/s)
		})
	}
	fresh := fitted.Estimate - cached
	if a.RejectsLongPrompts() {
		fresh = 0
	}
	if a.Meters.Counted(ctx, a.ModelName(), fitted.Estimate, fresh, usage.Prompt, window) {
		a.Stream.Notice("The model server seems to have truncated the prompt to %d tokens: the beginning is lost, "+
			"and this answer may miss something. Set `context` to the server's window.", usage.Prompt)
	}
	if silent && usage.Stopped == llm.StopLength && llm.IsLong(size, window) {
		err = &llm.StatusError{Code: http.StatusOK, Message: "the prompt leaves no room for an answer", Long: true}
	}
	return usage, size, err
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

// A model that is silent for slowModel is reported, and then every readingEvery.
const (
	slowModel    = 3 * time.Second
	readingEvery = 5 * time.Second
)

// Wait waits until Window and ModelName describe the model of the next request.
func (a *Asker) Wait(ctx context.Context) error {
	for _, err := range a.listen(ctx, agent.Reading{Model: a.ModelName()},
		func(ctx context.Context) iter.Seq2[llm.Delta, error] {
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
	used := agent.Used{Agent: p.Agent, Step: p.Step, Prompt: usage.Prompt, Cached: usage.Cached, Answer: usage.Answer}
	if s := usage.Generating.Seconds(); s > 0 {
		used.PerSecond = float64(usage.Answer) / s
	}
	a.Stream.Emit(used)
}

// listen reads a stream of the model in a goroutine, so that a cancelled ctx
// ends the loop at once even if the model ignores it. The goroutine ends when
// the stream does, or at its next piece after the loop was left. While the model is
// silent, reading is reported, as its server corrects it.
func (a *Asker) listen(ctx context.Context, reading agent.Reading,
	stream func(context.Context) iter.Seq2[llm.Delta, error],
) iter.Seq2[llm.Delta, error] {
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
		began, silence := time.Now(), time.NewTimer(slowModel)
		defer silence.Stop()
		for {
			select {
			case <-silence.C:
				reading.Took = time.Since(began).Milliseconds()
				a.Stream.Emit(reading)
				reading.Again = true
				silence.Reset(readingEvery)
			case p, more := <-pieces:
				if r := p.delta.Reading; r != nil {
					reading.Tokens, reading.Read, reading.Waiting = r.Total-r.Cached, r.Read-r.Cached, ""
					if r.Took > 0 {
						reading.PerSecond = float64(reading.Read) / r.Took.Seconds()
					}
					continue
				}
				if p.delta.Waiting != "" {
					reading.Waiting = p.delta.Waiting
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
	body := agent.Prompted{
		Agent: who, Model: a.ModelName(), Messages: req.Messages, Schema: req.Schema,
		Think: req.Think, MaxTokens: req.MaxTokens,
	}
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
	return errors.As(err, &unsupported) && unsupported.Capability != images
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
