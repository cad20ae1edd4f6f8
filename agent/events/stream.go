// Package events is what a turn reports: numbered events and the answer as it
// grows, with the trace, the journal and the figures made from them.
package events

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Stream is where all parts of a turn tell what they do. It is safe for
// concurrent use. Its exported fields are set before the first event, Turn as
// soon as the message is saved.
type Stream struct {
	Turn    string // as History knows it; "" until the message is saved
	Now     func() time.Time
	Journal agent.Journal // nil: a turn that is cut cannot be resumed
	// Trace begins a trace of the turn's events and prompts: each Write is one
	// line of JSON and does not wait, Close comes after the last. nil: none is kept.
	Trace func(turn string) io.WriteCloser

	answer  answer
	Lead    string // said before the next piece of the answer
	Cut     bool   // the answer lacks its end
	Metrics agent.Metrics

	sending sync.Mutex // one event at a time; guards what follows
	to      chan<- agent.Event
	seq     int
	trace   io.WriteCloser // nil: not begun, or none is kept
	piece   *agent.Event   // text that the trace does not hold yet; nil: none
	course  []agent.CourseEvent

	began    time.Time
	userWait userWait

	counting     sync.Mutex // guards Metrics and degradations
	degradations []degradation
}

// New returns the stream of a turn that begins now. Its events go to a channel
// that is read until the turn has ended; nil: to nobody.
func New(to chan<- agent.Event, now func() time.Time) *Stream {
	return &Stream{to: to, Now: now, began: now()}
}

// Emit sends the next event and waits until it was read: a slow reader slows
// the turn, and nothing is lost.
func (s *Stream) Emit(body agent.Body) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.seq++
	e := agent.Event{Type: agent.TypeOf(body), Turn: s.Turn, Seq: s.seq, Time: s.Now(), Body: body}
	s.Count(func(m *agent.Metrics) { tally(m, body) })
	s.record(e)
	s.follow(e)
	if s.to != nil {
		s.to <- e
	}
}

// Notice tells the user something that stops nothing.
func (s *Stream) Notice(format string, args ...any) {
	s.Emit(agent.Noticed{Text: fmt.Sprintf(format, args...)})
}

// Phase frames the work of one agent; call what it returns at its end.
func (s *Stream) Phase(started agent.PhaseStarted) (end func()) {
	s.Emit(started)
	start := s.Now()
	return func() { s.Emit(agent.PhaseEnded{Agent: started.Agent, Took: s.Since(start)}) }
}

// Since is the time from start in milliseconds.
func (s *Stream) Since(start time.Time) int64 { return s.Now().Sub(start).Milliseconds() }

// Count changes the metrics; steps do it side by side.
func (s *Stream) Count(change func(*agent.Metrics)) {
	s.counting.Lock()
	defer s.counting.Unlock()
	change(&s.Metrics)
}

// tally counts what an event tells of.
func tally(m *agent.Metrics, body agent.Body) {
	switch body := body.(type) {
	case agent.ToolEnded:
		if body.Error != "" {
			m.ToolsFailed++
		}
	case agent.StepChanged:
		if body.Status == agent.Denied {
			m.ToolsDenied++
		}
	case agent.PermissionAsked:
		m.Asked++
	case agent.Cited:
		if body.Verdict == agent.Verified {
			m.Cited++
		}
	}
}

// Timed sets the times of the metrics of a turn that ends, and returns them.
func (s *Stream) Timed() agent.Metrics {
	s.Metrics.Waited = s.waited()
	s.Metrics.Latency = s.Since(s.began) - s.Metrics.Waited
	return s.Metrics
}

// Enter keeps entries in the journal before the next thing happens. A turn
// without a journal cannot be resumed; everything else is the same.
func (s *Stream) Enter(ctx context.Context, entries ...agent.Entry) error {
	if s.Journal == nil || s.Turn == "" {
		return nil
	}
	now := s.Now()
	for i := range entries {
		entries[i].Version, entries[i].Time = EntryVersion, now
	}
	if err := s.Journal.Record(ctx, s.Turn, entries...); err != nil {
		return fmt.Errorf("record the next action: %w", err)
	}
	return nil
}

// SaveTimeout bounds saving what is to be saved although the turn is cancelled.
const SaveTimeout = 5 * time.Second

// EntryVersion is the form of an Entry. Those of another form are not acted on.
const EntryVersion = 1

// degradation is an error of the model that a turn continued after, and what
// the turn had to do without.
type degradation struct {
	err  error
	lost []string
}

// Degrade notes that the turn continues after an error of the model, without
// something. The user learns of it at the end, once.
func (s *Stream) Degrade(lost string, err error) {
	s.counting.Lock()
	defer s.counting.Unlock()
	for i, d := range s.degradations {
		if d.err.Error() == err.Error() {
			s.degradations[i].lost = append(d.lost, lost)
			return
		}
	}
	s.degradations = append(s.degradations, degradation{err, []string{lost}})
}

// ReportDegradations reports each error that the turn continued after, except
// the one that ends it.
func (s *Stream) ReportDegradations(failure error) {
	for _, d := range s.degradations {
		if failure == nil || failure.Error() != d.err.Error() {
			s.Notice("%s", text.AsSentence(strings.Join(d.lost, "; ")+": "+text.OneLine(text.Clip(d.err.Error(), 500))))
		}
	}
}
