package mcpclient

import (
	"fmt"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
)

// progressEvery is the least time between two messages of one call's
// progress; what comes between is replaced by what comes after.
const progressEvery = 100 * time.Millisecond

// progress passes on what a server's calls say while they run.
type progress struct {
	mu     sync.Mutex
	calls  int                            // that have a name
	latest map[string]chan agent.Progress // of the calls under way, by token; holds the newest
}

// follow passes a call's progress on to its host. The token goes out with the
// call; done ends the passing on, after the last message.
func (p *progress) follow(host *agent.Host, catch func(*error)) (token string, done func()) {
	latest := make(chan agent.Progress, 1)
	over, gone := make(chan struct{}), make(chan struct{})
	token = p.nextCall()
	p.mu.Lock()
	if p.latest == nil {
		p.latest = map[string]chan agent.Progress{}
	}
	p.latest[token] = latest
	p.mu.Unlock()
	go func() {
		defer close(gone)
		defer catch(nil)
		for now := range latest {
			host.Progress(now)
			select {
			case <-time.After(progressEvery):
			case <-over:
			}
		}
	}()
	return token, func() {
		p.mu.Lock()
		delete(p.latest, token)
		p.mu.Unlock()
		close(over)
		close(latest)
		<-gone
	}
}

// nextCall names a call.
func (p *progress) nextCall() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	return fmt.Sprintf("call-%d", p.calls)
}

// took takes note of a progress notification. It does not wait.
func (p *progress) took(fields map[string]any) {
	token, _ := fields["progressToken"].(string)
	done, _ := fields["progress"].(float64)
	total, _ := fields["total"].(float64)
	message, _ := fields["message"].(string)
	p.mu.Lock()
	defer p.mu.Unlock()
	latest := p.latest[token]
	if latest == nil {
		return // of no call, or of one that is over
	}
	select {
	case <-latest:
	default:
	}
	latest <- agent.Progress{Done: done, Total: total, Message: text.Cut(message, maxMessage)}
}

// maxMessage bounds the words of a progress message, in bytes.
const maxMessage = 500
