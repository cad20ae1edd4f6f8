package turn

import (
	"lifehub/agent"
	"lifehub/agent/prompt"
)

// asker returns an Asker that reports to a stream.
func (a *Agent) asker(stream *agent.Stream, think string) *prompt.Asker {
	asker := &prompt.Asker{
		Stream: stream, Model: a.Model, Meters: &a.meters, Server: a.Server, Think: think,
		Roles: map[string]*prompt.Asker{},
	}
	for name, role := range a.Roles {
		asker.Roles[name] = &prompt.Asker{
			Stream: stream, Model: role.Model, Meters: &a.meters, Server: role.Server,
			Think: think,
		}
	}
	return asker
}

// window returns the window of the model that decides about calls; 0 if
// unknown.
func (t *turn) window() int {
	if planner, other := t.agent.Roles["planner"]; other && t.mode == agent.PlanMode {
		return planner.Window()
	}
	return t.agent.Server.Window()
}

// toolsWindow returns the window for which tools are chosen: a small model and a
// planner get those of a small window.
func (t *turn) toolsWindow() int {
	if t.traits.Small || t.mode == agent.PlanMode {
		return prompt.SmallWindow
	}
	return t.window()
}

// fitModel chooses what depends on the model: the mode, and which tools it is shown.
func (t *turn) fitModel() {
	if t.traits = t.agent.Traits.Traits(); t.mode == agent.AutoMode {
		t.mode = t.autoMode()
		t.traits.Native = t.traits.Native && !t.traits.Small
	} else {
		t.traits.Small = false
	}
	t.talk.called = t.calledBefore()
}

// autoMode returns the mode that AutoMode stands for: the loop, with any model.
func (t *turn) autoMode() agent.Mode {
	if t.agent.Server.ModelName() == noModel {
		return agent.PlanMode
	}
	return agent.LoopMode
}

// noModel is the name of the model if none is connected. Its rules plan what is
// searched for.
const noModel = "offline"
