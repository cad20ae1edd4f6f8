// Package process runs an MCP server's program: its pipes, its children, its
// end and what it writes to stderr.
package process

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"lifehub/mcpclient/config"
)

const (
	// Graceful is how long a server has to end on its own after its stdin was
	// closed, and again after SIGTERM.
	Graceful = time.Second
	// stalled is how long a server may leave its stdin unread.
	stalled = 30 * time.Second
	// maxQueued bounds what waits to be read by a server, in bytes.
	maxQueued = 32 << 20
)

// tagName is the variable by which the descendants of a server are found
// even after they have left its process group.
const tagName = "LIFEHUB_MCP_SERVER"

// passed are the variables that a server gets without having declared them.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR",
	// Programs do not run on Windows without these.
	"SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// environment is a server's: a few names of ours and what it declares.
func environment(declared map[string]string, tag string) []string {
	env := []string{tagName + "=" + tag}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range declared {
		env = append(env, name+"="+v) // the last of two counts
	}
	slices.Sort(env[1 : len(env)-len(declared)])
	return env
}

// Process is a running server and whatever it has started.
type Process struct {
	cmd    *exec.Cmd
	tag    string
	stdin  *os.File
	Input  *queue
	guard  guard
	Exited chan struct{} // closed when nothing of it is left
	err    error         // how its leader ended; read it after exited
}

// Start starts a server's command in a process group of its own.
// stdout and stderr read what it writes there to the end. The process ends with
// Close, or on its own.
func Start(s config.Entry, dir string, stdout, stderr func(io.Reader)) (*Process, error) {
	p := &Process{tag: rand.Text(), Input: newQueue(), Exited: make(chan struct{})}
	p.cmd = exec.Command(s.Command, s.Args...)
	p.cmd.Env = environment(s.Env, p.tag)
	p.cmd.Dir = dir
	p.cmd.SysProcAttr = ownGroup()
	pipes, err := newPipes(p.cmd)
	if err != nil {
		return nil, err
	}
	p.stdin = pipes.stdin
	started := make(chan error)
	go p.run(pipes, stdout, stderr, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts the command, sees it through and cleans up after it. It stays on
// one thread of the system, because Linux sends the signal of a parent's
// death when the thread that started the child ends.
func (p *Process) run(pipes *pipes, stdout, stderr func(io.Reader), started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	pipes.closeTheirs()
	if err != nil {
		pipes.closeOurs()
		started <- err
		return
	}
	lowerPriority(p.cmd.Process)
	if p.guard, err = newGuard(p.cmd.Process, p.tag); err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		pipes.closeOurs()
		started <- fmt.Errorf("watch over its children: %w", err)
		return
	}
	var readers sync.WaitGroup
	readers.Go(func() { stdout(pipes.stdout) })
	readers.Go(func() { stderr(pipes.stderr) })
	readers.Go(func() { p.write() })
	started <- nil

	p.err = p.cmd.Wait()
	killGroup(p.cmd.Process)
	p.guard.end()
	// Who has left the group and kept a pipe would hold the readers.
	soon := time.Now().Add(Graceful)
	_ = pipes.stdout.SetReadDeadline(soon)
	_ = pipes.stderr.SetReadDeadline(soon)
	p.Input.close()
	_ = pipes.stdin.SetWriteDeadline(time.Now())
	readers.Wait()
	pipes.closeOurs()
	close(p.Exited)
}

// write hands the queue to the server, and ends it when it does not read.
func (p *Process) write() {
	for {
		frame, ok := p.Input.next()
		if !ok {
			_ = p.stdin.Close()
			return
		}
		_ = p.stdin.SetWriteDeadline(time.Now().Add(stalled))
		if _, err := p.stdin.Write(frame); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && !p.Input.ended() {
				killGroup(p.cmd.Process)
			}
			p.Input.close()
			_ = p.stdin.Close()
			return
		}
	}
}

// Close ends the server: it closes its stdin, then asks with SIGTERM, then
// kills, all of its group, and returns when nothing of it is left.
func (p *Process) Close() {
	p.Input.close()
	_ = p.stdin.SetWriteDeadline(time.Now()) // a write that is stuck
	for _, more := range []func(*os.Process){terminateGroup, killGroup} {
		select {
		case <-p.Exited:
			return
		case <-time.After(Graceful):
			more(p.cmd.Process)
		}
	}
	<-p.Exited
}

// Ending says in words how the process ended.
func (p *Process) Ending() string {
	var exit *exec.ExitError
	switch {
	case p.err == nil:
		return "it ended by itself"
	case errors.As(p.err, &exit):
		return "it ended with " + exit.String()
	}
	return "it ended: " + p.err.Error()
}

// pipes are the three pipes of a process, both ends of each.
type pipes struct {
	stdin, stdout, stderr *os.File
	theirs                []*os.File
}

func newPipes(cmd *exec.Cmd) (*pipes, error) {
	p := &pipes{}
	for _, one := range []struct {
		ours **os.File
		wire func(*os.File)
		in   bool
	}{
		{&p.stdin, func(f *os.File) { cmd.Stdin = f }, true},
		{&p.stdout, func(f *os.File) { cmd.Stdout = f }, false},
		{&p.stderr, func(f *os.File) { cmd.Stderr = f }, false},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeTheirs()
			p.closeOurs()
			return nil, err
		}
		ours, theirs := r, w
		if one.in {
			ours, theirs = w, r
		}
		*one.ours = ours
		one.wire(theirs)
		p.theirs = append(p.theirs, theirs)
	}
	return p, nil
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
}

func (p *pipes) closeOurs() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// queue holds what is to be written to a server, so that a server that does
// not read holds up nobody. It never fails: what is put in after the end is
// lost, and the end of stdout tells the waiting callers.
type queue struct {
	mu     sync.Mutex
	filled *sync.Cond
	frames [][]byte
	size   int
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.filled = sync.NewCond(&q.mu)
	return q
}

// Write puts a copy of p into the queue. It blocks only while the queue is
// full, which the stalled server's end undoes.
func (q *queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.size > maxQueued && !q.closed {
		q.filled.Wait()
	}
	if !q.closed {
		q.frames = append(q.frames, slices.Clone(p))
		q.size += len(p)
	}
	q.filled.Broadcast()
	return len(p), nil
}

// next waits for something to write; false is the end.
func (q *queue) next() ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.frames) == 0 && !q.closed {
		q.filled.Wait()
	}
	if len(q.frames) == 0 {
		return nil, false
	}
	frame := q.frames[0]
	q.frames = q.frames[1:]
	q.size -= len(frame)
	q.filled.Broadcast()
	return frame, true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}

// ended reports whether close was called.
func (q *queue) ended() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}
