package dialog

import (
	"encoding/json"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
)

const (
	maxCheck  = 2 * time.Second        // how long a check may take
	slowCheck = 300 * time.Millisecond // after which the dialog says that it is checking
)

// check is a running check of the values that the user entered. The dialog takes no other key meanwhile
// than the one that withdraws it.
type check struct {
	values json.RawMessage
	since  time.Time
}

// CheckedMsg is the result of a check.
type CheckedMsg struct {
	check *check
	err   error // why the values do not fit
}

// newCheck returns a check and the command that runs it.
func newCheck(values json.RawMessage, fits func(json.RawMessage) error) (*check, tea.Cmd) {
	c := &check{values: values, since: time.Now()}
	return c, func() tea.Msg {
		result := make(chan error, 1)
		go func() { // ends with the check, whose work is bounded
			var err error
			defer func() { result <- err }()
			defer agent.Catch(&err)
			err = fits(values)
		}()
		select {
		case err := <-result:
			return CheckedMsg{c, err}
		case <-time.After(maxCheck):
			return CheckedMsg{c, errors.New("the values could not be checked in time; try shorter ones, or decline")}
		}
	}
}

// isSlow reports whether a check takes so long that the dialog says so.
func (c *check) isSlow(now time.Time) bool { return c != nil && now.Sub(c.since) >= slowCheck }

// Checked answers the question whose values were checked, or shows why they do not fit.
func (q *Queue) Checked(msg CheckedMsg) {
	q.Input.checked(msg)
	q.Permission.checked(msg)
}
