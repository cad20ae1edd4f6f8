package plain

import (
	"context"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// listServers reports how the MCP servers are and does with one what the user says.
func (p *Chat) listServers(ctx context.Context, _ string) error {
	list := p.Servers.List()
	if len(list) == 0 {
		p.print("%s\n", panel.NoServers)
		return nil
	}
	for n, s := range list {
		p.print("%d. %s · %s\n", n+1, safetext.Line(s.Name), safetext.Line(s.State))
		for _, fact := range panel.FactsOf(s) {
			p.print("   %s: %s\n", fact.What, fact.Text)
		}
		if s.Consent {
			p.print("   it needs your consent: c\n")
		}
		if unseen := len(s.Unseen); unseen > 0 {
			p.print("   %s not used until you review it: t\n", draw.Count(unseen, "change"))
		}
	}
	letter, at, ok := p.order(ctx, len(list), "tcrel", "t N review changes, c N consent, r N restart, e N on or off, l N log; empty leaves: ")
	if !ok {
		return nil
	}
	if err := p.toServer(ctx, list[at], letter); err != nil {
		p.fail(err)
	}
	return nil
}

// toServer does one thing with a server.
func (p *Chat) toServer(ctx context.Context, s backend.Server, letter rune) error {
	switch letter {
	case 'r':
		p.print("restarting %s\n", safetext.Line(s.Name))
		return p.Servers.Restart(s.Name)
	case 'e':
		p.print("switching %s %s\n", safetext.Line(s.Name), map[bool]string{true: "on", false: "off"}[s.Off])
		return p.Servers.Switch(s.Name, s.Off)
	case 'l':
		text, err := p.Servers.Log(s.Name)
		if err == nil && text == "" {
			text = s.Name + " has logged nothing yet"
		}
		p.print("%s", safetext.Text(text))
		p.flush()
		return err
	case 'c':
		return p.consent(ctx, s)
	}
	return p.trust(ctx, s)
}

// trust shows what of a server is new and takes a yes to it.
func (p *Chat) trust(ctx context.Context, s backend.Server) error {
	if len(s.Unseen) == 0 {
		p.print("nothing in %s has changed since you reviewed it\n", safetext.Line(s.Name))
		return nil
	}
	for _, c := range s.Unseen {
		p.print("%s\n%s\n", panel.ChangeHead(c), panel.MarkedChange(c, draw.Unstyled, draw.Unstyled))
	}
	if !p.agree(ctx, "trust this version?") {
		return nil
	}
	return p.Servers.Trust(s.Name, s.Unseen)
}

// consent has the user go through the consent of a server on a page of the
// web; ctrl+c leaves it.
func (p *Chat) consent(ctx context.Context, s backend.Server) error {
	if !s.Consent {
		p.print("%s needs no consent\n", safetext.Line(s.Name))
		return nil
	}
	stopped, err := p.waitFor(ctx, "consent of "+s.Name, func(ctx context.Context, say func(string)) error {
		return p.Servers.Consent(ctx, s.Name, func(page string) {
			say("open this page in your browser; ctrl+c cancels:\n" + safetext.Reveal(page))
		})
	})
	switch {
	case stopped: // the user's own no
		p.print("no consent was given\n")
		return nil
	case err == nil:
		p.print("%s has your consent\n", safetext.Line(s.Name))
	}
	return err
}
