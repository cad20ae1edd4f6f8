package turn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"lifehub/agent"
	"lifehub/agent/parse"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
	"lifehub/llm"
)

// ask makes one model call: it fits the prompt into the window, streams the
// answer to say, and tells thoughts and costs as events. A model that cannot
// see is told that there are images.
func (t *turn) ask(ctx context.Context, p prompt.Prompt, say func(text string)) (llm.Usage, error) {
	if t.blind.Load() {
		p = p.WithoutImages()
	}
	usage, err := t.askWithin(ctx, p, say)
	if p.HasImages() && t.isBlind(err) {
		return t.askWithin(ctx, p.WithoutImages(), say)
	}
	return usage, err
}

// askWithin asks within the window. A prompt that the server finds too long is
// shortened and sent again.
func (t *turn) askWithin(ctx context.Context, p prompt.Prompt, say func(text string)) (llm.Usage, error) {
	if err := t.ready(ctx); err != nil {
		return llm.Usage{}, err
	}
	p = t.compactToFit(ctx, p)
	for n := 1; ; n++ {
		window, s := t.measured(ctx)
		if window == 0 && n > 1 { // nobody says what it is
			window, s = int(float64(p.Tokens())*math.Pow(prompt.Shorter, float64(n-1))), 1
		}
		usage, err := t.send(ctx, p, window, s, say)
		if !errors.Is(err, llm.ErrTooLong) || ctx.Err() != nil || n == lengthTries {
			return usage, err
		}
		t.meters.Learn(ctx, t.ModelName(), prompt.Longer)
		if n == 1 {
			t.emit(agent.Noticed{Text: "The prompt was longer than the model's window; it is shortened and sent again."})
		}
		if err := t.ready(ctx); err != nil { // the server may tell another window now
			return usage, err
		}
	}
}

const (
	// lengthTries is how often a prompt is sent that the server finds too long.
	lengthTries = 4
)

// measured is the window of this moment, 0 for unknown, and what an estimate
// is multiplied with to fit into it.
func (t *turn) measured(ctx context.Context) (window int, scale float64) {
	g := t.meters.Of(ctx, t.ModelName())
	window = t.Window()
	if g.Window > 0 && window > 0 {
		window = min(window, g.Window)
	}
	return window, prompt.Scale(g, t.RejectsLongPrompts())
}

// send makes one request that fits a window, and reads its answer to the end.
func (t *turn) send(ctx context.Context, p prompt.Prompt, window int, scale float64, say func(string)) (llm.Usage, error) {
	fitted := p.Fit(window, scale)
	t.emit(fitted.Counted(p, window, t.meters.Of(ctx, t.ModelName())))
	if fitted.Left != "" && t.leftOut(fitted.Left) {
		t.emit(agent.Noticed{Text: fitted.Left})
	}
	req := p.Request
	req.Messages = fitted.Messages
	if room := window - int(float64(fitted.Estimate)*scale); window > 0 && req.MaxTokens > 0 { // vLLM refuses more
		req.MaxTokens = min(req.MaxTokens, max(room, prompt.Reserve(window)))
	}
	req.Think = t.Think()
	t.count(func(m *agent.Metrics) { m.ModelCalls++ })
	t.prompted(p.Agent, req)
	defer t.countWork()()

	var usage llm.Usage
	split := parse.Thoughts{Say: say, Think: func(text string) { t.emit(agent.Thought{Agent: p.Agent, Step: p.Step, Content: text}) }}
	defer func() { t.count(func(m *agent.Metrics) { m.Model = t.ModelName() }) }()
	for delta, err := range t.listen(ctx, req) {
		if err != nil {
			split.Flush()
			return usage, err
		}
		if delta.Thinking != "" {
			t.emit(agent.Thought{Agent: p.Agent, Step: p.Step, Content: delta.Thinking})
		}
		split.Add(delta.Text)
		if delta.Call != nil && p.Call != nil {
			p.Call(*delta.Call)
		}
		if delta.Usage != nil {
			usage = *delta.Usage
		}
	}
	split.Flush()
	t.emitUsage(p, usage)
	t.checkWhole(ctx, prompt.Count{Estimate: fitted.Estimate, Counted: usage.Prompt}, window)
	return usage, nil
}

// leftOut reports whether it is told for the first time in the turn what a
// prompt lacks.
func (t *turn) leftOut(what string) bool {
	t.counting.Lock()
	defer t.counting.Unlock()
	if slices.Contains(t.lacking, what) {
		return false
	}
	t.lacking = append(t.lacking, what)
	return true
}

// checkWhole reports when the server dropped a part of the prompt, which it does
// without a word, and learns from its count.
func (t *turn) checkWhole(ctx context.Context, c prompt.Count, window int) {
	expected := float64(c.Estimate) * max(t.meters.Of(ctx, t.ModelName()).High, 1)
	if t.meters.Cut(ctx, t.ModelName(), c, window, t.RejectsLongPrompts()) {
		t.emit(agent.Noticed{Text: fmt.Sprintf("The model server cut the prompt in silence: it read %d tokens of about %.0f, and the beginning is likely lost. "+
			"This answer may miss something; the next prompts are kept shorter.", c.Counted, expected)})
	}
}

// slowModel is how long a model may say nothing before the user is told why.
const slowModel = 3 * time.Second

// tellSlow says, once a turn, what a silent model is at: what its server said
// of it, or else what is likely.
func (t *turn) tellSlow(why string) {
	if t.slow.Swap(true) {
		return
	}
	if why != "" {
		t.emit(agent.Noticed{Text: text.AsSentence(why) + " The request is sent again."})
		return
	}
	name := t.ModelName()
	if name != "" {
		name = " (" + name + ")"
	}
	t.emit(agent.Noticed{Text: "The model is loading" + name + ", or reads a long prompt. The first time this can take a minute or two."})
}

// ready waits until Window and ModelName are those of the next request.
func (t *turn) ready(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer agent.Catch(&err)
		err = t.Ready(ctx)
	}()
	silence := time.NewTimer(slowModel)
	defer silence.Stop()
	for {
		select {
		case <-silence.C:
			t.tellSlow("")
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (t *turn) emitUsage(p prompt.Prompt, usage llm.Usage) {
	t.count(func(m *agent.Metrics) {
		m.PromptTokens += usage.Prompt
		m.AnswerTokens += usage.Answer
		m.Generating += usage.Generating.Milliseconds()
	})
	used := agent.Used{Agent: p.Agent, Step: p.Step, Prompt: usage.Prompt, Answer: usage.Answer}
	if s := usage.Generating.Seconds(); s > 0 {
		used.PerSecond = float64(usage.Answer) / s
	}
	t.emit(used)
}

// listen reads the model's stream in its own goroutine, so that a
// cancelled ctx ends the loop at once, even if the model does not notice. The
// goroutine ends when the stream does, or at its next piece after the loop
// was left.
func (t *turn) listen(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
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
			for delta, err := range t.Model.Stream(ctx, req) {
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
				t.tellSlow(why)
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
