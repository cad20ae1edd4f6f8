package turn

import (
	"context"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
)

// steeringMessage is a message that the user sent while the turn ran.
type steeringMessage struct {
	sent  string // as sent
	typed string // what the user typed
	text  string // typed, with the attachments between marks
	first bool   // taken before any plan was made
}

// savedSteering is a message that the turn took before it was interrupted.
type savedSteering struct {
	message agent.Steering
	plans   int // plans of the turn itself that were made before
}

// offer adds a message that the turn is to take. It may be called at any time.
func (s *steps) offer(sent agent.Steering) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offered = append(s.offered, sent)
}

// steeringWaits reports whether a message of the user waits to be taken. Then no
// further step of the turn starts, because the message may change it.
func (t *turn) steeringWaits() bool {
	t.steps.mu.Lock()
	defer t.steps.mu.Unlock()
	return len(t.steps.offered) > 0 || t.replaysSteering()
}

// replaysSteering reports whether the next saved message was taken here. The
// caller must hold t.steps.mu.
func (t *turn) replaysSteering() bool {
	return len(t.saved.steering) > 0 && t.saved.steering[0].plans <= t.steps.plansMade
}

// nextSteering takes the next message, which is journalled before it counts. It
// reports false if there is none.
func (t *turn) nextSteering(ctx context.Context) (s agent.Steering, ok bool, err error) {
	t.steps.mu.Lock()
	if t.replaysSteering() {
		s, t.saved.steering = t.saved.steering[0].message, t.saved.steering[1:]
		t.steps.mu.Unlock()
		return s, true, nil
	}
	if len(t.steps.offered) == 0 || t.saved.ownPlans() > 0 { // it comes after the plans that are being replayed
		t.steps.mu.Unlock()
		return s, false, nil
	}
	s, t.steps.offered = t.steps.offered[0], t.steps.offered[1:]
	t.steps.mu.Unlock()
	// Whether it is saved must be certain, also if the turn is being stopped:
	// otherwise the front end would send it again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), agent.SaveTimeout)
	defer cancel()
	err = t.events.Enter(ctx, agent.Entry{Moment: agent.Steered, Steering: &s})
	return s, err == nil, err
}

// listen takes the messages that the user has sent meanwhile. It is called before
// the model is asked. The returned context has the times that they mention.
func (t *turn) listen(ctx context.Context) (_ context.Context, sent []steeringMessage, err error) {
	for ctx.Err() == nil {
		s, ok, err := t.nextSteering(ctx)
		if err != nil {
			return ctx, sent, err
		}
		if !ok {
			break
		}
		m := agent.ParseMessage(s.Text)
		h := steeringMessage{sent: s.Text, typed: m.Text, text: m.Text, first: t.steps.planCount() == 0}
		t.record.AddMessage(s.Text)
		for _, a := range m.Attached {
			result := t.readAttached(ctx, a)
			h.text = strings.TrimSpace(h.text + "\n\n" + t.marked("Attached: "+a.Name, result.Text, MaxResult))
		}
		sent = append(sent, h)
		t.events.Emit(agent.Noticed{
			Text:     "You added: " + text.Clip(text.OneLine(m.Text), agent.MaxLogged),
			Steering: &s,
		})
	}
	if len(sent) > 0 {
		t.message.received = append(t.message.received, sent...)
		ctx = agent.InTalk(ctx, t.timesMentioned())
	}
	return ctx, sent, ctx.Err()
}

// steers returns how messages are offered to the turn; nil if no model is asked
// any more that could read them.
func (t *turn) steers() func(agent.Steering) {
	if t.command != nil || t.saved.hasAnswered() {
		return nil
	}
	return t.steps.offer
}

// steeringBeforePlan returns the messages that were sent before any plan was made.
func (t *turn) steeringBeforePlan() (list []steeringMessage) {
	for _, h := range t.message.received {
		if h.first {
			list = append(list, h)
		}
	}
	return list
}

// alsoSent precedes messages that were sent while the model worked.
const alsoSent = "While you worked on it, the user sent this as well. It counts as much as the message, and where " +
	"they differ, it counts instead:\n"

// withSteering returns a question with messages that were sent after it; sent may
// be empty.
func withSteering(question string, sent []steeringMessage) string {
	if len(sent) == 0 {
		return question
	}
	return question + "\n\n" + alsoSent + textsOf(sent)
}

// textsOf returns messages as the model reads them.
func textsOf(sent []steeringMessage) string {
	var texts []string
	for _, h := range sent {
		texts = append(texts, h.text)
	}
	return strings.Join(texts, "\n\n")
}

// timesMentioned returns the times mentioned in the user's earlier messages.
func (t *turn) timesMentioned() when.Talk {
	var typed []string
	for _, m := range t.typedBefore() {
		if m.Role == llm.User {
			typed = append(typed, m.Text)
		}
	}
	return when.TalkOf(typed, when.DayOf(t.agent.Now()))
}
