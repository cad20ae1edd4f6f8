package tui

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/panel"
)

// listArtifacts opens the documents of the conversation, or the versions of
// the one that is named.
func (m *Model) listArtifacts(name string) tea.Cmd {
	conversation := m.conversation
	if name != "" {
		return m.listVersions(conversation, name)
	}
	return func() tea.Msg {
		p, list, err := panel.ArtifactPicker(m.base, m.Artifacts, conversation)
		p.Pick = func(at int) tea.Cmd { return m.listVersions(conversation, list[at].Name) }
		return pickMsg{p, err}
	}
}

// listVersions opens the history of a document, the newest version first.
func (m *Model) listVersions(conversation, name string) tea.Cmd {
	return func() tea.Msg {
		p, versions, err := panel.VersionPicker(m.base, m.Artifacts, conversation, name)
		p.Pick = func(at int) tea.Cmd {
			return func() tea.Msg { return pageMsg{text: panel.VersionPage(versions, len(versions)-1-at)} }
		}
		return pickMsg{p, err}
	}
}
