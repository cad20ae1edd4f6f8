package app

import (
	"context"
	"os"
	"strings"

	"lifehub/agent"
	"lifehub/agent/memory"
	"lifehub/agent/tools"
	"lifehub/notes"
)

// Facts returns the file of facts about the user. It is in the first vault, or in the data folder
// if the settings say so or there is no vault.
func (a *App) Facts() tools.Facts {
	return tools.Facts{Path: a.Settings.Memory.File, Place: a}
}

// FactsFolder opens the folder of that file.
func (a *App) FactsFolder() (*notes.Folder, error) {
	if vaults := a.OpenVaults(); a.Settings.Memory.Place == "vault" && len(vaults) > 0 {
		return vaults[0].Folder, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.memory == nil {
		dir := a.Paths.MemoryFolder()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		folder, err := notes.Open(dir)
		if err != nil {
			return nil, err
		}
		a.memory = folder
	}
	return a.memory, nil
}

// SearchPast searches the exchanges of all conversations, whatever memory.scope is, which decides
// only what is recalled without being asked for.
func (a *App) SearchPast(ctx context.Context, query string, limit int) ([]agent.Recollection, error) {
	past := memory.LongTerm{Store: a.Store, Embedding: a}
	return past.Search(ctx, query, limit)
}

// past returns the search of conversations for the recall tool, nil if it may search none, and why
// it does not search all saved ones; "" if it does.
func (a *App) past(noSave bool) (search tools.Past, unsearched string) {
	switch {
	case a.Settings.Memory.Scope == "off":
		return nil, "memory.scope is off"
	case noSave:
		return a.SearchPast, "this run saves none and opens none"
	}
	return a.SearchPast, ""
}

// rereadFact returns a fact as it is in its file now, without date and origin. It reports false if
// the source is not a fact.
func (a *App) rereadFact(s agent.Source) (string, bool) {
	facts, err := a.Facts().List(context.Background())
	if err != nil {
		return "", false
	}
	var lines []string
	for _, f := range facts {
		if f.Path == s.Path && f.Vault == s.Vault && f.Line >= s.Line && f.Line <= s.EndLine {
			lines = append(lines, make([]string, max(0, f.Line-s.Line-len(lines)))...)
			lines = append(lines, "- "+f.Text)
		}
	}
	return strings.Join(lines, "\n"), len(lines) > 0
}

// FindFacts returns the facts that match the query, best first, or all facts if the query is empty.
func (a *App) FindFacts(ctx context.Context, query string) ([]agent.Fact, error) {
	facts, err := a.Facts().List(ctx)
	if err != nil || query == "" {
		return facts, err
	}
	return memory.FittingFacts(ctx, query, facts)
}

// SearchMemory searches the facts and the exchanges of all conversations.
func (a *App) SearchMemory(ctx context.Context, query string, limit int) (found agent.Remembered, err error) {
	if found.Facts, err = a.FindFacts(ctx, query); err != nil {
		return found, err
	}
	found.Exchanges, err = a.SearchPast(ctx, query, limit)
	return found, err
}
