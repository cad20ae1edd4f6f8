package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// unlikely reports whether the notes were searched without finding a likely
// answer, and neither another tool nor the memory provided anything.
func (a *answer) unlikely() bool { return !a.recalled.Fits() && nothingIn(a.steps.found) }

// nothingIn reports whether the notes were searched and no call found a likely
// answer.
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

// failure names the tools that failed; "" if none did.
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

// doubt sets the start of the answer: which tools failed, what the notes lack, and what comes closest.
func (a *answer) doubt() {
	if a.noneOfTime() {
		a.unanswered, a.nearestSources, a.events.Lead = true, []agent.Source{}, a.failure()+a.lacks()+"\n\n"
		return
	}
	a.nearestSources = a.nearest()
	a.unanswered = !semanticOnly(a.steps.found)
	a.close = slices.ContainsFunc(a.steps.found, func(f finding) bool { return f.Result.Close })
	parts := []string{"Your notes don't say.", a.lacks()}
	if !a.unanswered {
		parts = []string{cmp.Or(a.lacks(), "No exact match.")}
	}
	if len(a.nearestSources) > 0 {
		names := make([]string, len(a.nearestSources))
		for i, s := range a.nearestSources {
			names[i] = fmt.Sprintf("`%s`", strings.ReplaceAll(text.OneLine(s.Title()), "`", "'"))
		}
		how := "Nearest notes: "
		switch {
		case !a.unanswered:
			how = closestMeaning + " "
		case a.close:
			how = "Related, but not an answer: "
		}
		parts = append(parts, how+strings.Join(names, ", ")+".")
	}
	a.events.Lead = a.failure() + strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ") + "\n\n"
}

// semanticOnly reports whether a search returned only the semantically closest
// passages.
func semanticOnly(found []finding) bool {
	return slices.ContainsFunc(found, func(f finding) bool { return f.Status == agent.Done && f.Result.SemanticOnly })
}

// noneOfTime reports whether only notes of a certain period can answer, and
// there are none.
func (a *answer) noneOfTime() bool {
	return a.coverage != nil && a.coverage.Time != nil && a.coverage.Time.Only && a.coverage.Time.Notes == 0
}

// listTime puts a list of the notes of the requested period before the answer.
func (a *answer) listTime() {
	if a.coverage == nil || a.coverage.Time.Listed() == "" {
		return
	}
	a.events.Lead = a.coverage.Time.Listed() + "\n\n"
}

// maxNearest bounds the near misses listed.
const maxNearest = 3

// nearest returns the best sources, one for each note; never nil.
func (a *answer) nearest() []agent.Source {
	list := []agent.Source{}
	named := map[string]bool{}
	for _, s := range a.sources[:a.foundSources] {
		if s.Call == "" && !named[s.Vault+"/"+s.Path] && len(list) < maxNearest {
			named[s.Vault+"/"+s.Path] = true
			list = append(list, s)
		}
	}
	return list
}
