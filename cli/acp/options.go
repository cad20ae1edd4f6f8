package acp

import (
	"context"
	"slices"
	"time"

	"github.com/coder/acp-go-sdk"

	"lifehub/tui/panel"
)

// listing bounds how long a session waits for model servers to list their models. Slower servers
// are left out.
const listing = 2 * time.Second

// The options of a session. A client that supports options ignores modes.
const (
	modeOption  = "mode"
	modelOption = "model"
)

// choices returns the options of a session: the mode of its turns, and the model, which all
// sessions share.
func (s *server) choices(ctx context.Context, modes *acp.SessionModeState) []acp.SessionConfigOption {
	var list acp.SessionConfigSelectOptionsUngrouped
	for _, mode := range modes.AvailableModes {
		list = append(list, acp.SessionConfigSelectOption{
			Value: acp.SessionConfigValueId(mode.Id), Name: mode.Name,
			Description: mode.Description,
		})
	}
	all := []acp.SessionConfigOption{selector(modeOption, "Mode", acp.SessionConfigOptionCategoryMode,
		string(modes.CurrentModeId), list)}
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	_ = s.App.Provider.Ready(ctx) // on error the model is unknown
	now := s.App.Provider.State().Model
	list = s.models(ctx)
	if now == "" || len(list) == 0 { // no model is available
		return all
	}
	if !slices.ContainsFunc(list, func(o acp.SessionConfigSelectOption) bool { return string(o.Value) == now }) {
		list = append(list, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueId(now), Name: shown(now)})
	}
	return append(all, selector(modelOption, "Model", acp.SessionConfigOptionCategoryModel, now, list))
}

func selector(id, name string, category acp.SessionConfigOptionCategory, now string,
	list acp.SessionConfigSelectOptionsUngrouped,
) acp.SessionConfigOption {
	return acp.SessionConfigOption{Select: &acp.SessionConfigOptionSelect{
		Type: "select", Id: acp.SessionConfigId(id), Name: name, Category: &category,
		CurrentValue: acp.SessionConfigValueId(now), Options: acp.SessionConfigSelectOptions{Ungrouped: &list},
	}}
}

// models lists the models of all servers that answer before ctx ends.
func (s *server) models(ctx context.Context) (all acp.SessionConfigSelectOptionsUngrouped) {
	answers := s.options.Models.List(ctx)
	for {
		select {
		case listing, more := <-answers:
			if !more {
				return all
			}
			for _, model := range listing.Models {
				if shown(model.Name) == model.Name {
					all = append(all, acp.SessionConfigSelectOption{
						Value: acp.SessionConfigValueId(model.Name), Name: model.Name,
						Description: acp.Ptr(shown(panel.ModelDetail(model))),
					})
				}
			}
		case <-ctx.Done():
			return all
		}
	}
}

// setOption sets an option. If the model changes, the other sessions are notified.
func (s *server) setOption(ctx context.Context, p acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	if p.ValueId == nil {
		return acp.SetSessionConfigOptionResponse{}, refused(invalid, "an option takes one of its values")
	}
	id, value := p.ValueId.SessionId, string(p.ValueId.Value)
	s.mu.Lock()
	_, err := s.find(id)
	s.mu.Unlock()
	switch {
	case err != nil:
	case p.ValueId.ConfigId == modeOption:
		_, err = s.setMode(ctx, acp.SetSessionModeRequest{SessionId: id, ModeId: acp.SessionModeId(value)})
	case p.ValueId.ConfigId == modelOption:
		if err = s.options.Models.Use(ctx, value); err != nil {
			err = refused(wrong, "%s", s.App.Secrets.Text(err.Error()))
		}
	default:
		err = refused(invalid, "unknown option %q: the options are %s and %s",
			p.ValueId.ConfigId, modeOption, modelOption)
	}
	if err != nil {
		return acp.SetSessionConfigOptionResponse{}, err
	}
	s.mu.Lock()
	modes := map[acp.SessionId]*acp.SessionModeState{}
	for id, opened := range s.sessions {
		modes[id] = modesOf(opened)
	}
	s.mu.Unlock()
	for other, state := range modes {
		if other != id && p.ValueId.ConfigId == modelOption {
			s.update(other, acp.SessionUpdate{ConfigOptionUpdate: &acp.SessionConfigOptionUpdate{
				SessionUpdate: "config_option_update", ConfigOptions: s.choices(ctx, state),
			}})
		}
	}
	return acp.SetSessionConfigOptionResponse{ConfigOptions: s.choices(ctx, modes[id])}, nil
}
