package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"lifehub/agent"
	"lifehub/store"
)

// backUpEvery is how often a long run looks whether a day has passed since the last backup.
const backUpEvery = 10 * time.Minute

// quickCopy is the size in bytes of conversations that are copied in a moment (about 0.2 s), so that a
// run may wait for it when it ends.
const quickCopy = 16 << 20

// backups is the goroutine that makes the daily backup of the conversations.
type backups struct {
	leave chan struct{}      // closed when the run ends; nil: there is no goroutine
	left  chan struct{}      // closed when the goroutine has ended
	stop  context.CancelFunc // ends a backup that is being made
}

// BackUpDaily makes the daily backup in the background: when a day has passed, and when the run ends,
// if the conversations are small or were saved too late. It reports damage and, in a chat, why there is
// no backup. Close ends it.
func (a *App) BackUpDaily(ctx context.Context, report func(text string)) {
	work, stop := context.WithCancel(context.WithoutCancel(ctx)) // a chat's context ends before the chat is closed
	context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), context.Canceled) { // a signal
			stop()
		}
	})
	b := backups{leave: make(chan struct{}), left: make(chan struct{}), stop: stop}
	a.backups = b
	go func() {
		defer close(b.left)
		defer stop()
		last := "" // what was reported
		for leaving := false; ; {
			if text := a.backUp(work); text != last {
				if last = text; text != "" {
					report(text)
				}
			}
			if leaving {
				return
			}
			select {
			case <-b.leave:
				leaving = true
			case <-time.After(backUpEvery):
			}
		}
	}()
}

// backUp makes a backup if it is time, and returns what the user should know.
func (a *App) backUp(ctx context.Context) string {
	err := func() (err error) {
		defer agent.Catch(&err)
		return a.Store.BackUp(ctx)
	}()
	var damaged *store.DamagedError
	switch {
	case err == nil || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist): // conversations were deleted meanwhile
		return ""
	case errors.As(err, &damaged):
		return "Conversations: " + damaged.Error() + "."
	}
	slog.Warn("back up the conversations", "error", err)
	if !a.Attended {
		return ""
	}
	return fmt.Sprintf("The conversations could not be backed up: %v.", err)
}

// endBackups ends the goroutine of BackUpDaily. It waits for a backup only if that takes a moment.
func (a *App) endBackups() {
	b := a.backups
	if b.leave == nil {
		return
	}
	a.backups = backups{}
	if a.Store.Size() > quickCopy {
		b.stop()
	}
	close(b.leave)
	<-b.left
}
