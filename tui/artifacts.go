package tui

import (
	"fmt"

	"lifehub/agent"
)

// artifactLine tells of a new version of a document in one line.
func artifactLine(e agent.ArtifactChanged) string {
	text := fmt.Sprintf("Artifact %s, version %d by %s", e.Name, e.Version, e.By)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text + ". `lifehub artifacts show` reads it."
}
