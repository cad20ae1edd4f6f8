package turn

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/internal/testenv"
	"lifehub/internal/text"
	"lifehub/llm"
)

// passagesOf cuts real notes into sources of a dozen lines.
func passagesOf(t *testing.T, folder string, most int) (sources []agent.Source) {
	root := testenv.Shared(t, folder)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" || len(sources) >= most {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(text) {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimRight(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
		for at := 0; at < len(lines) && at < 36; at += 12 {
			piece := lines[at:min(at+12, len(lines))]
			for len(piece) > 0 && strings.TrimSpace(piece[len(piece)-1]) == "" {
				piece = piece[:len(piece)-1]
			}
			if len(piece) > 0 {
				sources = append(sources, agent.Source{Path: filepath.ToSlash(name), Line: at + 1, EndLine: at + len(piece), Text: strings.Join(piece, "\n")})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// Each sentence of real notes, quoted or said with its number, is verified on
// its own lines; said with the number of another note, it is not.
func TestSentencesOfRealNotesAreVerifiedOnTheirLines(t *testing.T) {
	for _, folder := range []string{"til-jbranchaud", "kepano-vault", "logseq-docs", "obsidian-tasks", "odd-prettier"} {
		t.Run(folder, func(t *testing.T) {
			passages := passagesOf(t, "data/corpora/"+folder, 240/share)
			quoted, said, missed, wrong := 0, 0, 0, 0
			for i, p := range passages {
				other := passages[(i+len(passages)/2)%len(passages)]
				sources := numbered(p, other)
				for _, s := range text.Sentences(p.Text) {
					words := p.Text[s.Start:s.End]
					if s.Kind != text.Prose || len(citation.Content(words)) < 4 || strings.ContainsAny(words, "“”\"„«»`[]") || strings.Contains(words, "...") || strings.Contains(words, "…") {
						continue
					}
					quoted++
					for _, c := range citation.Check("“"+strings.Join(strings.Fields(words), " ")+"” [1]", sources, nil) {
						at := strings.Join(strings.Split(p.Text, "\n")[max(0, c.Line-p.Line):min(c.EndLine-p.Line+1, strings.Count(p.Text, "\n")+1)], "\n")
						if c.Verdict != agent.Verified || citation.IndexOf(text.Tokens(at), text.Tokens(words), 0) < 0 {
							t.Errorf("%s:%d quoted %q is %s on %d-%d", p.Path, p.Line+s.Line, words, c.Verdict, c.Line, c.EndLine)
						}
					}
					said++
					for _, c := range citation.Check(strings.TrimRight(strings.Join(strings.Fields(words), " "), ".:")+" [1].", sources, nil) {
						if c.Verdict != agent.Verified {
							missed++
						}
					}
					if strings.Contains(other.Text, words) {
						continue
					}
					for _, c := range citation.Check("“"+words+"” [2]", sources, nil) {
						if c.Verdict == agent.Verified && citation.IndexOf(text.Tokens(other.Text), text.Tokens(words), 0) < 0 {
							wrong++
							t.Logf("verified in %s: %q", other.Path, words)
						}
					}
				}
			}
			t.Logf("%d passages: %d sentences quoted; of %d said in their own words %d not verified; %d verified in another note", len(passages), quoted, said, missed, wrong)
			if quoted < 80/share || wrong > 0 || missed*20 > said+20 {
				t.Errorf("%d sentences, %d missed, %d wrong", quoted, missed, wrong)
			}
		})
	}
}

// What the offline provider quotes is verified, on every passage.
func TestOfflineAnswersAreVerified(t *testing.T) {
	passages := passagesOf(t, "data/corpora/til-jbranchaud", 400/share)
	verdicts := map[agent.Verdict]int{}
	for _, p := range passages {
		sentences := text.Sentences(p.Text)
		if len(sentences) == 0 || strings.HasPrefix(p.Text[sentences[0].Start:], "![") {
			continue // an empty code block, or a picture, which nobody asks about by its address
		}
		p.N, p.Score = 1, 0.9
		question := "What do my notes say about " + p.Text[sentences[0].Start:sentences[0].End] + "?"
		answer, _, err := llm.Collect(llm.NewOffline().Stream(t.Context(), llm.Request{Task: &llm.Task{
			Kind: llm.ExplainTask, Question: question, Sources: []llm.Source{{N: 1, Title: p.Title(), Text: p.Text, Score: 0.9}},
			Results: []llm.Result{{Tool: "search_notes", Status: "done", Cited: true}},
		}}))
		if err != nil {
			t.Fatal(err)
		}
		answered := newTurn(New(Options{History: &shelf{}}), "c", nil)
		answered.seen.result(agent.Result{Sources: []agent.Source{p}})
		for _, c := range answered.unread(t.Context(), answer.Text) {
			t.Errorf("%s is %s, in\n%s\nof\n%s", c.Place(), c.Detail, answer.Text, p.Text)
		}
		for _, c := range citation.Check(answer.Text, []agent.Source{p}, nil) {
			if c.Words != "" && (&turn{question: question}).wasSaid(c.Words) {
				continue
			}
			verdicts[c.Verdict]++
			if c.Verdict == agent.NotFound {
				t.Errorf("%s: in\n%s\nof\n%s", c.Verdict, answer.Text, p.Text)
			}
		}
	}
	t.Logf("%d answers: %v", len(passages), verdicts)
	if verdicts[agent.Verified]*20 < 19*(verdicts[agent.Verified]+verdicts[agent.Paraphrase]) {
		t.Errorf("verdicts %v", verdicts)
	}
}
