package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
)

// farewell is the time that a stopped turn has to save its answer.
const farewell = 2 * time.Second

// Run shows the screen until the user leaves, and returns how, and the ID of the conversation that
// was open; "" if none was. It owns the terminal: nothing else may write to stdout or stderr. When
// it returns, also after signals and panics, the terminal is restored and the open turn has had time
// to save its answer.
func Run(ctx context.Context, options chat.Options) (how chat.Ended, conversation string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	draw.ByCharacters(true) // until the terminal reports otherwise
	m, err := New(ctx, options)
	if err != nil {
		return chat.Quit, "", err
	}
	err = runProgram(ctx, m, func(interrupted bool) tea.Msg {
		if interrupted {
			return leaveMsg(chat.Interrupted)
		}
		return leaveMsg(chat.Terminated)
	}, func() {
		if m.turn != nil {
			m.turn.stop(agent.ErrShutdown) // the terminal may be gone; without effect if the user stopped it
		}
		cancel()
		_ = m.takeDraft()(context.WithoutCancel(ctx), "") // first; an error cannot be shown any more
		if m.turn != nil {
			drainEvents(m.turn.events, farewell)
		}
	})
	switch {
	case m.opening.Err != nil:
		return chat.Quit, m.chat.id, m.opening.Err
	case errors.Is(err, tea.ErrProgramKilled) && errors.Is(err, context.Canceled):
		return chat.Terminated, m.chat.id, nil
	case err != nil:
		return m.leaving.exit, m.chat.id, fmt.Errorf("screen: %w", err)
	}
	return m.leaving.exit, m.chat.id, nil
}
