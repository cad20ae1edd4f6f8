package agent

// Mode is how a turn is worked on.
// Why three: docs/design/agent-modes.md.
type Mode string

// The modes. They share tools, gate, journal, events and memory. Why three:
// docs/design/agent-modes.md.
const (
	AutoMode Mode = "auto" // PlanMode or LoopMode, as suits the model that answers
	PlanMode Mode = "plan" // one plan, then the answer
	LoopMode Mode = "loop" // the model decides each next call
	TeamMode Mode = "team" // a lead hands tasks to workers, and an evaluator judges what they bring
)

// Modes are all of them, in the order in which a key goes through them.
func Modes() []Mode { return []Mode{AutoMode, PlanMode, LoopMode, TeamMode} }
