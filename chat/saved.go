package chat

import (
	"slices"

	"lifehub/agent"
)

// CitedIn returns the citations of a saved answer with their sources, as the events of its turn had them.
func CitedIn(answer agent.Answer) (list []agent.Cited) {
	for _, c := range answer.Citations {
		cited := agent.Cited{Citation: c}
		if at := slices.IndexFunc(answer.Sources, func(s agent.Source) bool { return s.N == c.N }); at >= 0 {
			cited.Source = answer.Sources[at]
		}
		list = append(list, cited)
	}
	return list
}

// SourcesOf returns the places that a saved answer cites, as [View.Sources] does.
func SourcesOf(answer agent.Answer) []Cited { return (&View{Cited: CitedIn(answer)}).Sources() }

// Ending says how a saved turn ended; "" if with its answer.
func Ending(e agent.Exchange) string {
	switch {
	case e.Running:
		return "another LifeHub is answering this"
	case e.Undone:
		return "undone"
	case e.Answer.Error != "":
		return "error: " + e.Answer.Error
	case e.Open:
		return "LifeHub was stopped during this answer"
	case e.Answer.Cut:
		return "stopped"
	}
	return ""
}

// Resumable reports whether a saved turn can be resumed, if it is the last one: it has no whole answer.
func Resumable(e agent.Exchange) bool { return !e.Running && !e.Undone && Ending(e) != "" }
