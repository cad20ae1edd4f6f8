package plain

import (
	"context"
	"io"

	"lifehub/agent"
	"lifehub/tui/replay"
	"lifehub/tui/safetext"
)

// Replay writes a replay as lines, as [Run] writes a turn. It ends
// with the replay or with ctx.
func Replay(ctx context.Context, r replay.Recording, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &Chat{Out: out}
	p.print("> %s\n", safetext.Text(r.Question))
	for e := range replay.New(r).Ask(ctx, "", "") {
		if asked, ok := e.Body.(agent.PermissionAsked); ok {
			p.flush()
			p.describe(asked, false)
			continue
		}
		p.show(e)
		if p.failed != nil {
			cancel()
		}
	}
	p.flush()
	return p.failed
}
