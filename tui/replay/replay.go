// Package replay plays a turn again: its events in their time, or faster.
package replay

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/tui/draw"
)

// Recording is a turn that is shown again as it was.
type Recording struct {
	Question string
	Events   []agent.Event // in order; the first one's time is the beginning
	Speed    float64       // 1: as fast as it was; 0: at once
}

// The speeds that keys reach.
const (
	slowest = 1.0 / 8
	fastest = 64.0
)

// Player is the Assistant of a replay: it hands out events in their time.
type Player struct {
	events []agent.Event

	mu      sync.Mutex
	speed   float64 // 0: at once
	paused  bool
	played  time.Duration // of the turn, up to since
	since   time.Time     // when speed or pause changed last
	ended   bool
	changed chan struct{} // closed at each change
}

func New(r Recording) *Player {
	p := &Player{speed: r.Speed, since: time.Now(), changed: make(chan struct{})}
	for _, e := range r.Events {
		switch body := e.Body.(type) {
		case agent.Prompted:
			continue // the screen never shows them
		case agent.PermissionAsked:
			body.Reply = nil // it was answered long ago
			e.Body = body
		}
		p.events = append(p.events, e)
	}
	return p
}

// Ask hands out the events. Its goroutine ends after the last, or with ctx.
func (p *Player) Ask(ctx context.Context, _, _ string) <-chan agent.Event {
	events := make(chan agent.Event)
	p.change(func() {})
	go func() {
		defer close(events)
		for _, e := range p.events {
			if !p.wait(ctx, p.at(e)) {
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
		p.change(func() { p.ended = true })
	}()
	return events
}

// at is when an event happened, since the beginning.
func (p *Player) at(e agent.Event) time.Duration { return max(0, e.Time.Sub(p.events[0].Time)) }

// length is how long the turn took.
func (p *Player) length() time.Duration {
	if len(p.events) == 0 {
		return 0
	}
	return p.at(p.events[len(p.events)-1])
}

// wait returns when a moment of the turn has come, or false with ctx.
func (p *Player) wait(ctx context.Context, moment time.Duration) bool {
	for {
		p.mu.Lock()
		left, speed, paused, changed := moment-p.position(), p.speed, p.paused, p.changed
		if !paused && (left <= 0 || speed == 0) {
			if left > 0 {
				p.played, p.since = moment, time.Now()
			}
			p.mu.Unlock()
			return ctx.Err() == nil
		}
		p.mu.Unlock()
		var due <-chan time.Time
		if !paused {
			timer := time.NewTimer(time.Duration(float64(left) / speed))
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-due:
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// position is how much of the turn was played. Hold p.mu.
func (p *Player) position() time.Duration {
	if p.paused || p.ended {
		return p.played
	}
	return p.played + time.Duration(float64(time.Since(p.since))*p.speed)
}

// change sets the clock to now and changes how it goes on.
func (p *Player) change(how func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.played, p.since = min(p.position(), p.length()), time.Now()
	how()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Player) Pause() { p.change(func() { p.paused = !p.paused }) }

// Faster multiplies the speed. At once is as fast as it gets.
func (p *Player) Faster(by float64) {
	p.change(func() {
		if p.speed == 0 {
			p.speed = fastest
		}
		p.speed = min(max(p.speed*by, slowest), fastest)
	})
}

// Now is the time in the turn.
func (p *Player) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events) == 0 {
		return time.Time{}
	}
	return p.events[0].Time.Add(min(p.position(), p.length()))
}

// View is the line in the composer's place: how far, how fast.
func (p *Player) View(width int, look *draw.Theme) string {
	p.mu.Lock()
	at, speed, paused, ended := min(p.position(), p.length()), p.speed, p.paused, p.ended
	p.mu.Unlock()
	state, pace := "▶", "at once"
	if speed > 0 {
		pace = fmt.Sprintf("%g×", speed)
	}
	switch {
	case ended:
		state, at = "■", p.length()
	case paused:
		state = "⏸"
	}
	write := clock
	if p.length() < 10*time.Second {
		write = draw.Duration
	}
	right := fmt.Sprintf(" %s of %s · %s ", write(at), write(p.length()), pace)
	room := width - draw.Width(right) - 3
	if room < 8 {
		return draw.Truncate(state+right, width)
	}
	done := room
	if p.length() > 0 {
		done = int(int64(room) * int64(at) / int64(p.length()))
	}
	return look.Running.Render(state+" "+strings.Repeat("━", done)) + look.Border.Render(strings.Repeat("─", room-done)) + right
}

// clock writes a time as a player does: 0:07, 12:40.
func clock(d time.Duration) string {
	seconds := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}
