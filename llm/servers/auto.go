package servers

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"lifehub/llm"
	"lifehub/llm/offline"
	"lifehub/llm/ollama"
)

// auto uses Ollama while it is reachable, and the offline provider otherwise. It
// probes the server in the background, so that opening never blocks. A request
// waits for the first probe, which takes milliseconds if the server runs on this
// machine.
type auto struct {
	ollama  *ollama.Provider
	offline *offline.Provider
	watcher llm.Watcher // may be nil
	prober  prober

	mu      sync.Mutex
	now     probe
	decided chan struct{} // closed after the first probe
	wake    chan struct{} // requests an immediate probe
	stop    context.CancelFunc
	ended   chan struct{}
}

// prober probes the server. *reachable is the real one.
type prober interface {
	probe(ctx context.Context) probe
}

// probe is the result of probing the server.
type probe struct {
	up       bool
	model    string
	embedder llm.Embedder // may be nil
	text     string
}

// Intervals between probes. While the server is down they double from lookDown
// on, so that a server which is just starting is found quickly.
const (
	lookUp       = 20 * time.Second
	lookDown     = time.Second
	lookDownMost = 15 * time.Second
	lookTimeout  = 10 * time.Second
)

// openAuto starts the background probes; Close stops them.
func openAuto(s llm.Settings) (*auto, error) {
	ollama, err := ollama.New(s)
	if err != nil {
		return nil, err
	}
	a := newAuto(s.Watcher)
	a.ollama, a.prober = ollama, &reachable{ollama, s.Model != ""}
	a.start()
	return a, nil
}

func newAuto(watcher llm.Watcher) *auto {
	return &auto{
		offline: offline.New(), watcher: watcher, now: probe{text: llm.OfflineNotice},
		decided: make(chan struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
}

func (a *auto) start() {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop = cancel
	go a.watch(ctx)
}

// watch probes the server until ctx is cancelled.
func (a *auto) watch(ctx context.Context) {
	defer close(a.ended)
	defer func() {
		if r := recover(); r != nil {
			slog.Error("panic while watching the model server", "panic", r)
		}
	}()
	pause := lookDown
	for first := true; ; first = false {
		found := a.probeOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		a.take(found, first)
		if first {
			close(a.decided)
		}
		wait := lookUp
		if !found.up {
			wait, pause = pause, min(2*pause, lookDownMost)
		} else {
			pause = lookDown
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-a.wake:
			timer.Stop()
			pause = lookDown
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (a *auto) probeOnce(ctx context.Context) probe {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return a.prober.probe(ctx)
}

// take applies the result of a probe and reports changes.
func (a *auto) take(found probe, first bool) {
	a.mu.Lock()
	before := a.now
	a.now = found
	a.mu.Unlock()
	switch {
	case first && found.up:
		a.tell(found.text, true)
	case first:
		a.tell(llm.OfflineNotice, true)
	case found.up && !before.up:
		a.tell(join("Ollama is up: "+found.model+" answers from now on", found.text), false)
	case !found.up && before.up:
		a.tell(join("Ollama no longer answers", found.text), false)
	case found.text != before.text || embedderName(found) != embedderName(before):
		a.tell(found.text, false)
	}
}

func (a *auto) tell(text string, first bool) {
	if a.watcher != nil {
		state := a.State()
		state.Text, state.First = text, first
		a.watcher.Changed(state)
	}
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

func embedderName(s probe) string {
	if s.embedder == nil {
		return ""
	}
	return s.embedder.Name()
}

// reachable probes an Ollama server. The server counts as up if the model chosen
// by the user is missing: the user is then offered to pull it.
type reachable struct {
	ollama *ollama.Provider
	named  bool // the user chose the model
}

func (r *reachable) probe(ctx context.Context) probe {
	err := r.ollama.Alive(ctx)
	var foreign *llm.ForeignError
	switch {
	case errors.As(err, &foreign):
		return probe{text: foreign.Error() + "; " + foreign.Advice()}
	case err != nil:
		return probe{text: llm.OfflineNotice}
	}
	info, err := r.ollama.Info(ctx, "")
	var missing *llm.NotFoundError
	switch {
	case errors.As(err, &missing) && r.named:
		info.Name = missing.Model
	case errors.As(err, &missing):
		return probe{text: fmt.Sprintf("Ollama runs but has no chat model: lifehub models pull %s", missing.Model)}
	case err != nil:
		return probe{text: llm.OfflineNotice}
	}
	found := probe{up: true, model: info.Name}
	embedder, err := r.ollama.Embedder(ctx)
	switch {
	case errors.As(err, &missing):
		found.text = fmt.Sprintf("no embedding model: lifehub models pull %s improves semantic search", missing.Model)
	case err != nil:
		return probe{text: llm.OfflineNotice}
	default:
		found.embedder = embedder
	}
	return found
}

// waitForProbe waits for the first probe and returns the latest result.
func (a *auto) waitForProbe(ctx context.Context) (probe, error) {
	select {
	case <-a.decided:
	case <-a.ended:
	case <-ctx.Done():
		return probe{}, ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now, nil
}

// markDown records that a request could not reach the server.
func (a *auto) markDown() {
	a.mu.Lock()
	was := a.now.up
	a.now = probe{text: llm.OfflineNotice}
	a.mu.Unlock()
	if was {
		a.tell("Ollama no longer answers; "+llm.OfflineNotice, false)
	}
	a.probeSoon()
}

// Stream implements [llm.Model]. If the server is unreachable before the first
// piece, the offline provider answers.
func (a *auto) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		now, err := a.waitForProbe(ctx)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if now.up {
			began := false
			for d, err := range a.ollama.Stream(ctx, req) {
				if errors.Is(err, llm.ErrUnreachable) && !llm.TimedOut(err) && !began {
					a.markDown()
					if req.Task != nil {
						break
					}
				}
				if errors.Is(err, llm.ErrCut) { // it may be gone
					a.probeSoon()
				}
				began = began || d.Waiting == ""
				if !yield(d, err) || err != nil {
					return
				}
			}
			if began {
				return
			}
		}
		a.offline.Stream(ctx, req)(yield)
	}
}

// up reports whether the last probe reached Ollama.
func (a *auto) up() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.up
}

// State implements [llm.Provider].
func (a *auto) State() llm.State {
	a.mu.Lock()
	now := a.now
	a.mu.Unlock()
	if !now.up {
		return llm.State{Provider: "offline", Text: now.text, Sent: a.ollama.State().Sent}
	}
	s := a.ollama.State()
	s.Lacks = now.text
	s.Text = now.text
	return s
}

// Window implements [llm.Provider].
func (a *auto) Window() int {
	if a.up() {
		return a.ollama.Window()
	}
	return a.offline.Window()
}

// SetWindow implements [llm.Provider].
func (a *auto) SetWindow(tokens int) { a.ollama.SetWindow(tokens) }

// Ready implements [llm.Provider].
func (a *auto) Ready(ctx context.Context) error {
	_, err := a.waitForProbe(ctx) // the probe chooses the model
	return err
}

// Info implements [llm.Provider].
func (a *auto) Info(ctx context.Context, name string) (llm.Info, error) {
	now, err := a.waitForProbe(ctx)
	if err != nil {
		return llm.Info{}, err
	}
	if now.up || (name != "" && name != "offline") {
		return a.ollama.Info(ctx, name)
	}
	return a.offline.Info(ctx, name)
}

// Models implements [llm.Provider]. It lists Ollama's models, even while Ollama
// is not in use.
func (a *auto) Models(ctx context.Context) ([]llm.Info, error) { return a.ollama.Models(ctx) }

// SetModel implements [llm.Provider].
func (a *auto) SetModel(ctx context.Context, name string) error {
	if err := a.ollama.SetModel(ctx, name); err != nil {
		return err
	}
	a.probeSoon()
	return nil
}

// Pull implements [llm.Provider].
func (a *auto) Pull(ctx context.Context, name string, progress func(llm.Progress)) error {
	if err := a.ollama.Pull(ctx, name, progress); err != nil {
		return err
	}
	a.probeSoon()
	return nil
}

func (a *auto) probeSoon() {
	select {
	case a.wake <- struct{}{}:
	default: // a probe is already pending
	}
}

// Embedder implements [llm.Provider].
func (a *auto) Embedder(ctx context.Context) (llm.Embedder, error) {
	now, err := a.waitForProbe(ctx)
	if err != nil {
		return nil, err
	}
	return now.embedder, nil
}

// Owner returns the owner of the Ollama server, as found by the last probe, if no
// setting names the server.
func (a *auto) Owner(ctx context.Context) llm.Owner {
	if _, err := a.waitForProbe(ctx); err != nil {
		return llm.Owner{}
	}
	return a.ollama.LastOwner()
}

// Allow permits the use of a server that was found automatically and belongs to
// another user.
func (a *auto) Allow(ctx context.Context, owner string) {
	a.ollama.Allow(ctx, owner)
	if _, err := a.waitForProbe(ctx); err == nil {
		a.take(a.probeOnce(ctx), false)
	}
}

// Host returns Ollama's address and reports whether it is another machine.
func (a *auto) Host() (host string, remote bool) { return a.ollama.Host() }

// Close implements [llm.Provider].
func (a *auto) Close() error {
	a.stop()
	<-a.ended
	return nil
}
