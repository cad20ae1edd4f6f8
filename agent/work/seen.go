package work

import (
	"encoding/json"
	"sync"

	"lifehub/agent"
)

// Seen is what a conversation brought to light. It is safe for concurrent use;
// the zero value has seen nothing.
type Seen struct {
	mu      sync.Mutex
	Sources []agent.Source
	Listed  []agent.Source
	Given   []string // arguments of calls that are not known to only read notes
}

// Call notes what a call names, run or not: a page that it opens, or what it
// makes or changes.
func (s *Seen) Call(tool agent.Tool, input json.RawMessage) {
	if _, opens := tool.(agent.Fetcher); opens || tool == nil || !agent.ReadOnly(tool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Given = append(s.Given, string(input))
	}
}

// Result notes what a call brought.
func (s *Seen) Result(r agent.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Sources = append(s.Sources, r.Sources...)
	s.Listed = append(s.Listed, r.Listed...)
}
