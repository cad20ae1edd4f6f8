// Package trace saves what happened in each turn, packed, within limits. Start at
// [Traces].
package trace

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

	"lifehub/internal/rows"
	"lifehub/internal/wrap"
	"lifehub/store/file"
)

// Format is the format of the traces written here: lines of JSON, as
// agent.Event writes them, in one gzip stream. It goes up when older readers
// would misread a trace.
const Format = 1

// every is how much of a trace may be lost when LifeHub is killed.
const every = time.Second

// maxTrace bounds what a trace is unpacked to, whoever wrote it, in bytes.
const maxTrace = 256 << 20

// Limits bound what traces take.
type Limits struct {
	Turn  int   // bytes of one turn's lines; what comes later is left out
	Total int64 // bytes of all traces as they are saved, packed; the oldest go first
}

// Traces are those of the turns in a database.
type Traces struct {
	file    *file.File
	running sync.WaitGroup // the goroutines that save traces
	closing chan struct{}  // closed to end them
	once    sync.Once
}

func New(d *file.File) *Traces { return &Traces{file: d, closing: make(chan struct{})} }

// Close saves what has come of open traces.
func (t *Traces) Close() {
	t.once.Do(func() { close(t.closing) })
	t.running.Wait()
}

// Wait returns when all traces that were closed are saved.
func (t *Traces) Wait() { t.running.Wait() }

// Begin begins the trace of a turn that was begun, or resumes one that
// was left. Each Write is one line and waits for nothing: a goroutine packs
// and saves what has come, once a second and after Close. It ends with Close
// of the trace or of the store. What cannot be saved is logged, once.
func (t *Traces) Begin(turn string, limits Limits) io.WriteCloser {
	w := &traceWriter{traces: t, turn: turn, limits: limits, closed: make(chan struct{})}
	t.running.Go(w.run)
	return w
}

// traceWriter is a trace that is being written.
type traceWriter struct {
	traces *Traces
	turn   string
	limits Limits
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	lines   bytes.Buffer // not packed yet
	size    int          // of all lines
	events  int
	dropped int // lines that came after the limit

	packed bytes.Buffer // what follows is for run alone
	packer *gzip.Writer
	failed bool
}

// Write takes the next line.
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

// Close says that the trace is whole. It does not wait for the disk; Close of
// the store does.
func (w *traceWriter) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// run packs and saves what comes until the trace or the store is closed.
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
			w.save(false)
			return
		case <-w.closed:
			w.save(true)
			w.trim()
			return
		}
	}
}

// resume takes over what an earlier process saved of the same turn.
func (w *traceWriter) resume() {
	found, err := w.traces.query(context.Background(), `WHERE r.turn = ?`, w.turn)
	if err != nil || len(found) == 0 {
		return
	}
	before := found[0]
	if err := w.traces.readLines(context.Background(), &before); err != nil || len(before.Lines) == 0 {
		return // none to resume
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size += len(before.Lines)
	w.events += before.Events
	_, _ = w.packer.Write(before.Lines) // into memory
}

// save saves all lines that have come.
func (w *traceWriter) save(whole bool) {
	w.mu.Lock()
	lines := bytes.Clone(w.lines.Bytes())
	w.lines.Reset()
	events, dropped := w.events, w.dropped
	w.mu.Unlock()
	if len(lines) == 0 && !whole {
		return
	}
	_, err := w.packer.Write(lines)
	if whole {
		err = errors.Join(err, w.packer.Close())
	} else {
		err = errors.Join(err, w.packer.Flush())
	}
	if err == nil {
		_, err = w.traces.file.Write.Exec(`INSERT INTO traces (turn, format, events, dropped, whole, body) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (turn) DO UPDATE SET format = excluded.format, events = excluded.events, dropped = excluded.dropped,
			whole = excluded.whole, body = excluded.body`, w.turn, Format, events, dropped, whole, w.packed.Bytes())
	}
	if err != nil && !w.failed {
		w.failed = true
		slog.Warn("save a trace", "turn", w.turn, "error", err)
	}
}

// trim takes the oldest traces away while all together take too much. The
// newest stays, however large.
func (w *traceWriter) trim() {
	_, err := w.traces.file.Write.Exec(`DELETE FROM traces WHERE rowid IN (SELECT rowid FROM
		(SELECT rowid, sum(length(body)) OVER (ORDER BY rowid DESC) AS total FROM traces) WHERE total > ?)
		AND rowid < (SELECT max(rowid) FROM traces)`, w.limits.Total)
	if err != nil && !w.failed {
		slog.Warn("take old traces away", "error", err)
	}
}

// Trace is what was saved of a turn.
type Trace struct {
	Turn         string    `json:"turn"`
	Conversation string    `json:"conversation"`
	Question     string    `json:"question"`
	Started      time.Time `json:"started"`
	State        string    `json:"state"`  // of the turn: open, done, cut or failed
	Format       int       `json:"format"` // see Readable
	Events       int       `json:"events"`
	Dropped      int       `json:"dropped,omitempty"` // lines left out: the trace would have grown too large
	Whole        bool      `json:"whole"`             // false: it was killed, or is still running
	Size         int64     `json:"bytes"`             // as it is saved, packed

	// Lines are the events, one a line, and Damage why not all can be read.
	// They are empty in a list.
	Lines  []byte `json:"-"`
	Damage string `json:"damage,omitempty"`
}

// Readable says why a trace's format is none that is known here; nil: it is.
func (t Trace) Readable() error {
	if t.Format != Format {
		return fmt.Errorf("the trace of %s was written by another version of LifeHub (format %d, this one reads %d)", t.Turn, t.Format, Format)
	}
	return nil
}

// ErrNone says that nothing was saved of a turn, or that there is no such turn.
var ErrNone = errors.New("no such trace")

// List lists the last traces, newest first; limit 0 lists all.
func (t *Traces) List(ctx context.Context, limit int) (_ []Trace, err error) {
	defer wrap.Error(&err, "list traces")
	return t.query(ctx, `ORDER BY r.rowid DESC LIMIT ifnull(nullif(?, 0), -1)`, limit)
}

// query reads the traces that the end of a query names, without their lines.
func (t *Traces) query(ctx context.Context, which string, args ...any) ([]Trace, error) {
	return rows.All(ctx, t.file.Read, func(scan rows.Scan) (one Trace, err error) {
		return one, scan(&one.Turn, &one.Conversation, &one.Question, rows.Milliseconds(&one.Started), &one.State, &one.Format, &one.Events, &one.Dropped, &one.Whole, &one.Size)
	}, `SELECT r.turn, t.conversation, q.text, t.started, t.state, r.format, r.events, r.dropped, r.whole, length(r.body)
		FROM traces r JOIN turns t ON t.id = r.turn JOIN messages q ON q.turn = t.id AND q.role = 'user' `+which, args...)
}

// Read returns the trace of a turn, or that of the last turn of a
// conversation. The beginning of an id is enough if it begins only one
// conversation's. The error is [ErrNone] when there is none. A damaged
// trace is returned as far as it can be read.
func (t *Traces) Read(ctx context.Context, id string) (_ Trace, err error) {
	defer wrap.Error(&err, "read trace %q", id)
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
			return Trace{}, fmt.Errorf("it begins several ids (%s, %s …): give more letters", first.Conversation, other.Conversation)
		}
	}
	if first.Readable() == nil {
		err = t.readLines(ctx, &first)
	}
	return first, err
}

// readLines adds a trace's lines.
func (t *Traces) readLines(ctx context.Context, one *Trace) error {
	bodies, err := rows.Column[[]byte](ctx, t.file.Read, `SELECT body FROM traces WHERE turn = ?`, one.Turn)
	switch {
	case err != nil:
		return err
	case len(bodies) == 0: // it went just now
		return ErrNone
	}
	one.Lines, err = Unpack(bodies[0])
	if err != nil && (one.Whole || !errors.Is(err, io.ErrUnexpectedEOF)) {
		one.Damage = err.Error()
	}
	return nil
}

// Unpack returns the whole lines of a packed trace, also with an error.
func Unpack(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	lines, err := io.ReadAll(io.LimitReader(r, maxTrace+1))
	if len(lines) > maxTrace {
		lines, err = lines[:maxTrace], fmt.Errorf("it unpacks to more than %d MiB", maxTrace>>20)
	}
	return lines[:bytes.LastIndexByte(lines, '\n')+1], err
}
