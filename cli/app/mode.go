package app

import (
	"fmt"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// A model needs this many parameters and a window of this many tokens for the loop mode.
const (
	loopParameters = 7e9
	loopWindow     = 8192
)

// FittingMode returns the mode that auto stands for with the current model, and why. A model of
// unknown size or window counts as large.
func (a *App) FittingMode() (agent.Mode, string) {
	return fitting(a.Provider.State(), a.Provider.Window())
}

func fitting(s llm.State, window int) (mode agent.Mode, why string) {
	switch n := parameters(s.Parameters); {
	case s.Model == "":
		return agent.PlanMode, "no model is connected"
	case !s.Tools:
		return agent.PlanMode, s.Model + " calls no tools natively"
	case 0 < n && n < loopParameters:
		return agent.PlanMode, fmt.Sprintf("%s has %s parameters, fewer than 7B", s.Model, s.Parameters)
	case 0 < window && window < loopWindow:
		return agent.PlanMode, fmt.Sprintf("its window of %s tokens is below %s", text.Thousands(window), text.Thousands(loopWindow))
	}
	return agent.LoopMode, s.Model + " calls tools and is large enough"
}

// parameters parses a count such as "8.2B". It returns 0 if size is not a count.
func parameters(size string) float64 {
	units := map[string]float64{"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
	size = strings.ToUpper(strings.TrimSpace(size))
	for unit, times := range units {
		if number, ok := strings.CutSuffix(size, unit); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				return 0
			}
			return n * times
		}
	}
	return 0
}
