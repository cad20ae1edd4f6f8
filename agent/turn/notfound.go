package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/passages"
	"lifehub/internal/text"
)

// unlikely reports whether the notes were searched without finding a likely
// answer, and neither another tool nor the memory provided anything.
func (t *turn) unlikely() bool { return !t.recalled.Fits() && nothingIn(t.steps.found) }

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
func (t *turn) failure() string {
	var failed []string
	for _, f := range t.steps.found[t.steps.attached:] {
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
func (t *turn) doubt() {
	if period := t.answer.coverage.OnlyTime(); period != nil && period.Notes == 0 {
		t.answer.unanswered, t.answer.nearestSources, t.events.Lead = true, []agent.Source{},
			t.failure()+t.answer.coverage.Lacks()+"\n\n"
		return
	}
	t.answer.nearestSources = t.answer.nearest()
	t.answer.unanswered = !semanticOnly(t.steps.found)
	t.answer.close = slices.ContainsFunc(t.steps.found, func(f finding) bool { return f.Result.Close })
	parts := []string{"Your notes don't say.", t.answer.coverage.Lacks()}
	if !t.answer.unanswered {
		parts = []string{cmp.Or(t.answer.coverage.Lacks(), "No exact match.")}
	}
	if len(t.answer.nearestSources) > 0 {
		names := make([]string, len(t.answer.nearestSources))
		for i, s := range t.answer.nearestSources {
			names[i] = fmt.Sprintf("`%s`", strings.ReplaceAll(text.OneLine(s.Title()), "`", "'"))
		}
		how := "Nearest notes: "
		switch {
		case !t.answer.unanswered:
			how = passages.ClosestInMeaning + " "
		case t.answer.close:
			how = "Related, but not an answer: "
		}
		parts = append(parts, how+strings.Join(names, ", ")+".")
	}
	t.events.Lead = t.failure() + strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ") +
		"\n\n"
}

// semanticOnly reports whether a search returned only the semantically closest
// passages.
func semanticOnly(found []finding) bool {
	return slices.ContainsFunc(found, func(f finding) bool { return f.Status == agent.Done && f.Result.SemanticOnly })
}

// listTime puts a list of the notes of the requested period before the answer.
func (t *turn) listTime() {
	if t.answer.coverage == nil || t.answer.coverage.Time.Listed() == "" {
		return
	}
	t.events.Lead = t.answer.coverage.Time.Listed() + "\n\n"
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
