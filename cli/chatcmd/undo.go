package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/internal/text"
	"lifehub/notes"
	"lifehub/tui/draw"
)

// slashUndo undoes the last turn of the conversation and its changes to notes. Repeated, it undoes
// the turn before.
func (bg *background) slashUndo(ctx context.Context, conversation, given string) (string, error) {
	switch given {
	case "restore":
		return bg.restore(ctx, conversation)
	case "":
	default:
		return "", errors.New("usage: /undo, or /undo restore for notes that it left unchanged")
	}
	path, err := bg.App.Store.Exchanges(ctx, conversation)
	if err != nil {
		return "", err
	}
	if len(path) == 0 {
		return "", errors.New("there is nothing to undo")
	}
	last := path[len(path)-1]
	if last.Running {
		return "", errors.New("another LifeHub is answering this question; stop it there first")
	}
	changes, err := bg.App.Store.NoteChanges(ctx, last.Turn)
	if err != nil {
		return "", err
	}
	entries, err := bg.App.Store.Entries(ctx, last.Turn)
	if err != nil {
		return "", err
	}
	done := tools.Undo(changeableNotes(bg.App), changes)
	if err := bg.App.Store.TakeBack(ctx, last.Turn); err != nil {
		return "", err
	}
	bg.stale()
	return undone(last.Question, done) + staysDone(bg.App, entries), nil
}

// staysDone lists the calls that reached beyond the notes and cannot be undone. They may include
// tools that claim to only read, because a server's claim is not proof.
func staysDone(a *app.App, entries []agent.Entry) string {
	var b strings.Builder
	intended := map[string]agent.Entry{} // by step
	for _, e := range entries {
		switch e.Moment {
		case agent.Intended:
			intended[e.Step] = e
		case agent.CallStarted:
			if call := intended[e.Step]; call.Tool != agent.DelegateTool &&
				(!a.IsBuiltin(call.Tool) || !tools.Reversible(call.Tool)) {
				fmt.Fprintf(&b, "- `%s` was called and cannot be undone: `%s`\n", cell(call.Tool),
					strings.ReplaceAll(draw.Summary(string(call.Input), 80), "`", "'"))
			}
		}
	}
	return b.String()
}

// restore restores the older text of notes that the last undo left unchanged.
func (bg *background) restore(ctx context.Context, conversation string) (string, error) {
	turn, err := bg.App.Store.LastUndone(ctx, conversation)
	if err != nil {
		return "", err
	}
	if turn == "" {
		return "", errors.New("nothing was undone in this conversation")
	}
	changes, err := bg.App.Store.NoteChanges(ctx, turn)
	if err != nil {
		return "", err
	}
	done := tools.Restore(changeableNotes(bg.App), changes)
	bg.stale()
	return undone("", done), nil
}

// undone describes what was undone.
func undone(question string, done []tools.Undone) string {
	var b strings.Builder
	if question != "" {
		fmt.Fprintf(&b, "%s It is still in `/tree`.\n", fmt.Sprintf(outcome(done), cell(draw.Summary(question, 80))))
		if len(done) == 0 {
			b.WriteString("- No note was changed by it; `/undo` again goes further back.\n")
		}
	}
	left := false
	for _, u := range done {
		name := "`" + cell(u.Path) + "`"
		switch u.What {
		case tools.UndoNothing:
			fmt.Fprintf(&b, "- %s is as it was before.\n", name)
		case tools.UndoRestored:
			fmt.Fprintf(&b, "- %s is as it was before%s.\n", name, inTrash(u, "; the newer text"))
		case tools.UndoTrashed:
			fmt.Fprintf(&b, "- %s was created by it%s.\n", name, inTrash(u, " and"))
		case tools.UndoFailed:
			fmt.Fprintf(&b, "- %s could not be restored: %s.\n", name, cell(u.Err.Error()))
		case tools.UndoChanged:
			left = true
			fmt.Fprintf(&b, "- %s was changed since, so it is left as it is. From before the turn until now:\n\n", name)
			b.WriteString(text.Fenced("diff", u.Diff) + "\n\n")
		}
	}
	if left {
		b.WriteString("`/undo restore` restores it anyway and moves the newer text to the trash.\n")
	}
	return b.String()
}

// outcome is the sentence about an undone turn, with a place for its question: the turn leaves the conversation
// whatever becomes of the notes.
func outcome(done []tools.Undone) string {
	left := 0
	for _, u := range done {
		if u.What == tools.UndoChanged || u.What == tools.UndoFailed {
			left++
		}
	}
	switch {
	case left == 0:
		return "Undone: “%s”."
	case left < len(done):
		return "Undone in part: “%s”."
	}
	return "No note was restored, but “%s” has left the conversation."
}

func inTrash(u tools.Undone, what string) string {
	if u.Trash == "" {
		return ""
	}
	return what + " is now in `" + cell(u.Trash) + "`"
}

// changeableNotes returns the folders in which tools write: the vaults and the folder of the facts.
func changeableNotes(a *app.App) []*notes.Folder {
	folders := a.Folders()
	if folder, err := a.FactsFolder(); err == nil {
		folders = append(folders, folder)
	}
	return folders
}
