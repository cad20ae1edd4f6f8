package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/aymanbagabas/go-udiff"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/draw"
)

// listArtifacts opens the documents of the conversation, or the versions of
// the one that is named.
func (m *Model) listArtifacts(name string) tea.Cmd {
	conversation := m.conversation
	if name != "" {
		return m.listVersions(conversation, name)
	}
	return func() tea.Msg {
		p, list, err := artifactPicker(m.base, m.Artifacts, conversation)
		p.pick = func(at int) tea.Cmd { return m.listVersions(conversation, list[at].Name) }
		return pickMsg{p, err}
	}
}

// artifactPicker lists the documents of a conversation.
func artifactPicker(ctx context.Context, from backend.Artifacts, conversation string) (picker, []agent.Artifact, error) {
	list, err := from.Artifacts(ctx, conversation)
	if conversation == "" {
		list = nil // with no name the store would list those of all conversations
	}
	p := picker{title: "Documents of this conversation", empty: "no document was made here yet"}
	for _, a := range list {
		p.rows = append(p.rows, draw.Row{Label: a.Name, Detail: strings.Join([]string{draw.Count(a.Version, "version"), "by " + a.By, draw.When(a.Time, time.Now())}, " · ")})
	}
	return p, list, err
}

// listVersions opens the history of a document, the newest version first.
func (m *Model) listVersions(conversation, name string) tea.Cmd {
	return func() tea.Msg {
		p, versions, err := versionPicker(m.base, m.Artifacts, conversation, name)
		p.pick = func(at int) tea.Cmd {
			return func() tea.Msg { return pageMsg{text: versionPage(versions, len(versions)-1-at)} }
		}
		return pickMsg{p, err}
	}
}

// versionPicker lists the versions of a document, the newest first; what it
// returns beside is the oldest first.
func versionPicker(ctx context.Context, from backend.Artifacts, conversation, name string) (picker, []agent.Artifact, error) {
	versions, err := from.ArtifactVersions(ctx, conversation, name)
	if err == nil && (len(versions) == 0 || conversation == "") {
		err = fmt.Errorf("no document of this conversation is called %s; /artifacts lists them", name)
	}
	p := picker{title: name + ": versions", empty: "no version says that"}
	for i := len(versions) - 1; i >= 0; i-- {
		v := versions[i]
		p.rows = append(p.rows, draw.Row{Label: strings.TrimSpace(fmt.Sprintf("version %d  %s", v.Version, v.Why)), Detail: "by " + v.By + " · " + draw.When(v.Time, time.Now())})
	}
	return p, versions, err
}

// versionPage is what a version changed, and the whole of it.
func versionPage(versions []agent.Artifact, at int) string {
	v, before := versions[at], agent.Artifact{}
	head := fmt.Sprintf("%s, version %d of %d, by %s", v.Name, v.Version, len(versions), v.By)
	if v.Why != "" {
		head += ": " + v.Why
	}
	if at > 0 {
		before = versions[at-1]
		head += "\n\n" + fenced("diff", udiff.Unified(fmt.Sprint("version ", before.Version), fmt.Sprint("version ", v.Version), before.Text, v.Text))
	}
	return head + "\n\n---\n\n" + v.Text + "\n\n---\n\n" + "`/export " + v.Name + " [PATH]` makes a note of the newest version."
}

// fenced puts a text into a fence that is longer than any in it.
func fenced(language, text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + language + "\n" + strings.TrimRight(text, "\n") + "\n" + mark
}
