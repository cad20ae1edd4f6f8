// Package tools has the built-in tools, one in each file; the .md file with the
// same name is the description for the model. Start with [All].
package tools

import (
	"slices"
	"sync/atomic"
	"time"

	"lifehub/agent"
	"lifehub/agent/tools/web"
	"lifehub/notes"
)

// Deps is what the tools depend on. Search, Vaults and Facts are required.
type Deps struct {
	Search    searcher
	Vaults    Vaults
	Now       func() time.Time // in the user's zone; nil: time.Now
	Model     Model            // nil: its window is unknown
	Daily     Daily
	Changes   changes     // nil: changes of notes cannot be undone
	Sets      sets        // nil: several notes cannot be changed as one
	Mail      MailAccount // without a Host, there is no tool for mail
	Facts     Facts
	Artifacts artifacts // stores documents; nil: there are no tools for them
	Past      Past      // searches earlier conversations; nil: none are searched

	Unsearched string // why not all saved conversations are searched; "" if they are

	Web   web.Search
	Sent  *atomic.Int64 // counts the bytes sent to other machines; may be nil
	Units string        // for the weather: metric or imperial; "": metric
}

// Vaults has the folders of notes. *app.App is the real one.
type Vaults interface {
	Folders() []*notes.Folder // that are open
}

// Model is the model that gets the results. *app.App is the real one.
type Model interface {
	Window() int // tokens in its window; 0: unknown
}

// All returns all built-in tools.
func All(d Deps) []agent.Tool {
	if d.Now == nil {
		d.Now = time.Now
	}
	v := vaults(d.Vaults.Folders)
	own := &ownChanges{}
	w, memory := noteWriter{v, d.Changes, own}, noteWriter{d.Facts.folders, d.Changes, own}
	list := slices.Concat([]agent.Tool{
		newSearchNotes(d.Search, v, d.Now, d.Model),
		newReadNote(v),
		newListNotes(v),
		newNoteLinks(v),
		newFindContradictions(v),
		newBriefNotes(v, d.Now),
		newCreateNote(w),
		newAppendNote(w, d.Daily, d.Now),
		newEditNote(w),
		newListTasks(v, d.Now),
		newAddTask(w, d.Now),
		newCompleteTask(w, d.Now),
	}, web.Tools(d.Web, d.Units, d.Now, d.Sent), []agent.Tool{
		newToday(d.Now),
		newCalculate(),
		newRemember(memory, d.Facts, d.Now),
		newRecall(d.Facts, d.Past, d.Unsearched),
		newForget(memory, d.Facts),
	})
	if d.Changes != nil {
		list = append(list, newUndo(w, memory))
	}
	list = append(list, setTools(w, d.Sets)...)
	if d.Artifacts != nil {
		list = append(list, artifactTools(d.Artifacts)...)
	}
	if d.Mail.Host != "" {
		list = append(list, NewSendEmail(d.Mail, d.Now, d.Artifacts, d.Sent))
	}
	return list
}

// Reversible reports whether the effects of a built-in tool can be undone: it
// changes nothing, or only notes whose previous content is saved.
func Reversible(tool string) bool { return tool != "send_email" }
