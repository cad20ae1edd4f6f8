package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lifehub/agent"
)

// Before is a call that the user's hook is asked about.
type Before struct {
	Event        string          `json:"event"` // before_call; set by who runs the hook
	Conversation string          `json:"conversation"`
	Turn         string          `json:"turn"`
	Tool         string          `json:"tool"`
	Input        json.RawMessage `json:"input"`
	Asks         bool            `json:"asks"` // whether the user will be asked, too
}

// Denial is the error of a hook that denies a call. Its reason is untrusted.
type Denial struct{ Reason string }

func (d *Denial) Error() string { return "the before_call hook denied it: " + d.Reason }

// consult asks the hook about a call that the verdict does not deny. A hook can
// only tighten: it denies, or if it gives no answer, the user is asked.
func (g *Guard) consult(ctx context.Context, c *Call, v Verdict) (Verdict, error) {
	asks := v.Level == agent.Confirm || v.Level == agent.ConfirmEach
	if g.Gate.Hook == nil || !asks && v.Level != agent.Auto {
		return v, nil
	}
	err := g.Gate.Hook.BeforeCall(ctx, Before{
		Conversation: g.Record.Conversation, Turn: g.Record.Stream.Turn,
		Tool: c.Name(), Input: c.Input.JSON(), Asks: asks,
	})
	c.unanswered = false
	var denied *Denial
	switch {
	case err == nil || ctx.Err() != nil:
		return v, ctx.Err()
	case errors.As(err, &denied):
		if journal := g.recordDenial(ctx, c, err.Error()); journal != nil {
			return v, journal
		}
		return v, denied
	}
	if c.unanswered = true; !asks {
		v.Level = agent.Confirm
	}
	v.Reason, v.Fixed = fmt.Sprintf("the before_call hook gave no answer (%v); %s", err, v.Reason), true
	return v, nil
}

// recordDenial records in the journal that a rule or the hook denies a call.
func (g *Guard) recordDenial(ctx context.Context, c *Call, reason string) error {
	denied := agent.Entry{Moment: agent.Decided, Step: c.Step, Decision: agent.DenyByRule, Reason: reason}
	return g.Record.Stream.Enter(ctx, c.intended(), denied)
}
