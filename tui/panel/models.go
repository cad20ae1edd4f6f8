package panel

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/llm"
	"lifehub/tui/draw"
	"lifehub/tui/transcript"
)

// modelList has the models of the servers that have answered.
type modelList struct {
	Picker
	servers []llm.Listing
	models  []llm.Info // of the rows
	now     chat.Status
	more    tea.Cmd // waits for the next server
}

// moreMsg has the answer of another server for a list.
type moreMsg struct {
	to      *modelList
	listing llm.Listing
}

// Update handles the keys of a list, and adds the servers that answer late.
func (l *modelList) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	if late, ok := msg.(moreMsg); ok && late.to == l {
		l.add(late.listing)
		return l, nil, l.more
	}
	next, did, cmd := l.Picker.Update(msg, k)
	if next != nil {
		next = l
	}
	return next, did, cmd
}

// add adds the answer of a server. The chosen row stays chosen.
func (l *modelList) add(listing llm.Listing) {
	chosen := ""
	if list := l.Matching(); l.Chosen > 0 && l.Chosen < len(list) {
		chosen = l.models[list[l.Chosen]].Name
	}
	at := slices.IndexFunc(l.servers, func(s llm.Listing) bool { return s.Server == listing.Server })
	if at < 0 {
		at, l.servers = len(l.servers), append(l.servers, listing)
	}
	l.servers[at] = listing
	l.fill()
	for i, row := range l.Matching() {
		if l.models[row].Name == chosen {
			l.Chosen = i
		}
	}
}

// fill builds the rows: a group for each server that has models, a line for each other one.
func (l *modelList) fill() {
	l.Title, l.Empty = "Models", "no model installed: /pull NAME pulls one"
	l.Rows, l.models, l.Heads, l.Foot = nil, nil, map[int]string{}, nil
	for _, s := range l.servers {
		switch {
		case len(s.Models) > 0 && len(l.servers) > 1:
			l.Heads[len(l.Rows)] = s.Server
		case s.Waiting:
			l.Foot = append(l.Foot, "… "+s.Server+": checking…")
		case s.Err != nil:
			l.Foot = append(l.Foot, "✗ "+s.Err.Error())
		case len(l.servers) > 1 && len(s.Models) == 0:
			l.Foot = append(l.Foot, "· "+s.Server+" has no models")
		}
		for _, model := range s.Models {
			detail := ModelDetail(model)
			if model.Name == l.now.Model {
				detail = strings.TrimSuffix("in use · "+detail, " · ")
			}
			l.Rows = append(l.Rows, draw.Row{Label: model.Name, Detail: detail})
			l.models = append(l.models, model)
		}
	}
	if len(l.servers) == 1 && len(l.Foot) == 1 { // there is room to say it all
		l.Empty, l.Foot = l.Foot[0], nil
		if err := l.servers[0].Err; err != nil {
			failed := transcript.FailureOf(err)
			var foreign *llm.ForeignError
			if l.now.Provider == "offline" && errors.Is(err, llm.ErrUnreachable) && !errors.As(err, &foreign) {
				failed.Hint = "Start it (ollama serve), or set its address in the settings (lifehub config path says where " +
					"they are). Until then, LifeHub lists the closest passages."
			}
			l.Empty = failed.Copied()
		}
	}
}

// ModelDetail describes a model.
func ModelDetail(i llm.Info) string {
	var parts []string
	if i.Parameters != "" {
		parts = append(parts, i.Parameters)
	}
	if i.Size > 0 {
		parts = append(parts, draw.Bytes(i.Size))
	}
	if i.Context > 0 {
		parts = append(parts, draw.Short(i.Context)+" context")
	}
	for _, can := range i.Capabilities {
		if can != "completion" {
			parts = append(parts, can)
		}
	}
	if i.Remote != "" {
		parts = append(parts, "leaves this machine: "+i.Remote)
	}
	return strings.Join(parts, " · ")
}

// ModelPicker lists the models of all servers, once each has answered.
func ModelPicker(ctx context.Context, from chat.Models, now chat.Status) (Picker, []llm.Info) {
	l := modelList{now: now}
	for listing := range from.List(ctx) {
		l.add(listing)
	}
	return l.Picker, l.models
}

// openAfter is how long the list waits for answers before it opens, which is longer than a
// server on this machine takes.
const openAfter = 200 * time.Millisecond

// OpenModels lists the models, those of slow servers later. use gets the name of the chosen
// one.
func OpenModels(ctx context.Context, from chat.Models, now chat.Status, use func(name string) tea.Cmd) tea.Cmd {
	l := &modelList{now: now}
	l.Pick = func(at int) tea.Cmd { return use(l.models[at].Name) }
	return func() tea.Msg {
		answers, late := from.List(ctx), time.After(openAfter)
		l.more = func() tea.Msg {
			if listing, more := <-answers; more {
				return moreMsg{l, listing}
			}
			return nil
		}
		for {
			select {
			case listing, more := <-answers:
				if !more {
					return OpenMsg{Panel: l}
				}
				l.add(listing)
			case <-late:
				return OpenMsg{Panel: l, Then: l.more}
			}
		}
	}
}
