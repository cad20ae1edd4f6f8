package mcpclient

import (
	"context"
	"io"
	"strings"

	"lifehub/mcpclient/config"
)

// maxStderr bounds the saved part of a command's stderr, in bytes.
const maxStderr = 4 << 10

// Finished is how a command ended.
type Finished struct {
	Code   int    // exit code; -1 if a signal ended it
	Stderr string // beginning of its stderr
}

// RunOnce runs a command in dir like a server, with the same environment and the
// same end of all its descendants, and waits for it. It gets input on stdin; its
// stdout is discarded. It is killed when ctx ends, whose cause is then the error.
func RunOnce(ctx context.Context, s config.Entry, dir string, input []byte) (Finished, error) {
	var stderr strings.Builder
	discard := func(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
	p, err := startProcess(s, dir, discard, func(r io.Reader) {
		_, _ = io.Copy(&stderr, io.LimitReader(r, maxStderr))
		discard(r)
	})
	if err != nil {
		return Finished{}, err
	}
	_, _ = p.Input.Write(input) // a command that does not read it may still succeed
	p.Input.close()
	select {
	case <-p.Exited:
	case <-ctx.Done():
		killGroup(p.cmd.Process)
		<-p.Exited
		return Finished{}, context.Cause(ctx)
	}
	if p.err != nil {
		return Finished{}, p.err
	}
	return Finished{Code: p.state.ExitCode(), Stderr: strings.ToValidUTF8(stderr.String(), "")}, nil
}
