package agent

import (
	"fmt"
	"slices"
	"strings"
)

// Mode is how a turn is worked on.
type Mode string

// The modes share tools, gate, journal, events and memory. See
// docs/design/agent-modes.md for why there are three.
const (
	AutoMode Mode = "auto" // PlanMode or LoopMode, depending on the model
	PlanMode Mode = "plan" // one plan, then the answer
	LoopMode Mode = "loop" // the model chooses each next call
	TeamMode Mode = "team" // a lead delegates tasks to workers, and an evaluator judges their results
)

// Modes returns all modes, in the order in which a key cycles through them.
func Modes() []Mode { return []Mode{AutoMode, PlanMode, LoopMode, TeamMode} }

// ParseMode returns the mode of a name, in any case.
func ParseMode(name string) (Mode, error) {
	mode := Mode(strings.ToLower(strings.TrimSpace(name)))
	if !slices.Contains(Modes(), mode) {
		return "", fmt.Errorf("no mode %q: the modes are auto, plan, loop and team", name)
	}
	return mode, nil
}

// Help says what the mode does, as part of a sentence.
func (m Mode) Help() string {
	return map[Mode]string{
		AutoMode: "the loop, in a form that suits the model",
		PlanMode: "plan first, then answer: usually two model calls",
		LoopMode: "the model calls tools step by step",
		TeamMode: "workers share the task, and their reports are checked: slow and thorough",
	}[m]
}
