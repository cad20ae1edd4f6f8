package app

import (
	"context"
	"fmt"
	"log/slog"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/internal/text"
	"lifehub/llm"
)

// A model with fewer parameters, or a smaller window in tokens, is small. One of unknown size is small
// if it writes slower.
const (
	largeParameters = 7e9
	largeWindow     = 8192
	largeRate       = 20 // tokens a second that one of unknown size writes
)

// FittingMode returns the mode that auto stands for with the current model, and how the model calls
// tools.
func (a *App) FittingMode() (agent.Mode, string) {
	s := a.Provider.State()
	if s.Model == "" {
		return agent.PlanMode, "no model is connected"
	}
	_, why := traits(s, a.Provider.Window(), a.rate(s))
	return agent.LoopMode, why
}

// Traits returns what a turn has to know of the current model.
func (a *App) Traits() turn.Traits {
	s := a.Provider.State()
	of, _ := traits(s, a.Provider.Window(), a.rate(s))
	return of
}

// rate returns how many tokens a second a model of unknown size writes; 0 if it has not written yet.
func (a *App) rate(s llm.State) float64 {
	if s.Parameters > 0 || a.Store == nil {
		return 0
	}
	measured, err := a.Store.TokenRatio(context.Background(), s.Model)
	if err != nil {
		slog.Warn("read how fast a model writes", "model", s.Model, "error", err)
	}
	return measured.Writes
}

// traits returns the traits of a model, and why. One of unknown size counts as large until it is known
// how many tokens a second it writes.
func traits(s llm.State, window int, rate float64) (of turn.Traits, why string) {
	of = turn.Traits{Native: s.Tools}
	const brief = ", so it gets a short prompt and writes its calls as JSON"
	switch n := s.Parameters; {
	case 0 < n && n < largeParameters:
		of.Small = true
		return of, fmt.Sprintf("%s has %.3gB parameters, fewer than 7B%s", s.Model, n/1e9, brief)
	case 0 < window && window < largeWindow:
		of.Small = true
		return of, fmt.Sprintf("the window of %s has %s tokens, fewer than %s%s", s.Model, text.Thousands(window),
			text.Thousands(largeWindow), brief)
	case n == 0 && 0 < rate && rate < largeRate:
		of.Small = true
		return of, fmt.Sprintf("the size of %s is unknown, and it writes %.2g tokens a second, fewer than %d%s",
			s.Model, rate, largeRate, brief)
	case !s.Tools:
		return of, s.Model + " calls no tools natively, so it writes its calls as JSON"
	case n == 0:
		return of, s.Model + " calls tools natively; its size is unknown, and it counts as large unless it writes " +
			"fewer than 20 tokens a second"
	}
	return of, s.Model + " calls tools natively"
}
