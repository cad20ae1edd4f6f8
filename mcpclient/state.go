package mcpclient

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/internal/text"
	"lifehub/mcpclient/config"
)

// Status is the status of a server.
type Status string

// The statuses of a server.
const (
	Starting   Status = "starting"
	Running    Status = "running"
	Restarting Status = "restarting" // it ended, and is restarted after a delay
	Off        Status = "off"        // for a given reason; it is not restarted automatically
)

// ServerState describes a server. Some of its texts come from the server and are
// untrusted.
type ServerState struct {
	Name      string           `json:"name"`
	Transport config.Transport `json:"transport"`
	Address   string           `json:"address"` // command line or url as written, with ${NAME} not expanded
	Status    Status           `json:"status"`
	Reason    string           `json:"reason,omitempty"` // why it is not running
	Since     time.Time        `json:"since"`            // start of the status
	Restarts  int              `json:"restarts"`
	About     string           `json:"about,omitempty"`   // name and version reported by the server
	Tools     []string         `json:"tools,omitempty"`   // names by which the model knows them
	Refused   []string         `json:"refused,omitempty"` // rejected tools, with reasons
	Unseen    []config.Change  `json:"unseen,omitempty"`  // changes that are not used until reviewed
	Tokens    int              `json:"tokens"`            // estimated prompt tokens of its tools
	Reads     bool             `json:"reads,omitempty"`   // its tools that only read may be chained without asking
	Calls     int              `json:"calls"`
	Failed    int              `json:"failed"`
	P95       time.Duration    `json:"p95_ns"`           // 95th percentile of recent call durations
	Stderr    string           `json:"stderr,omitempty"` // last line on stderr
	why       error            // what Reason is the text of
}

// Why a server does not run.
var (
	errSwitchedOff = errors.New("switched off in mcp.json")
	errEnds        = errors.New("LifeHub is shutting down")
	errConsent     = errors.New("it needs your consent") // OAuth
	// until the user has reviewed it
	errNotSeen = errors.New("you have not reviewed what it runs")
	errChanged = errors.New("what it runs has changed since you reviewed it")
)

// OK reports whether the server needs no attention: it runs, or is off on
// purpose.
func (s ServerState) OK() bool {
	return s.Status == Running || s.Status == Starting || errors.Is(s.why, errSwitchedOff)
}

// WantsConsent reports whether the server waits for Client.Consent.
func (s ServerState) WantsConsent() bool {
	return s.Status == Off && errors.Is(s.why, errConsent)
}

// Text describes the state in one line.
func (s ServerState) Text() string {
	if s.Status != Running {
		if s.Reason == "" {
			return string(s.Status)
		}
		return fmt.Sprintf("%s: %s", s.Status, s.Reason)
	}
	parts := []string{text.Count(len(s.Tools), "tool")}
	if s.Reads {
		parts = append(parts, "trusted to read: private text may go to it")
	}
	if s.Restarts > 0 {
		parts = append(parts, text.Count(s.Restarts, "restart"))
	}
	if s.Calls > 0 {
		parts = append(parts, fmt.Sprintf("%s, p95 %d ms", text.Count(s.Calls, "call"), s.P95.Milliseconds()))
	}
	if len(s.Unseen) > 0 {
		parts = append(parts, fmt.Sprintf("%s not used until reviewed: lifehub mcp trust %s",
			text.Count(len(s.Unseen), "change"), s.Name))
	}
	if len(s.Refused) > 0 {
		parts = append(parts, strings.Join(s.Refused[:min(len(s.Refused), maxRefused)], "; "))
		if more := len(s.Refused) - maxRefused; more > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", more))
		}
	}
	return "running: " + strings.Join(parts, ", ")
}

// maxRefused bounds the rejected tools that Text lists.
const maxRefused = 5

// figures are statistics of a server's recent calls.
type figures struct {
	count, failed int
	times         []time.Duration // durations of the last maxTimes calls
}

const maxTimes = 100

func (f *figures) add(took time.Duration, failed bool) {
	f.count++
	if failed {
		f.failed++
	}
	f.times = append(f.times, took)
	if len(f.times) > maxTimes {
		f.times = f.times[1:]
	}
}

// p95 returns the 95th percentile of the durations; 0 without calls.
func (f *figures) p95() time.Duration {
	if len(f.times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.times))
	return sorted[(len(sorted)*95+99)/100-1]
}
