package chat

import (
	"context"
	"time"
)

// followEvery is how often mcp.json is read to see whether it has changed.
const followEvery = time.Second

// followServersFile applies changes of mcp.json until ctx ends.
func (bg *background) followServersFile(ctx context.Context) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if text := bg.LookAtServers(); text != "" {
			bg.notice(text)
		}
	}
}
