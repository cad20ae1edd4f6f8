package turn

import (
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// unlikely reports whether the turn searched the notes, no search found what
// likely answers, and neither another tool nor memory brought something.
func (t *turn) unlikely() bool {
	if t.fitting() {
		return false
	}
	searched := false
	for _, f := range t.found {
		switch {
		case f.status != agent.Done || f.same != "":
		case f.result.Searched && (f.result.Unlikely || f.result.Nothing):
			searched = true
		case !f.result.Nothing:
			return false
		}
	}
	return searched
}

// doubt puts before the answer that the notes don't say, and what comes
// nearest. The names of the user's own notes are no sign of untrusted text.
func (t *turn) doubt() {
	t.unanswered = t.nearest()
	t.gap = "Your notes don't say."
	if len(t.unanswered) > 0 {
		names, own := make([]string, len(t.unanswered)), []string{}
		for i, s := range t.unanswered {
			if !s.Untrusted {
				own = append(own, s.Title())
			}
			names[i] = fmt.Sprintf("`%s`", strings.ReplaceAll(text.OneLine(s.Title()), "`", "'"))
		}
		t.provenance.addOwn(own)
		t.gap += " Nearest: " + strings.Join(names, ", ") + "."
	}
	t.gap += "\n\n"
}

// maxNearest bounds the near misses that are named.
const maxNearest = 3

// nearest are the best places of the searches, one a note; never nil.
func (t *turn) nearest() []agent.Source {
	places := []agent.Source{}
	named := map[string]bool{}
	for _, s := range t.sources[:t.foundSources] {
		if s.Call == "" && !named[s.Vault+"/"+s.Path] && len(places) < maxNearest {
			named[s.Vault+"/"+s.Path] = true
			places = append(places, s)
		}
	}
	return places
}
