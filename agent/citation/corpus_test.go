package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/internal/text"
)

// Each sentence of real notes, quoted or repeated with the number of its source, is
// verified on its own lines; with the number of another note it is not.
func TestSentencesOfRealNotesAreVerified(t *testing.T) {
	for _, folder := range []string{"til-jbranchaud", "kepano-vault", "logseq-docs", "obsidian-tasks", "odd-prettier"} {
		t.Run(folder, func(t *testing.T) {
			passages := agenttest.Passages(t, "data/corpora/"+folder, 40)
			quoted, paraphrased, missed, wrong := 0, 0, 0, 0
			for i, p := range passages {
				other := passages[(i+len(passages)/2)%len(passages)]
				sources := numbered(p, other)
				for _, s := range text.Sentences(p.Text) {
					words := p.Text[s.Start:s.End]
					if !s.Kind.Prose() || len(contentOf(words)) < 4 || strings.ContainsAny(words, "“”\"„«»`[]<") ||
						strings.Contains(words, "...") || strings.Contains(words, "…") {
						continue
					}
					quoted++
					for _, c := range Check("“"+strings.Join(strings.Fields(words), " ")+"” [1]", sources, nil) {
						at := strings.Join(strings.Split(p.Text,
							"\n")[max(0, c.Line-p.Line):min(c.EndLine-p.Line+1, strings.Count(p.Text, "\n")+1)], "\n")
						if c.Verdict != agent.Verified || indexOf(text.Tokens(at), text.Tokens(words), 0) < 0 {
							t.Errorf("%s:%d quoted %q is %s on %d-%d", p.Path, p.Line+s.Line, words,
								c.Verdict, c.Line, c.EndLine)
						}
					}
					paraphrased++
					for _, c := range Check(strings.TrimRight(strings.Join(strings.Fields(words), " "), ".:")+" [1].",
						sources, nil) {
						if c.Verdict != agent.Verified {
							missed++
							t.Logf("%q is %s: %s", words, c.Verdict, c.Detail)
						}
					}
					if strings.Contains(other.Text, words) {
						continue
					}
					for _, c := range Check("“"+words+"” [2]", sources, nil) {
						if c.Verdict == agent.Verified && indexOf(text.Tokens(other.Text), text.Tokens(words), 0) < 0 {
							wrong++
							t.Logf("verified in %s: %q", other.Path, words)
						}
					}
				}
			}
			t.Logf("%d passages: %d sentences quoted; of %d said in their own words %d without a tick; %d verified "+
				"in another note", len(passages), quoted, paraphrased, missed, wrong)
			if quoted < 10 || wrong > 0 || missed*20 > paraphrased+20 {
				t.Errorf("%d sentences, %d missed, %d wrong", quoted, missed, wrong)
			}
		})
	}
}
