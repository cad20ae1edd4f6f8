package agent

import (
	"context"
	"errors"
	"iter"
	"time"

	"lifehub/llm"
)

// ask makes one model call: it fits the prompt into the window, streams the
// answer to say, and tells thoughts and costs as events. A prompt that the
// server finds too long is shortened once and sent again.
func (t *turn) ask(ctx context.Context, p prompt, say func(text string)) (llm.Usage, error) {
	window := t.Window()
	usage, err := t.send(ctx, p, window, say)
	if !errors.Is(err, llm.ErrTooLong) || ctx.Err() != nil {
		return usage, err
	}
	if window == 0 {
		window = p.tokens()
	}
	t.emit(Noticed{Text: "The prompt was longer than the model's window; it is shortened and sent again."})
	return t.send(ctx, p, int(float64(window)*secondTry), say)
}

// secondTry is the part of the window that a prompt is fitted into after the
// server found it too long: its tokenizer counts more than the estimate.
const secondTry = 0.6

// send makes one request that fits a window, and reads its answer to the end.
func (t *turn) send(ctx context.Context, p prompt, window int, say func(string)) (llm.Usage, error) {
	fitted := p.fit(window)
	t.emit(ContextCounted{Agent: p.agent, Parts: fitted.parts, Used: fitted.used, Allocated: t.Window()})
	if fitted.left != "" {
		t.emit(Noticed{Text: fitted.left})
	}
	req := p.request
	req.Messages = fitted.messages
	req.Think = t.Think()
	t.count(func(m *Metrics) { m.ModelCalls++ })
	t.prompted(p.agent, req)

	var usage llm.Usage
	split := thinkSplitter{say: say, think: func(text string) { t.emit(Thought{Content: text}) }}
	defer func() { t.count(func(m *Metrics) { m.Model = t.ModelName() }) }()
	for delta, err := range t.listen(ctx, req) {
		if err != nil {
			split.flush()
			return usage, err
		}
		if delta.Thinking != "" {
			t.emit(Thought{Content: delta.Thinking})
		}
		split.add(delta.Text)
		if delta.Usage != nil {
			usage = *delta.Usage
		}
	}
	split.flush()
	t.emitUsage(p.agent, usage)
	return usage, nil
}

// slowModel is how long a model may say nothing before the user is told why.
const slowModel = 3 * time.Second

// tellSlow says, once a turn, what a silent model is likely to be at.
func (t *turn) tellSlow() {
	if t.slow {
		return
	}
	t.slow = true
	name := t.ModelName()
	if name != "" {
		name = " (" + name + ")"
	}
	t.emit(Noticed{Text: "The model is loading" + name + ", or reads a long prompt. The first time this can take a minute or two."})
}

func (t *turn) emitUsage(agent string, usage llm.Usage) {
	t.count(func(m *Metrics) {
		m.PromptTokens += usage.Prompt
		m.AnswerTokens += usage.Answer
		m.Generating += usage.Generating.Milliseconds()
	})
	used := Used{Agent: agent, Prompt: usage.Prompt, Answer: usage.Answer}
	if s := usage.Generating.Seconds(); s > 0 {
		used.PerSecond = float64(usage.Answer) / s
	}
	t.emit(used)
}

// listen reads the model's stream in a goroutine of its own, so that a
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
			defer catch(&err)
			for delta, err := range t.Model.Stream(ctx, req) {
				if !send(piece{delta, err}) || err != nil {
					return
				}
			}
		}()
		silence := time.NewTimer(slowModel)
		defer silence.Stop()
		for {
			select {
			case <-silence.C:
				t.tellSlow()
			case p, more := <-pieces:
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
