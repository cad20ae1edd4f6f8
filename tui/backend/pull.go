package backend

import (
	"context"
	"errors"

	"lifehub/llm"
)

// MissingModel returns the model that an error says can be pulled, or "".
func MissingModel(err error) string {
	var missing *llm.NotFoundError
	if errors.As(err, &missing) && !missing.Fixed {
		return missing.Model
	}
	return ""
}

// PullStep is how far a model is on its way; Total is 0 while the size is unknown.
type PullStep struct {
	Status      string
	Done, Total int64
}

// Pull fetches a model, sends the steps and closes them. Of a slow reader's
// steps, which need room for one, only the newest stays.
func Pull(ctx context.Context, models Models, name string, steps chan PullStep) error {
	defer close(steps)
	return models.Pull(ctx, name, func(status string, done, total int64) {
		step := PullStep{status, done, total}
		for {
			select {
			case steps <- step:
				return
			default:
			}
			select { // an older step that nobody has seen may go
			case <-steps:
			default:
			}
		}
	})
}
