package agent

import (
	"fmt"
	"strings"
	"time"

	"lifehub/internal/text"
)

// String returns the progress as one line.
func (r Reading) String() string {
	took := (time.Duration(r.Took) * time.Millisecond).Round(time.Second)
	var parts []string
	switch {
	case r.Waiting != "":
		return text.AsSentence(r.Waiting) + " The request is sent again."
	case r.Tokens == 0:
		parts = []string{strings.TrimSpace("waiting for the model " + r.Model)}
	case r.Read > 0:
		parts = []string{fmt.Sprintf("reading %s of %s", text.Thousands(r.Read), text.Count(r.Tokens, "token"))}
	default:
		parts = []string{"reading " + text.Count(r.Tokens, "token")}
	}
	if r.Beginning {
		parts[0] += " that every prompt begins with"
	}
	if parts = append(parts, fmt.Sprintf("%.0f s", took.Seconds())); r.PerSecond >= 1 && r.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("about %.0f/s", r.PerSecond))
	}
	return strings.Join(parts, " · ")
}
