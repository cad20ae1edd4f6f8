package mcpclient

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/internal/text"
	"lifehub/mcpclient/config"
	"lifehub/mcpclient/trust"
)

// Status is the state of a server.
type Status string

// The states of a server.
const (
	Starting   Status = "starting"
	Running    Status = "running"
	Restarting Status = "restarting" // it ended, and is tried again after a while
	Off        Status = "off"        // with a reason; it is not tried again automatically
)

// ServerState is how a server is. Its texts come partly from the server.
type ServerState struct {
	Name      string           `json:"name"`
	Transport config.Transport `json:"transport"`
	Address   string           `json:"address"` // command line or url, with ${NAME} as written
	Status    Status           `json:"status"`
	Reason    string           `json:"reason,omitempty"` // why it is not running
	Since     time.Time        `json:"since"`            // when the status began
	Restarts  int              `json:"restarts"`
	About     string           `json:"about,omitempty"`   // the server's own name and version
	Tools     []string         `json:"tools,omitempty"`   // names as the model knows them
	Refused   []string         `json:"refused,omitempty"` // what of its tools is not offered, and why
	Unseen    []trust.Change   `json:"unseen,omitempty"`  // what has changed, and is not used until it was seen
	Tokens    int              `json:"tokens"`            // estimated cost of its tools in a prompt
	Calls     int              `json:"calls"`
	Failed    int              `json:"failed"`
	P95       time.Duration    `json:"p95_ns"`           // of the last calls' times
	Odd       int64            `json:"odd,omitempty"`    // lines of its output that were no messages
	Said      string           `json:"stderr,omitempty"` // its last line on stderr
}

// switchedOff is the reason of a server that the user does not want.
const switchedOff = "switched off in mcp.json"

// endsToo is the reason of a server that ends with LifeHub.
const endsToo = "LifeHub is shutting down"

// Why a server is not started that the user has to look at first.
const (
	notSeen      = "you have not reviewed what it runs"
	changedSince = "what it runs has changed since you reviewed it"
)

// OK reports whether the server needs no repairing: it runs, or is off on purpose.
func (s ServerState) OK() bool {
	return s.Status == Running || s.Status == Starting || s.Reason == switchedOff
}

// errConsent says that a server lets in only who has gone through its consent.
var errConsent = errors.New("it needs your consent")

// WantsConsent reports whether the server waits for Client.Consent.
func (s ServerState) WantsConsent() bool {
	return s.Status == Off && strings.HasPrefix(s.Reason, errConsent.Error())
}

// Text says in one line how the server is.
func (s ServerState) Text() string {
	if s.Status != Running {
		if s.Reason == "" {
			return string(s.Status)
		}
		return fmt.Sprintf("%s: %s", s.Status, s.Reason)
	}
	parts := []string{text.Count(len(s.Tools), "tool")}
	if s.Restarts > 0 {
		parts = append(parts, text.Count(s.Restarts, "restart"))
	}
	if s.Calls > 0 {
		parts = append(parts, fmt.Sprintf("%s, p95 %d ms", text.Count(s.Calls, "call"), s.P95.Milliseconds()))
	}
	if len(s.Unseen) > 0 {
		parts = append(parts, fmt.Sprintf("%s not used until reviewed: lifehub mcp trust %s", text.Count(len(s.Unseen), "change"), s.Name))
	}
	if len(s.Refused) > 0 {
		parts = append(parts, strings.Join(s.Refused[:min(len(s.Refused), maxRefused)], "; "))
		if more := len(s.Refused) - maxRefused; more > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", more))
		}
	}
	return "running: " + strings.Join(parts, ", ")
}

// maxRefused bounds what Text tells of the tools that are refused.
const maxRefused = 5

// figures are the times of a server's last calls.
type figures struct {
	count, failed int
	times         []time.Duration // of the last maxTimes calls
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

// p95 is the time that 19 of 20 calls stay within; 0 without calls.
func (f *figures) p95() time.Duration {
	if len(f.times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.times))
	return sorted[(len(sorted)*95+99)/100-1]
}
