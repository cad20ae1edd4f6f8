package agent

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
