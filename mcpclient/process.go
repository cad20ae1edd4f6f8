package mcpclient

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

	"lifehub/agent"
	"lifehub/mcpclient/config"
)

const (
	// Graceful is how long a server has to end on its own after its stdin was
	// closed, and again after SIGTERM.
	Graceful = time.Second
	// stalled is how long a server may leave its stdin unread.
	stalled = 30 * time.Second
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
	stdout *os.File
	stderr *os.File
	Input  *queue
	guard  guard
	Exited chan struct{}    // closed when nothing of it is left
	state  *os.ProcessState // how its leader ended; read it and err after Exited
	err    error
}

// Start starts a server's command in a process group of its own.
// stdout and stderr read what it writes there to the end. The process ends with
// Close, or on its own.
func startProcess(s config.Entry, dir string, stdout, stderr func(io.Reader)) (*Process, error) {
	p := &Process{tag: rand.Text(), Input: newQueue(), Exited: make(chan struct{})}
	p.cmd = exec.Command(s.Command, s.Args...)
	p.cmd.Env = environment(s.Env, p.tag)
	p.cmd.Dir = dir
	p.cmd.SysProcAttr = ownGroup()
	stdinPipe, inErr := p.cmd.StdinPipe()
	stdoutPipe, outErr := p.cmd.StdoutPipe()
	stderrPipe, errErr := p.cmd.StderrPipe()
	if err := errors.Join(inErr, outErr, errErr); err != nil {
		return nil, err
	}
	// Deadlines are what ends reading and writing where the server does not.
	p.stdin, p.stdout, p.stderr = stdinPipe.(*os.File), stdoutPipe.(*os.File), stderrPipe.(*os.File)
	started := make(chan error)
	go p.run(stdout, stderr, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts the command, sees it through and cleans up after it. It stays on
// one thread of the system, because Linux sends the signal of a parent's
// death when the thread that started the child ends.
func (p *Process) run(stdout, stderr func(io.Reader), started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil { // which closes the pipes
		started <- err
		return
	}
	lowerPriority(p.cmd.Process)
	var err error
	if p.guard, err = newGuard(p.cmd.Process, p.tag); err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		started <- fmt.Errorf("watch over its children: %w", err)
		return
	}
	var readers sync.WaitGroup
	readers.Go(func() { agent.Safely(func() { stdout(p.stdout) }) })
	readers.Go(func() { agent.Safely(func() { stderr(p.stderr) }) })
	readers.Go(func() { agent.Safely(p.write) })
	started <- nil

	p.state, p.err = p.cmd.Process.Wait() // and not the command's, which would close the pipes on the readers
	killGroup(p.cmd.Process)
	p.guard.end()
	// Who has left the group and kept a pipe would hold the readers.
	soon := time.Now().Add(Graceful)
	_ = p.stdout.SetReadDeadline(soon)
	_ = p.stderr.SetReadDeadline(soon)
	p.Input.close()
	_ = p.stdin.SetWriteDeadline(time.Now())
	readers.Wait()
	for _, pipe := range []*os.File{p.stdin, p.stdout, p.stderr} {
		_ = pipe.Close()
	}
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
			select {
			case <-p.Input.ended:
			default:
				if errors.Is(err, os.ErrDeadlineExceeded) {
					killGroup(p.cmd.Process)
				}
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
	switch {
	case p.err != nil:
		return "it ended: " + p.err.Error()
	case p.state.Success():
		return "it exited"
	}
	return "it ended with " + p.state.String()
}

// maxQueued bounds the messages that wait to be read by a server.
const maxQueued = 256

// queue holds what is to be written to a server, so that a server that does
// not read holds up nobody. It never fails: what is put in after the end is
// lost, and the end of stdout tells the waiting callers.
type queue struct {
	frames chan []byte
	ended  chan struct{}
	close  func()
}

func newQueue() *queue {
	q := &queue{frames: make(chan []byte, maxQueued), ended: make(chan struct{})}
	q.close = sync.OnceFunc(func() { close(q.ended) })
	return q
}

// Write puts a copy of p into the queue. It blocks only while the queue is
// full, which the stalled server's end undoes.
func (q *queue) Write(p []byte) (int, error) {
	select {
	case q.frames <- slices.Clone(p):
	case <-q.ended:
	}
	return len(p), nil
}

// next waits for something to write; false is the end.
func (q *queue) next() ([]byte, bool) {
	select {
	case frame := <-q.frames:
		return frame, true
	case <-q.ended:
	}
	select { // what was put in before the end
	case frame := <-q.frames:
		return frame, true
	default:
		return nil, false
	}
}
