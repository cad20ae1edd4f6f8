package turn

import (
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// unlikely reports whether the turn searched the notes, no search found what
// likely answers, and neither another tool nor memory brought something.
func (a *answer) unlikely() bool { return !a.recalled.Fits() && nothingIn(a.steps.found) }

// nothingIn reports whether there was a search of the notes, and neither it
// nor another call brought what likely answers.
func nothingIn(found []finding) bool {
	searched := false
	for _, f := range found {
		switch {
		case f.Status != agent.Done || f.same != "":
		case f.Result.Unlikely:
			searched = true
		case !f.Result.Nothing:
			return false
		}
	}
	return searched
}

// failure says which tools failed; "": none did.
func (a *answer) failure() string {
	var failed []string
	for _, f := range a.steps.found[a.steps.attached:] {
		name := "`" + f.step.Tool + "`"
		switch {
		case f.Status == agent.StepFailed && !slices.Contains(failed, name):
			failed = append(failed, name)
		}
	}
	if len(failed) == 0 {
		return ""
	}
	return strings.Join(failed, ", ") + " failed. "
}

// doubt puts before the answer what failed, that the notes don't say, and what
// comes nearest. The names of the user's own notes are no sign of untrusted text.
func (a *answer) doubt() {
	if a.noneOfTime() {
		a.unanswered, a.nearestSources, a.events.Lead = true, []agent.Source{}, a.failure()+"No notes from "+a.coverage.Time.Days+".\n\n"
		return
	}
	a.nearestSources = a.nearest()
	a.unanswered = !a.byMeaning()
	a.close = slices.ContainsFunc(a.steps.found, func(f finding) bool { return f.Result.Close })
	a.events.Lead = a.failure() + "Your notes don't say."
	if !a.unanswered {
		a.events.Lead = a.failure() + "No note has these words."
	}
	if len(a.nearestSources) > 0 {
		names, own := make([]string, len(a.nearestSources)), []string{}
		for i, s := range a.nearestSources {
			if !s.Untrusted {
				own = append(own, s.Title())
			}
			names[i] = fmt.Sprintf("`%s`", strings.ReplaceAll(text.OneLine(s.Title()), "`", "'"))
		}
		a.record.AddOwn(own...)
		how := "Nothing close. Nearest notes: "
		switch {
		case !a.unanswered:
			how = "Closest in meaning: "
		case a.close:
			how = "Related, but not an answer: "
		}
		a.events.Lead += " " + how + strings.Join(names, ", ") + "."
	}
	a.events.Lead += "\n\n"
}

// byMeaning reports whether a search lists what is closest in meaning.
func (a *answer) byMeaning() bool {
	return slices.ContainsFunc(a.steps.found, func(f finding) bool { return f.Status == agent.Done && f.Result.ByMeaning })
}

// noneOfTime reports whether only notes of a time are an answer, and there is none.
func (a *answer) noneOfTime() bool {
	return a.coverage != nil && a.coverage.Time != nil && a.coverage.Time.Only && a.coverage.Time.Notes == 0
}

// listTime puts the notes of the time that is asked for before the answer.
func (a *answer) listTime() {
	if a.coverage == nil || a.coverage.Time.Listed() == "" {
		return
	}
	for _, n := range a.coverage.Time.List {
		a.record.AddOwn(n.Path)
	}
	a.events.Lead = a.coverage.Time.Listed() + "\n\n"
}

// maxNearest bounds the near misses that are named.
const maxNearest = 3

// nearest are the best places of the searches, one a note; never nil.
func (a *answer) nearest() []agent.Source {
	places := []agent.Source{}
	named := map[string]bool{}
	for _, s := range a.sources[:a.foundSources] {
		if s.Call == "" && !named[s.Vault+"/"+s.Path] && len(places) < maxNearest {
			named[s.Vault+"/"+s.Path] = true
			places = append(places, s)
		}
	}
	return places
}
