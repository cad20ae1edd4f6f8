package mcpclient

import (
	"context"
	"io"
	"strings"

	"lifehub/mcpclient/config"
)

// maxSaid bounds what is kept of a command's stderr, in bytes.
const maxSaid = 4 << 10

// Finished is how a command ended.
type Finished struct {
	Code int    // exit code; -1 if a signal ended it
	Said string // the beginning of what it wrote to stderr
}

// RunOnce runs a command in dir like a server, with the same environment and the
// same end of all its descendants, and waits for it. It gets input on stdin; its
// stdout is discarded. It is killed when ctx ends, whose cause is then the error.
func RunOnce(ctx context.Context, s config.Entry, dir string, input []byte) (Finished, error) {
	var said strings.Builder
	discard := func(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
	p, err := startProcess(s, dir, discard, func(r io.Reader) {
		_, _ = io.Copy(&said, io.LimitReader(r, maxSaid))
		discard(r)
	})
	if err != nil {
		return Finished{}, err
	}
	_, _ = p.Input.Write(input) // one that does not read it may still answer
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
	return Finished{Code: p.state.ExitCode(), Said: strings.ToValidUTF8(said.String(), "")}, nil
}
