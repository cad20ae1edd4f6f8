package app

import (
	"fmt"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// What a model has to have for the loop: parameters, by their number, and a window
// in tokens.
const (
	loopParameters = 7e9
	loopWindow     = 8192
)

// FittingMode is what mode auto is for the model that answers now, and why. A server
// that does not tell a model's size or window is taken to have a large one.
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

// parameters reads a number such as "8.2B"; 0: it is none.
func parameters(said string) float64 {
	units := map[string]float64{"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
	said = strings.ToUpper(strings.TrimSpace(said))
	for unit, times := range units {
		if number, ok := strings.CutSuffix(said, unit); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				return 0
			}
			return n * times
		}
	}
	return 0
}
