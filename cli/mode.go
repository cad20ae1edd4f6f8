package cli

import (
	"sync/atomic"

	"lifehub/agent"
)

// mode is how the next turn is worked on. The zero value is by a plan; it is
// safe for concurrent use.
type mode struct{ name atomic.Pointer[agent.Mode] }

func (m *mode) use(name agent.Mode) { m.name.Store(&name) }

func (m *mode) now() agent.Mode {
	if name := m.name.Load(); name != nil {
		return *name
	}
	return agent.PlanMode
}
