package panel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/aymanbagabas/go-udiff"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/text"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// ArtifactPicker lists the documents of a conversation.
func ArtifactPicker(ctx context.Context, from chat.Artifacts, conversation string) (Picker, []agent.Artifact, error) {
	list, err := from.Artifacts(ctx, conversation)
	if conversation == "" {
		list = nil // with no name the store would list those of all conversations
	}
	p := Picker{Title: "Documents of this conversation", Empty: "no documents in this conversation yet"}
	for _, a := range list {
		detail := []string{draw.Count(a.Version, "version"), "by " + a.By, draw.When(a.Time, time.Now())}
		p.Rows = append(p.Rows, draw.Row{Label: a.Name, Detail: strings.Join(detail, " · ")})
	}
	return p, list, err
}

// VersionPicker lists the versions of a document, newest first. It also returns them, oldest
// first.
func VersionPicker(ctx context.Context, from chat.Artifacts, conversation,
	name string,
) (Picker, []agent.Artifact, error) {
	versions, err := from.ArtifactVersions(ctx, conversation, name)
	if err == nil && (len(versions) == 0 || conversation == "") {
		err = fmt.Errorf("this conversation has no document %s; /artifacts lists them", name)
	}
	p := Picker{Title: name + ": versions", Empty: "no version says that"}
	for i := len(versions) - 1; i >= 0; i-- {
		v := versions[i]
		p.Rows = append(p.Rows, draw.Row{
			Label:  strings.TrimSpace(fmt.Sprintf("version %d  %s", v.Version, v.Why)),
			Detail: "by " + v.By + " · " + draw.When(v.Time, time.Now()),
		})
	}
	return p, versions, err
}

// VersionPage returns the changes of a version, and its text.
func VersionPage(versions []agent.Artifact, at int) string {
	v, before := versions[at], agent.Artifact{}
	head := fmt.Sprintf("%s, version %d of %d, by %s", v.Name, v.Version, len(versions), v.By)
	if v.Why != "" {
		head += ": " + v.Why
	}
	if at > 0 {
		before = versions[at-1]
		head += "\n\n" + text.Fenced("diff", udiff.Unified(fmt.Sprint("version ", before.Version),
			fmt.Sprint("version ", v.Version), before.Text, v.Text))
	}
	return head + "\n\n---\n\n" + v.Text + "\n\n---\n\n" + "`/export " + v.Name +
		" [PATH]` makes a note of the newest version."
}

// ForkedText reports that a conversation was copied.
const ForkedText = "This is a new conversation; the original is unchanged."

// NewModes lists the modes; choose gets the chosen one.
func NewModes(present string, choose func(agent.Mode) tea.Cmd) *Picker {
	p := &Picker{Title: "Modes", Chosen: max(0, slices.Index(agent.Modes(), agent.Mode(present)))}
	for _, mode := range agent.Modes() {
		p.Rows = append(p.Rows, draw.Row{Label: string(mode), Detail: mode.Help()})
	}
	p.Pick = func(at int) tea.Cmd { return choose(agent.Modes()[at]) }
	return p
}

// NewHistory lists earlier prompts; choose gets the chosen one.
func NewHistory(prompts []string, filter string, choose func(prompt string)) *Picker {
	p := &Picker{Title: "Earlier prompts", Empty: "no questions yet", Filter: safetext.Line(filter)}
	for _, prompt := range prompts {
		p.Rows = append(p.Rows, draw.Row{Label: prompt})
	}
	p.Pick = func(at int) tea.Cmd {
		choose(safetext.Text(prompts[at]))
		return nil
	}
	return p
}
