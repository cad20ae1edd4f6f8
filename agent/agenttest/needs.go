package agenttest

import (
	"context"

	"lifehub/agent"
)

// Kit is the tools of a test.
type Kit struct {
	List  []agent.Tool
	Lacks map[string]string // why other tools are not among them, by name
	Loses string            // one of these, which would change something
	Wait  func(text string, say func(string))
}

// Tools returns the tools of a test.
func Tools(list ...agent.Tool) Kit { return Kit{List: list} }

// Offered returns the list.
func (k Kit) Offered() []agent.Tool { return k.List }

// Missing returns what the kit lacks.
func (k Kit) Missing() map[string]string { return k.Lacks }

// Writes reports whether a tool is the one that the kit loses.
func (k Kit) Writes(tool string) bool { return tool != "" && k.Loses == tool }

// Prepare calls Wait, if it is set.
func (k Kit) Prepare(_ context.Context, text string, say func(string)) {
	if k.Wait != nil {
		k.Wait(text, say)
	}
}

// Server describes the model of a test and its server.
type Server struct {
	Tokens  int // of the window; 0: unknown
	Name    string
	Refuses bool
	Wait    func(s *Server) error // may describe the model; nil: it is known
}

// Window returns the tokens.
func (s *Server) Window() int { return s.Tokens }

// ModelName returns the name.
func (s *Server) ModelName() string { return s.Name }

// RejectsLongPrompts reports whether it refuses them.
func (s *Server) RejectsLongPrompts() bool { return s.Refuses }

// Ready calls Wait, if it is set.
func (s *Server) Ready(context.Context) error {
	if s.Wait != nil {
		return s.Wait(s)
	}
	return nil
}

// Session has the switches of a test.
type Session struct {
	In        agent.Mode
	Asks      bool // for the approval of plans
	OnlyReads bool
}

// Mode returns the mode.
func (s Session) Mode() agent.Mode { return s.In }

// Think returns nothing: off.
func (s Session) Think() string { return "" }

// Approve reports whether plans are approved.
func (s Session) Approve() bool { return s.Asks }

// ReadOnly reports whether nothing may be written.
func (s Session) ReadOnly() bool { return s.OnlyReads }

// Facts are the facts of a test.
type Facts []agent.Fact

// List returns the facts.
func (f Facts) List(context.Context) ([]agent.Fact, error) { return f, nil }
