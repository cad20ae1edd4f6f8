// Package draft saves what is typed and not sent, so that it survives the end of
// the process. Start at [Drafts].
package draft

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/atomicfile"
	"lifehub/internal/wrap"
	"lifehub/store/file"
)

// What is typed and not sent is in a folder next to the database, in a file of
// its own for each process that has a screen: <owner>.json, and <owner>.md while
// the user's editor has it. It is in no backup, and leaves nothing in the
// database when it is rubbed out. Why: docs/design/conversations-and-storage.md.

// Drafts are those files.
type Drafts struct {
	file *file.File
	dir  string
}

// New has the drafts next to an open file.
func New(d *file.File) *Drafts { return &Drafts{file: d, dir: d.Path + ".unsent"} }

// draft is such a file.
type draft struct {
	agent.Draft
	After int64 `json:"after,omitempty"` // the last message of any conversation before Sending
}

func (d *Drafts) draftFile(owner, kind string) string {
	return filepath.Join(d.dir, owner+kind)
}

// SaveDraft saves what is typed in this process, in place of what it saved
// before. It is called in the order of typing. In memory nothing is saved.
func (d *Drafts) SaveDraft(ctx context.Context, u agent.Draft) (err error) {
	defer wrap.Error(&err, "save what is typed")
	if d.file.Path == "" || u.Empty() && d.file.Owners.Named() == "" {
		return nil // nothing of this process is there
	}
	owner, err := d.file.Owners.Mine()
	if err != nil {
		return err
	}
	file := d.draftFile(owner, ".json")
	if u.Empty() {
		return remove(file)
	}
	written := draft{Draft: u}
	if u.Sending != "" {
		if err := d.file.Read.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM messages`).Scan(&written.After); err != nil {
			return err
		}
	}
	text, err := json.Marshal(written)
	if err != nil {
		return err
	}
	return atomicfile.Write(file, text)
}

// remove deletes a file that may be gone already.
func remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// DraftFile makes the file in which the user's editor gets what is typed. It is
// found again when LifeHub is killed meanwhile; who made it removes it.
func (d *Drafts) DraftFile() (*os.File, error) {
	if d.file.Path == "" {
		return os.CreateTemp("", "lifehub-*.md")
	}
	owner, err := d.file.Owners.Mine()
	if err == nil {
		err = os.MkdirAll(d.dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	return os.OpenFile(d.draftFile(owner, ".md"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// LoadDraft gives this process what one that has ended left of a conversation,
// else the last that was typed in one without any turn; where this one has none,
// the last of all. The zero value is nothing. What is taken is saved as this
// process's own.
func (d *Drafts) LoadDraft(ctx context.Context, conversation string) (_ agent.Draft, err error) {
	defer wrap.Error(&err, "find what was typed")
	if d.file.Path == "" {
		return agent.Draft{}, nil
	}
	left, err := d.leftDrafts()
	if err != nil || len(left) == 0 {
		return agent.Draft{}, err
	}
	begun, err := d.begun(ctx, conversation)
	if err != nil {
		return agent.Draft{}, err
	}
	elsewhere := func(l leftDraft) bool { return l.Conversation != conversation }
	here := slices.DeleteFunc(slices.Clone(left), elsewhere)
	for _, l := range append(here, left...) {
		if begun && elsewhere(l) {
			if other, err := d.begun(ctx, l.Conversation); err != nil {
				return agent.Draft{}, err
			} else if other {
				continue
			}
		}
		u, err := d.takeOver(ctx, l)
		if err != nil || !u.Empty() {
			return u, err
		}
	}
	return agent.Draft{}, nil
}

// begun reports whether a conversation has a turn.
func (d *Drafts) begun(ctx context.Context, conversation string) (yes bool, err error) {
	err = d.file.Read.QueryRowContext(ctx, `SELECT count(*) > 0 FROM turns WHERE conversation = ?`, conversation).Scan(&yes)
	return yes, err
}

// leftDraft is a draft whose process has ended.
type leftDraft struct {
	draft
	owner string
	typed time.Time
}

// leftDrafts are what processes that have ended left, the newest first.
func (d *Drafts) leftDrafts() ([]leftDraft, error) {
	var left []leftDraft
	err := d.eachDraft(func(owner string) error {
		if !d.file.Owners.Ended(owner) {
			return nil
		}
		if err := d.removeFiles(owner + ".json."); err != nil { // killed in the middle of writing it
			return err
		}
		l := leftDraft{owner: owner}
		for _, kind := range []string{".json", ".md"} {
			if info, err := os.Stat(d.draftFile(owner, kind)); err == nil && info.ModTime().After(l.typed) {
				l.typed = info.ModTime()
			}
		}
		var err error
		if l.draft, err = d.readDraft(owner); err == nil { // what cannot be read stays for the user to look at
			left = append(left, l)
		}
		return nil
	})
	slices.SortFunc(left, func(a, b leftDraft) int { return b.typed.Compare(a.typed) })
	return left, err
}

// eachDraft calls do with the owner of each draft that there is.
func (d *Drafts) eachDraft(do func(owner string) error) error {
	entries, err := os.ReadDir(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	seen := map[string]bool{}
	for _, e := range entries {
		owner, kind, _ := strings.Cut(e.Name(), ".")
		if seen[owner] || !strings.HasPrefix(kind, "json") && kind != "md" {
			continue
		}
		seen[owner] = true
		if err := do(owner); err != nil {
			return err
		}
	}
	return err
}

// readDraft reads what a process left; what its editor has saved takes the
// place of what stood in the composer.
func (d *Drafts) readDraft(owner string) (found draft, err error) {
	text, err := os.ReadFile(d.draftFile(owner, ".json"))
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	edited, err := os.ReadFile(d.draftFile(owner, ".md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	if text := strings.TrimRight(string(edited), "\n"); strings.TrimSpace(text) != "" {
		found.Text = text
	}
	return found, nil
}

// takeOver makes what another process left this one's. Of several who try, one
// gets it; killed at any point, it is still there for the next.
func (d *Drafts) takeOver(ctx context.Context, l leftDraft) (agent.Draft, error) {
	mine, err := d.file.Owners.Mine()
	if err != nil {
		return agent.Draft{}, err
	}
	u := l.Draft
	if u.Sending != "" {
		arrived, err := d.arrived(ctx, l)
		if err != nil {
			return agent.Draft{}, err
		}
		if !arrived {
			u.Waiting = append([]string{u.Sending}, u.Waiting...)
		}
		u.Sending = ""
	}
	u.Editing = false
	for _, kind := range []string{".json", ".md"} {
		from, to := d.draftFile(l.owner, kind), d.draftFile(mine, kind)
		if _, err := os.Lstat(to); err == nil {
			return agent.Draft{}, nil // this process has a draft already
		}
		if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return agent.Draft{}, err
		} else if err != nil && kind == ".json" && l.Conversation != "" {
			return agent.Draft{}, nil // another one was quicker
		}
	}
	if err := d.SaveDraft(ctx, u); err != nil {
		return agent.Draft{}, err
	}
	if err := remove(d.draftFile(mine, ".md")); err != nil {
		return agent.Draft{}, err
	}
	err = d.file.Read.QueryRowContext(ctx, `SELECT coalesce((SELECT title FROM conversations WHERE id = ?), '')`, u.Conversation).Scan(&u.Title)
	return u, err
}

// arrived reports whether the message on its way arrived: since then the process
// has begun a turn, or the message is in the conversation.
func (d *Drafts) arrived(ctx context.Context, l leftDraft) (yes bool, err error) {
	err = d.file.Read.QueryRowContext(ctx, `SELECT count(*) > 0 FROM messages m JOIN turns t ON t.id = m.turn
		WHERE t.conversation = ? AND m.role = 'user' AND m.id > ? AND (t.owner = ? OR m.text = ?)`,
		l.Conversation, l.After, l.owner, l.Sending).Scan(&yes)
	return yes, err
}

// Remove deletes what was typed in conversations, with what an editor may
// have put next to it.
func (d *Drafts) Remove(conversations []string) error {
	return d.eachDraft(func(owner string) error {
		if left, err := d.readDraft(owner); err != nil || !slices.Contains(conversations, left.Conversation) {
			return err
		}
		return d.removeFiles(owner)
	})
}

// removeFiles deletes the files whose names hold some text.
func (d *Drafts) removeFiles(text string) error {
	entries, err := os.ReadDir(d.dir)
	for _, e := range entries {
		if strings.Contains(e.Name(), text) {
			err = errors.Join(err, remove(filepath.Join(d.dir, e.Name())))
		}
	}
	return err
}
