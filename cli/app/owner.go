package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"lifehub/agent"
	"lifehub/internal/files"
	"lifehub/llm"
)

// ServerOwner returns the owner of a model server that was found on this machine rather than
// configured. It returns the zero value if none was found.
func (a *App) ServerOwner(ctx context.Context) llm.Owner {
	if a.Models == nil {
		return llm.Owner{}
	}
	return a.Models.Owner(ctx)
}

// FoundServer returns a notice about a model server that was found: that it belongs to another user
// or, at first use, that its owner is unknown. It returns "" if there is nothing to report.
func (a *App) FoundServer(ctx context.Context) string {
	owner := a.ServerOwner(ctx)
	switch {
	case owner.Foreign:
		err := &llm.ForeignError{Owner: owner}
		return err.Error() + "; " + err.Advice()
	case owner.Host == "" || owner.Name != "":
		return ""
	}
	// a read error means that none was reported yet
	if last, _ := os.ReadFile(a.Paths.Found()); string(last) == owner.Host {
		return ""
	}
	if err := files.Write(a.Paths.Found(), []byte(owner.Host)); err != nil {
		slog.Warn("save which server was reported", "error", err)
	}
	return fmt.Sprintf("first use of the model server at %s, found there; this system does not report its owner",
		owner.Host)
}

// askForServer asks the user, once per owner, whether to use a model server that belongs to another
// user. A yes is saved.
func (a *App) askForServer(ctx context.Context, say func(string)) {
	host := agent.HostFrom(ctx)
	if host == nil || !a.Attended {
		return
	}
	owner := a.ServerOwner(ctx)
	if !owner.Foreign || owner.Name == "" {
		return
	}
	if _, asked := a.askedFor.LoadOrStore(owner.UID, true); asked {
		return
	}
	given := host.Ask(ctx, agent.Question{
		From: "LifeHub", Kind: agent.ServerInput,
		Message: fmt.Sprintf("The model server at %s belongs to %s, not to you. If you agree, it gets your messages "+
			"and passages of your notes, now and in later chats. Until then it gets nothing.", owner.Host, owner),
	})
	if given.Action != agent.InputAccepted {
		return
	}
	if err := a.Paths.Save("ollama_owner", owner.Name); err != nil {
		say(fmt.Sprintf("The server of %s is used in this chat only: %v.", owner, err))
	}
	a.Models.Allow(ctx, owner.Name)
}
