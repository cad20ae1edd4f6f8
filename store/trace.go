package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"lifehub/internal/files"
)

// Format is the version of the format written here: JSON lines, as written by
// agent.Event, in one gzip stream. It is increased when older readers would
// misread a trace.
const Format = 1

// every is how much of a trace may be lost in a kill.
const every = time.Second

// maxTrace bounds the uncompressed size of a trace in bytes, whoever wrote it.
const maxTrace = 256 << 20

// Limits bound the size of traces.
type Limits struct {
	Turn  int   // bytes of one turn's lines; later lines are dropped
	Total int64 // compressed bytes of all traces; the oldest are deleted first
}

// Traces manages the traces in a database.
type Traces struct {
	file    *File
	running sync.WaitGroup // goroutines that save traces
	closing chan struct{}  // closed to stop them
	once    sync.Once
}

func newTraces(d *File) *Traces { return &Traces{file: d, closing: make(chan struct{})} }

// Close saves the open traces and stops their goroutines.
func (t *Traces) Close() {
	t.once.Do(func() { close(t.closing) })
	t.running.Wait()
}

// Wait blocks until all closed traces are saved.
func (t *Traces) Wait() { t.running.Wait() }

// Begin starts the trace of a new turn, or continues that of a resumed one. Each
// Write must be one line and does not block: a goroutine compresses and saves the
// lines once a second and on Close. The goroutine ends when the writer or Traces
// is closed. Errors of saving are logged, once.
func (t *Traces) Begin(turn string, limits Limits) io.WriteCloser {
	w := &traceWriter{traces: t, turn: turn, limits: limits, closed: make(chan struct{})}
	t.running.Go(w.run)
	return w
}

// traceWriter writes one trace.
type traceWriter struct {
	traces *Traces
	turn   string
	limits Limits
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	lines   bytes.Buffer // not yet compressed
	size    int          // size of all lines
	events  int
	dropped int // lines beyond the limit

	packed bytes.Buffer // the fields from here on are used by run only
	packer *gzip.Writer
	failed bool
}

// Write appends a line.
func (w *traceWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dropped > 0 || w.size+len(line) > w.limits.Turn {
		w.dropped++
		return len(line), nil
	}
	w.size += len(line)
	w.events++
	return w.lines.Write(line)
}

// Close marks the trace as complete. It does not wait for the disk; Traces.Close
// does.
func (w *traceWriter) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// run compresses and saves lines until the trace or Traces is closed.
func (w *traceWriter) run() {
	defer func() {
		if fault := recover(); fault != nil {
			slog.Error("save a trace", "turn", w.turn, "fault", fault, "stack", string(debug.Stack()))
		}
	}()
	w.packer = gzip.NewWriter(&w.packed)
	w.resume()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.save(false)
		case <-w.traces.closing:
			select {
			case <-w.closed: // before that
				w.save(true)
			default:
				w.save(false)
			}
			return
		case <-w.closed:
			w.save(true)
			w.trim()
			return
		}
	}
}

// resume continues the trace that an earlier process saved for the same turn.
func (w *traceWriter) resume() {
	found, err := w.traces.query(context.Background(), `WHERE r.turn = ?`, w.turn)
	if err != nil || len(found) == 0 {
		return
	}
	before := found[0]
	if err := w.traces.readLines(context.Background(), &before); err != nil || len(before.Lines) == 0 {
		return // nothing to resume
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size += len(before.Lines)
	w.events += before.Events
	_, _ = w.packer.Write(before.Lines) // a write to memory, which cannot fail
}

// save saves all lines written so far.
func (w *traceWriter) save(complete bool) {
	w.mu.Lock()
	lines := bytes.Clone(w.lines.Bytes())
	w.lines.Reset()
	events, dropped := w.events, w.dropped
	w.mu.Unlock()
	if len(lines) == 0 && !complete {
		return
	}
	_, err := w.packer.Write(lines)
	if complete {
		err = errors.Join(err, w.packer.Close())
	} else {
		err = errors.Join(err, w.packer.Flush())
	}
	if err == nil {
		_, err = w.traces.file.Write.Exec(`INSERT INTO traces (turn, format, events, dropped, whole, body) VALUES (?, ?,
			?, ?, ?, ?)
			ON CONFLICT (turn) DO UPDATE SET format = excluded.format, events = excluded.events,
			dropped = excluded.dropped,
			whole = excluded.whole, body = excluded.body`, w.turn, Format, events, dropped, complete, w.packed.Bytes())
	}
	if err != nil && !w.failed {
		w.failed = true
		slog.Warn("save a trace", "turn", w.turn, "error", err)
	}
}

// trim deletes the oldest traces while the total is above the limit. The newest
// one always stays.
func (w *traceWriter) trim() {
	_, err := w.traces.file.Write.Exec(`DELETE FROM traces WHERE rowid IN (SELECT rowid FROM
		(SELECT rowid, sum(length(body)) OVER (ORDER BY rowid DESC) AS total FROM traces) WHERE total > ?)
		AND rowid < (SELECT max(rowid) FROM traces)`, w.limits.Total)
	if err != nil && !w.failed {
		slog.Warn("delete old traces", "error", err)
	}
}

// Trace is the saved trace of a turn.
type Trace struct {
	Turn         string    `json:"turn"`
	Conversation string    `json:"conversation"`
	Question     string    `json:"question"`
	Started      time.Time `json:"started"`
	State        string    `json:"state"`  // state of the turn: open, done, cut or failed
	Format       int       `json:"format"` // see Readable
	Events       int       `json:"events"`
	Dropped      int       `json:"dropped,omitempty"` // number of lines dropped because of the limit
	Complete     bool      `json:"whole"`             // false: the turn was killed or is still running
	Size         int64     `json:"bytes"`             // compressed bytes

	// Lines are the events, one per line; Damage explains why some are
	// unreadable. Both are empty in a list.
	Lines  []byte `json:"-"`
	Damage string `json:"damage,omitempty"`
}

// Readable returns an error if the format of the trace is unknown.
func (t Trace) Readable() error {
	if t.Format != Format {
		return fmt.Errorf("the trace of %s is from another version of LifeHub (format %d, this one reads %d)",
			t.Turn, t.Format, Format)
	}
	return nil
}

// ErrNone reports that a turn has no trace or does not exist.
var ErrNone = errors.New("no such trace")

// List lists traces, newest first; limit 0 lists all.
func (t *Traces) List(ctx context.Context, limit int) (_ []Trace, err error) {
	defer files.Wrap(&err, "list traces")
	return t.query(ctx, `ORDER BY r.rowid DESC LIMIT ifnull(nullif(?, 0), -1)`, limit)
}

// query reads the traces selected by the given end of a query, without their
// lines.
func (t *Traces) query(ctx context.Context, which string, args ...any) ([]Trace, error) {
	return files.AllRows(ctx, t.file.Read, func(scan files.Scan) (one Trace, err error) {
		return one, scan(
			&one.Turn, &one.Conversation, &one.Question, files.Milliseconds(&one.Started), &one.State,
			&one.Format, &one.Events, &one.Dropped, &one.Complete, &one.Size)
	}, `SELECT r.turn, t.conversation, q.text, t.started, t.state, r.format, r.events, r.dropped, r.whole,
		length(r.body)
		FROM traces r JOIN turns t ON t.id = r.turn JOIN messages q ON q.turn = t.id
		AND q.role = 'user' `+which, args...)
}

// Read returns the trace of a turn, or that of the last turn of a conversation.
// The ID may be a prefix that is unique among conversations. It returns [ErrNone]
// if there is none. A damaged trace is returned as far as it is readable.
func (t *Traces) Read(ctx context.Context, id string) (_ Trace, err error) {
	defer files.Wrap(&err, "read trace %q", id)
	id = strings.TrimSpace(id)
	list, err := t.query(ctx, `WHERE r.turn = ?1 OR substr(t.conversation, 1, length(?1)) = ?1 AND ?1 <> ''
		ORDER BY r.turn = ?1 DESC, t.conversation = ?1 DESC, r.rowid DESC`, id)
	switch {
	case err != nil:
		return Trace{}, err
	case len(list) == 0:
		return Trace{}, ErrNone
	}
	first := list[0]
	for _, other := range list {
		if other.Conversation != first.Conversation && first.Turn != id && first.Conversation != id {
			return Trace{}, fmt.Errorf("ambiguous ID prefix (%s, %s …): give more characters",
				first.Conversation, other.Conversation)
		}
	}
	if first.Readable() == nil {
		err = t.readLines(ctx, &first)
	}
	return first, err
}

// readLines reads the lines of a trace.
func (t *Traces) readLines(ctx context.Context, one *Trace) error {
	bodies, err := files.Column[[]byte](ctx, t.file.Read, `SELECT body FROM traces WHERE turn = ?`, one.Turn)
	switch {
	case err != nil:
		return err
	case len(bodies) == 0: // deleted meanwhile
		return ErrNone
	}
	one.Lines, err = Unpack(bodies[0])
	if err != nil && (one.Complete || !errors.Is(err, io.ErrUnexpectedEOF)) {
		one.Damage = err.Error()
	}
	return nil
}

// Unpack returns the complete lines of a compressed trace, even if it returns an
// error.
func Unpack(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	lines, err := io.ReadAll(io.LimitReader(r, maxTrace+1))
	if len(lines) > maxTrace {
		lines, err = lines[:maxTrace], fmt.Errorf("uncompressed size exceeds %d MiB", maxTrace>>20)
	}
	return lines[:bytes.LastIndexByte(lines, '\n')+1], err
}
