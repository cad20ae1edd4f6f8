package agent

import (
	"errors"
	"time"
)

// MaxArtifactName bounds the name of an artifact, in bytes.
const MaxArtifactName = 100

// Artifact is one version of a named document that a turn created, separate
// from the notes. Names are unique within a conversation.
type Artifact struct {
	Conversation string    `json:"conversation"`
	Name         string    `json:"name"`
	Version      int       `json:"version"` // from 1
	Text         string    `json:"text,omitempty"`
	By           string    `json:"by"` // agent that created this version
	Why          string    `json:"why,omitempty"`
	Turn         string    `json:"turn"`
	Call         string    `json:"-"` // call that created it
	Origin       Origin    `json:"origin,omitzero"`
	Time         time.Time `json:"time"`
}

// Errors of saving and finding artifacts.
var (
	ErrNoArtifact     = errors.New("no such artifact")
	ErrArtifactExists = errors.New("there is an artifact of that name, or a newer version of it")
)
