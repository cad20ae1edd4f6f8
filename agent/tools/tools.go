// Package tools holds the built-in tools: one file each, with what the model
// is told about it in the .md file of the same name. Start with [All].
package tools

import (
	"slices"
	"time"

	"lifehub/agent"
	"lifehub/agent/tools/mail"
	"lifehub/agent/tools/web"
	"lifehub/notes"
)

// Deps is what the tools work with. Search, Folders and Facts are required.
type Deps struct {
	Search  searcher
	Folders func() []*notes.Folder // the open vaults of this moment
	Now     func() time.Time       // in the user's zone; nil: time.Now
	Daily   Daily
	Changes changes      // nil: what tools do to notes can't be taken back
	Mail    mail.Account // without a host no mail is sent, and there is no tool for it
	Facts   Facts
	Kept    artifacts // keeps the documents that turns make; nil: there are no tools for them
	Past    past      // finds what was said in earlier conversations; nil: nothing

	Window func() int // tokens that the model's window holds; nil or 0: unknown

	Web web.Search
	// Sent is told how many bytes a tool has sent to another machine, at any
	// time and from any goroutine; nil: nobody is.
	Sent  func(bytes int)
	Units string // of the weather: metric or imperial; "": metric
}

// All makes every built-in tool.
func All(d Deps) []agent.Tool {
	if d.Now == nil {
		d.Now = time.Now
	}
	v := vaults(d.Folders)
	own := &ownChanges{}
	w, memory := noteWriter{v, d.Changes, own}, noteWriter{d.Facts.folders, d.Changes, own}
	list := slices.Concat([]agent.Tool{
		newSearchNotes(d.Search, v, d.Now, d.Window),
		newReadNote(v),
		newListNotes(v),
		newNoteLinks(v),
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
		newRecall(d.Facts, d.Past),
		newForget(memory, d.Facts),
	})
	if d.Changes != nil {
		list = append(list, newUndo(w, memory))
	}
	if d.Kept != nil {
		list = append(list, artifactTools(d.Kept)...)
	}
	if d.Mail.Host != "" {
		list = append(list, mail.New(d.Mail, d.Now, d.Kept, d.Sent))
	}
	return list
}

// Reversible reports whether what a built-in tool does can be taken back: it
// changes nothing, or notes, of which what they held before is kept.
func Reversible(tool string) bool { return tool != "send_email" }
