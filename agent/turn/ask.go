package turn

import (
	"context"
	"errors"
	"fmt"

	"lifehub/agent/prompt"
	"lifehub/llm"
)

// askOrStream asks for a decision until read accepts it, at most [prompt.Tries]
// times; read may change the prompt for the next try. If the decision contains
// an answer instead of steps, the answer is streamed as it arrives. answered
// reports that, or that read reported it. unusable is why the last decision was
// rejected, or the server's error response; err is any other failure.
func (a *answer) askOrStream(ctx context.Context, p *prompt.Prompt, read func(reply string) (answered bool, unusable error)) (answered bool, unusable, err error) {
	for range prompt.Tries {
		hear := prompt.Hear{Decides: true}
		usage, err := a.model.Ask(ctx, *p, func(piece string) {
			thought, said := hear.Add(piece)
			a.pass(*p, thought, said)
		})
		if said := hear.Said(); said != "" {
			a.settle(said, prompt.Answer(hear.Answer()))
		}
		switch {
		case errors.Is(err, llm.ErrCut) && !a.hasText():
			unusable = fmt.Errorf("it cannot be used: %w", err)
		case failedToDecide(err) && !a.hasText():
			return false, fmt.Errorf("there is none: %w", err), nil
		case err != nil:
			a.events.Cut = a.hasText()
			return false, nil, err
		case usage.Stopped == llm.StopLength && a.hasText():
			a.events.ReachedLimit()
			return true, nil, nil
		case usage.Stopped == llm.StopLength:
			unusable = errors.New("it was longer than the model may write")
		default:
			answered, unusable = read(hear.Whole())
		}
		if answered || unusable == nil {
			return answered, nil, nil
		}
		p.After = prompt.Repair(hear.Whole(), unusable)
	}
	return false, unusable, nil
}

// failedToDecide reports whether an error is the server's response to this
// request, so that a request for plain text may still succeed.
func failedToDecide(err error) bool {
	var status *llm.StatusError
	return errors.As(err, &status) && status.Refused()
}
