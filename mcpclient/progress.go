package mcpclient

import (
	"fmt"
	"time"

	"lifehub/agent"
)

// progressEvery is the least time between two messages of one call's
// progress; what comes between is replaced by what comes after.
const progressEvery = 100 * time.Millisecond

// follow passes a call's progress on to its desk. The token goes out with the
// call; done ends the passing on, after the last message.
func (s *server) follow(desk *agent.Desk) (token string, done func()) {
	latest := make(chan agent.Progress, 1)
	over, gone := make(chan struct{}), make(chan struct{})
	token = s.nextCall()
	s.mu.Lock()
	if s.progress == nil {
		s.progress = map[string]chan agent.Progress{}
	}
	s.progress[token] = latest
	s.mu.Unlock()
	go func() {
		defer close(gone)
		defer s.catch(nil)
		for {
			select {
			case p := <-latest:
				desk.Progress(p)
			case <-over:
				select {
				case p := <-latest:
					desk.Progress(p)
				default:
				}
				return
			}
			select {
			case <-time.After(progressEvery):
			case <-over:
			}
		}
	}()
	return token, func() {
		s.mu.Lock()
		delete(s.progress, token)
		s.mu.Unlock()
		close(over)
		<-gone
	}
}

// nextCall names a call.
func (s *server) nextCall() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calling++
	return fmt.Sprintf("call-%d", s.calling)
}

// progressed takes note of a progress notification. It does not wait.
func (s *server) progressed(fields map[string]any) {
	token, _ := fields["progressToken"].(string)
	done, _ := fields["progress"].(float64)
	total, _ := fields["total"].(float64)
	message, _ := fields["message"].(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	latest := s.progress[token]
	if latest == nil {
		return // of no call, or of one that is over
	}
	select {
	case <-latest:
	default:
	}
	latest <- agent.Progress{Done: done, Total: total, Message: cutText(message, maxMessage)}
}

// maxMessage bounds the words of a progress message, in bytes.
const maxMessage = 500
