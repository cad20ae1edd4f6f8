package agent

import (
	"context"
	"errors"
	"time"
)

// Artifact is one version of a named document that a turn made, apart from
// the notes. Names are unique within a conversation.
type Artifact struct {
	Conversation string    `json:"conversation"`
	Name         string    `json:"name"`
	Version      int       `json:"version"` // from 1
	Text         string    `json:"text,omitempty"`
	By           string    `json:"by"` // the agent that made this version
	Why          string    `json:"why,omitempty"`
	Foreign      bool      `json:"foreign,omitempty"` // text from outside the user's own notes had a part in it
	Turn         string    `json:"turn"`
	Call         string    `json:"-"` // the call that made it
	Time         time.Time `json:"time"`
}

// The errors of keeping and finding artifacts.
var (
	ErrNoArtifact     = errors.New("there is no such artifact")
	ErrArtifactExists = errors.New("there is an artifact of that name, or a newer version of it")
)

// isContained tells whether what a tool writes stays with LifeHub, marked as
// foreign where foreign text had a part in it: then nothing of the user's can
// be changed by what some page says, and there is nothing to ask about.
func isContained(tool Tool) bool {
	keeper, ok := tool.(interface{ Contained() bool })
	return ok && keeper.Contained()
}

type agentKey struct{}

// withAgent makes known to tools who calls them.
func withAgent(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, agentKey{}, name)
}

// agentOf is who calls a tool; "worker": a step of the turn's plan.
func agentOf(ctx context.Context) string {
	if name, _ := ctx.Value(agentKey{}).(string); name != "" {
		return name
	}
	return "worker"
}
