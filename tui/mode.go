package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/transcript"
)

// modeHelp says what each mode is good for.
var modeHelp = map[agent.Mode]string{
	agent.PlanMode: "one plan, then the answer: two calls of the model as a rule",
	agent.LoopMode: "the model decides each next call from what the last one brought",
	agent.TeamMode: "a lead hands tasks to workers, and an evaluator judges what they bring: slow and thorough",
}

// nextMode goes to the mode after the present one, around at the end.
func (m *Model) nextMode() tea.Cmd {
	modes := agent.Modes()
	at := slices.Index(modes, agent.Mode(m.mode))
	m.setMode(modes[(at+1)%len(modes)])
	return nil
}

// chooseMode takes what was typed after /mode.
func (m *Model) chooseMode(name string) tea.Cmd {
	said, mode := modeSaid(name, m.mode)
	for _, line := range said {
		m.transcript.Add(&transcript.Notice{Text: line})
	}
	if mode != "" {
		m.setMode(mode)
	}
	return nil
}

// modeSaid is what there is to say to a name after /mode, and the mode it
// means: "" when it means none, and for no name, to which all are told.
func modeSaid(name, present string) (said []string, mode agent.Mode) {
	mode = agent.Mode(strings.ToLower(strings.TrimSpace(name)))
	switch {
	case mode == "":
		for _, mode := range agent.Modes() {
			mark := "  "
			if string(mode) == present {
				mark = "› "
			}
			said = append(said, fmt.Sprintf("%s%s: %s", mark, mode, modeHelp[mode]))
		}
		return said, ""
	case slices.Contains(agent.Modes(), mode):
		return []string{fmt.Sprintf("Mode %s: %s.", mode, modeHelp[mode])}, mode
	}
	return []string{fmt.Sprintf("There is no mode %q: it is plan, loop or team.", name)}, ""
}

// setMode holds for later turns; one that is under way goes on as it began.
func (m *Model) setMode(mode agent.Mode) {
	m.mode = string(mode)
	m.UseMode(m.mode)
}
