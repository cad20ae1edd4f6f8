package tools

import (
	"context"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/notes"
)

// Whole returns the notes of all folders, each as one source, the longest
// unchanged first, so that a change moves as few of them as possible. It returns
// none if they have more than most bytes, if one of them cannot be read or has
// pages, or if there is none. Hidden notes and those from outside are left out, as
// far as the notes themselves say so.
func Whole(ctx context.Context, folders func() []*notes.Folder, most int64) ([]agent.Source, error) {
	places, unread, err := vaults(folders).visible(ctx)
	if err != nil || len(unread) > 0 {
		return nil, err
	}
	for _, p := range places {
		if most -= p.Entry.Size; most < 0 || notes.IsPaged(p.Entry.Path) {
			return nil, nil
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.Entry.ModTime.Compare(b.Entry.ModTime) })
	var list []agent.Source
	for _, p := range places {
		note, err := p.read(ctx)
		if err != nil {
			return nil, err
		}
		words := strings.TrimRight(note.Text, "\n")
		if note.Untrusted || strings.TrimSpace(words) == "" {
			continue
		}
		list = append(list, agent.Source{
			Path: note.Path, Vault: p.folder.Dir(), Line: 1, EndLine: 1 + strings.Count(words, "\n"),
			Text: words, Date: note.Date,
		})
	}
	return list, nil
}
