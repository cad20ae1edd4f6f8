package serve

import (
	"context"

	"lifehub/agent"
	"lifehub/chat"
)

// Alone answers what pages send, one message after the other, for there is no screen. say prints what belongs to no
// turn. It returns when ctx ends, with the running turn suspended, as by a signal.
func (s *Server) Alone(ctx context.Context, say func(text string)) {
	var queue []string
	var over chan struct{} // of the running turn; nil: none
	stop := func(error) {}
	ask := func(begin func(context.Context) <-chan agent.Event) {
		turn, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		done := make(chan struct{})
		over, stop = done, cancel
		go func() { // ends with the turn
			defer close(done)
			defer cancel(nil)
			agent.Safely(func() {
				for range s.Hub.Follow(s.Options.Conversation, begin(turn)) { // pages read it
				}
			})
		}()
	}
	for {
		if over == nil && len(queue) > 0 {
			message := queue[0]
			queue = queue[1:]
			ask(func(ctx context.Context) <-chan agent.Event {
				return s.Options.Assistant.Ask(ctx, s.Options.Conversation, message)
			})
		}
		select {
		case <-ctx.Done():
			stop(agent.ErrShutdown)
			if over != nil {
				<-over
			}
			return
		case <-over:
			over = nil
		case text, open := <-s.Options.Notices:
			if !open {
				s.Options.Notices = nil
			} else {
				say(text)
			}
		case sent := <-s.Hub.Sent():
			switch {
			case sent.Stop:
				stop(nil)
			case sent.Resume && over == nil:
				if turn := s.interrupted(ctx); turn != "" {
					ask(func(ctx context.Context) <-chan agent.Event {
						return s.Options.Resumer.Resume(ctx, s.Options.Conversation, turn)
					})
				}
			case !sent.Resume:
				queue = append(queue, sent.Message)
			}
		}
	}
}

// interrupted returns the last turn if it can be resumed, or "".
func (s *Server) interrupted(ctx context.Context) string {
	list, err := s.Options.Conversations.Latest(ctx, s.Options.Conversation, 1)
	if err != nil || len(list) == 0 || !chat.Resumable(list[0]) {
		return ""
	}
	return list[0].Turn
}

var _ chat.Second = (*Hub)(nil)
