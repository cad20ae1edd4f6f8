package mcpclient

import (
	"fmt"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
)

// progressEvery is the minimum interval between progress messages of a call;
// messages in between are replaced by later ones.
const progressEvery = 100 * time.Millisecond

// progress forwards the progress notifications of a server's calls.
type progress struct {
	mu     sync.Mutex
	calls  int                            // calls that have a token
	latest map[string]chan agent.Progress // newest message of each call in progress, by token
}

// follow forwards a call's progress to its host. The token must be sent with the
// call; done stops forwarding after the last message.
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

// nextCall returns a new token.
func (p *progress) nextCall() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	return fmt.Sprintf("call-%d", p.calls)
}

// took handles a progress notification. It does not block.
func (p *progress) took(fields map[string]any) {
	token, _ := fields["progressToken"].(string)
	done, _ := fields["progress"].(float64)
	total, _ := fields["total"].(float64)
	message, _ := fields["message"].(string)
	p.mu.Lock()
	defer p.mu.Unlock()
	latest := p.latest[token]
	if latest == nil {
		return // of an unknown or finished call
	}
	select {
	case <-latest:
	default:
	}
	latest <- agent.Progress{Done: done, Total: total, Message: text.Cut(message, maxMessage)}
}

// maxMessage bounds the text of a progress message, in bytes.
const maxMessage = 500
