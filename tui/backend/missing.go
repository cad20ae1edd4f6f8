package backend

import (
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
