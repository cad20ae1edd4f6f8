package app

import (
	"fmt"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/internal/text"
	"lifehub/llm"
)

// A model with fewer parameters, or a smaller window in tokens, is small.
const (
	largeParameters = 7e9
	largeWindow     = 8192
)

// FittingMode returns the mode that auto stands for with the current model, and how the model calls
// tools.
func (a *App) FittingMode() (agent.Mode, string) {
	s := a.Provider.State()
	if s.Model == "" {
		return agent.PlanMode, "no model is connected"
	}
	_, why := traits(s, a.Provider.Window())
	return agent.LoopMode, why
}

// Traits returns what a turn has to know of the current model.
func (a *App) Traits() turn.Traits {
	of, _ := traits(a.Provider.State(), a.Provider.Window())
	return of
}

// traits returns the traits of a model, and why. One of unknown size counts as large.
func traits(s llm.State, window int) (of turn.Traits, why string) {
	of = turn.Traits{Native: s.Tools}
	const brief = ", so it gets a short prompt and writes its calls as JSON"
	switch n := s.Parameters; {
	case 0 < n && n < largeParameters:
		of.Small = true
		return of, fmt.Sprintf("%s has %.3gB parameters, fewer than 7B%s", s.Model, n/1e9, brief)
	case 0 < window && window < largeWindow:
		of.Small = true
		return of, fmt.Sprintf("the window of %s has %s tokens, fewer than %s%s", s.Model, text.Thousands(window), text.Thousands(largeWindow), brief)
	case !s.Tools:
		return of, s.Model + " calls no tools natively, so it writes its calls as JSON"
	case n == 0:
		return of, s.Model + " calls tools natively; its size is unknown, and taken for large"
	}
	return of, s.Model + " calls tools natively"
}
