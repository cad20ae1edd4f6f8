package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/cli/chatcmd"
	"lifehub/cli/serve"
	"lifehub/cli/settings"
	"lifehub/tui/safetext"
)

func newServe(sh *app.Process) *cobra.Command {
	f, port := chatcmd.NewFlags(sh), 0
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a chat as a page for a browser on this machine",
		Long: "Serve a chat as a page for a browser on this machine, until it is interrupted. It listens on 127.0.0.1\n" +
			"only and prints a link that works once; run it again for another link, also while a chat serves " +
			"(/serve).\n" +
			"Whoever opens the link can send messages and allow calls.",
		Example: "  lifehub serve -c                     # continue the last conversation in a browser\n" +
			"  ssh -L 4747:127.0.0.1:4747 HOST      # on another device, to open the link there",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return settings.UsageError{Err: fmt.Errorf("--port %d: a port is 1 to 65535", port)}
			}
			p, err := settings.FindPaths(sh.Getenv)
			if err != nil {
				return err
			}
			if link, err := serve.Running(p); err != nil || link != "" {
				return printOther(sh, link, err)
			}
			return f.Serve(cmd.Context(), func(ctx context.Context, a *app.App, o chat.Options) error {
				hub := serve.NewHub(o.Conversation)
				s := &serve.Server{Hub: hub, Options: o, Paths: a.Paths}
				link, err := s.Start(ctx, port)
				var other *serve.RunningError
				if errors.As(err, &other) { // since a moment ago
					return printOther(sh, other.Link, nil)
				}
				if err := printLink(sh, link, err); err != nil {
					return err
				}
				s.Alone(ctx, func(text string) { fmt.Fprintln(sh.Err, "note: "+safetext.Line(text)) })
				return s.Stop()
			})
		},
	}
	app.RegisterRun(&f.RunFlags, cmd)
	app.RegisterResume(&f.RunFlags, cmd)
	cmd.Flags().IntVar(&port, "port", 0, fmt.Sprintf("port to serve (default %d, or any if that is taken)", serve.Port))
	return cmd
}

// printOther prints the link of a process that serves already.
func printOther(sh *app.Process, link string, err error) error {
	if err == nil {
		fmt.Fprintln(sh.Err, "another LifeHub serves its conversation; this is its next link")
	}
	return printLink(sh, link, err)
}

// printLink prints the link of the page, and on stderr how to open it elsewhere.
func printLink(sh *app.Process, link string, err error) error {
	if err != nil {
		return err
	}
	fmt.Fprintln(sh.Out, link)
	fmt.Fprintln(sh.Err, "The link works once; `lifehub serve` prints another. On another device: "+serve.Tunnel(link))
	return nil
}
