package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"lifehub/chat"
	"lifehub/cli/serve"
)

// serveCommand returns /serve, whose page ends with the chat.
func (bg *background) serveCommand(ctx context.Context, server *serve.Server) chat.Command {
	bg.spawn(func() {
		<-ctx.Done()
		if err := server.Stop(); err != nil {
			slog.Warn("stop serving the page", "error", err)
		}
	})
	return chat.Command{
		Name: "serve", Group: chat.InView, Args: "[off]", Help: "show this chat on a page in a browser",
		Run: func(_ context.Context, _, given string) (string, error) {
			switch strings.TrimSpace(given) {
			case "":
			case "off":
				return "The page is **off**; whoever had it open is shut out.", server.Stop()
			default:
				return "", errors.New("/serve takes nothing, or off")
			}
			link, err := server.Start(ctx, 0) // with the chat's context: the page outlives the command
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("This chat is on a page, for this machine only:\n\n`%s`\n\nThe link works once; "+
				"`/serve` prints another, `/serve off` ends it. Whoever opens it can send messages and allow calls. "+
				"On another device, first: `%s`\n", link, serve.Tunnel(link)), nil
		},
	}
}
