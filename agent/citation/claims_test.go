package citation

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/internal/text"
)

// sharedClaim is a case of ../shared/data/claims: an answer that cites its sources.
type sharedClaim struct {
	Kind    string
	True    bool
	Answer  string
	Sources []string
}

func (c sharedClaim) sources() (list []agent.Source) {
	for i, s := range c.Sources {
		list = append(list, agent.Source{N: i + 1, Path: "source.md", Line: 1, EndLine: 1 + strings.Count(s, "\n"), Text: s})
	}
	return list
}

func sharedClaims(t testing.TB) (list []sharedClaim) {
	file, err := os.ReadFile(testenv.Shared(t, "data/claims/cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		var c sharedClaim
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func has(citations []agent.Citation, verdict agent.Verdict) bool {
	return slices.ContainsFunc(citations, func(c agent.Citation) bool { return c.Verdict == verdict })
}

func details(citations []agent.Citation) (list []string) {
	for _, c := range citations {
		if c.Verdict == agent.Differs && !slices.Contains(list, c.Detail) {
			list = append(list, c.Detail)
		}
	}
	return list
}

// What is quoted from its source is verified, what a paper contradicts has no
// tick, and few sentences of true answers are said to differ.
func TestFiguresOfClaims(t *testing.T) {
	type tally struct{ all, verified, differs int }
	kinds := map[string]*tally{}
	models := tally{}
	for i, c := range sharedClaims(t) {
		if i%share != 0 {
			continue
		}
		k := kinds[c.Kind]
		if k == nil {
			k = &tally{}
			kinds[c.Kind] = k
		}
		got := Check(c.Answer, c.sources(), nil)
		k.all++
		if has(got, agent.Verified) {
			k.verified++
		}
		if has(got, agent.Differs) {
			k.differs++
			if c.True {
				t.Logf("%s: %q differs: %s", c.Kind, c.Answer, details(got))
			}
		}
	}
	for kind, k := range kinds {
		t.Logf("%s: %+v", kind, *k)
		if strings.Contains(kind, "model answer") {
			models.all, models.differs = models.all+k.all, models.differs+k.differs
		}
	}
	t.Logf("%d of %d sentences of true answers are said to differ: %.1f %%", models.differs, models.all, 100*float64(models.differs)/float64(models.all))
	if share == 1 && models.differs*1000 > mostWronglyDiffer*models.all {
		t.Error("too many")
	}
	if k := kinds["scifact CONTRADICT"]; k.verified > 0 {
		t.Errorf("%d contradicted claims have a tick", k.verified)
	}
	if k := kinds["quoted answer span, wrong note"]; k.verified > 0 {
		t.Errorf("%d quotations of another note have a tick", k.verified)
	}
	if k := kinds["quoted answer span (xquad)"]; k.verified*100 < 98*k.all {
		t.Errorf("%d of %d true quotations have a tick", k.verified, k.all)
	}
}

// aNot is a "not" that can be left out of a sentence.
var aNot = regexp.MustCompile(`\b(?:not|never) |n['’]t\b`)

// mutations make another claim of a true one.
var mutations = map[string]func(r *rand.Rand, c sharedClaim) (string, bool){
	"no negation": func(r *rand.Rand, c sharedClaim) (string, bool) {
		said := aNot.ReplaceAllString(c.Answer, "")
		return said, said != c.Answer
	},
	"number": func(r *rand.Rand, c sharedClaim) (string, bool) {
		at := pick(r, aNumber.FindAllStringIndex(strings.Split(c.Answer, " [1]")[0], -1))
		if at == nil {
			return "", false
		}
		was := c.Answer[at[0]:at[1]]
		now := []byte(was)
		i := r.IntN(len(now))
		now[i] = '1' + (now[i]-'0'+byte(r.IntN(8)))%9
		return c.Answer[:at[0]] + string(now) + c.Answer[at[1]:], string(now) != was
	},
	"name": func(r *rand.Rand, c sharedClaim) (string, bool) {
		said, _, _ := strings.Cut(c.Answer, " [1]")
		tokens := text.Tokens(said)
		all := strings.Join(c.Sources, " ")
		var names []text.Token
		for i, tok := range tokens {
			word := said[tok.Start:tok.End]
			if tok.Capital && !tok.Stop && len(word) > 3 && i > 0 && !strings.Contains(all, " "+strings.ToLower(word)) {
				names = append(names, tok)
			}
		}
		if len(names) == 0 {
			return "", false
		}
		n := names[r.IntN(len(names))]
		other := []string{"Marlene", "Kowalski", "Uppsala", "Toshiba", "Bolivia", "Hannover", "Quimby", "Saturday"}[r.IntN(8)]
		return c.Answer[:n.Start] + other + c.Answer[n.End:], true
	},
	"unit": func(r *rand.Rand, c sharedClaim) (string, bool) {
		said, _, _ := strings.Cut(c.Answer, " [1]")
		tokens := text.Tokens(said)
		for i, tok := range tokens[min(1, len(tokens)):] {
			if unicode.IsNumber(FirstRune(said[tok.Start:])) {
				continue // $5, whose sign stands before it
			}
			if unit := text.Unit(tok.Text); unit != "" && said[tok.Start:tok.End] != tokens[i].Text && tok.Start > tokens[i].Start && unicode.IsNumber(FirstRune(tokens[i].Text)) {
				other := []string{"km", "kg", "€", "hours", "°F", "GB", "litres", "dollars"}[r.IntN(8)]
				return c.Answer[:tok.Start] + " " + other + c.Answer[tok.End:], text.Unit(other) != unit
			}
		}
		return "", false
	},
	"negation": func(r *rand.Rand, c sharedClaim) (string, bool) {
		if slices.ContainsFunc(text.Tokens(c.Answer), func(t text.Token) bool { return text.Is(t.Text, text.Not) }) {
			return "", false // twice "not" is none
		}
		for _, verb := range []string{" is ", " are ", " was ", " were ", " can ", " has ", " have ", " will ", " may ", " should ", " could "} {
			if strings.Count(c.Answer, verb) == 1 {
				return strings.Replace(c.Answer, verb, verb+"not ", 1), true
			}
		}
		return "", false
	},
}

func pick(r *rand.Rand, list [][]int) []int {
	if len(list) == 0 {
		return nil
	}
	return list[r.IntN(len(list))]
}

// mostWronglyDiffer, in thousandths, and how many percent of changed sentences
// are shown as different, as measured; with leave for the share of a short run.
const mostWronglyDiffer = 50

var leastShown = map[string]map[string]int{
	"answers": {"number": 95, "name": 91, "unit": 95, "negation": 83, "no negation": 20},
	"notes":   {"number": 90, "name": 95, "unit": 95, "negation": 94, "no negation": 75},
}

// saidInNotes makes claims of sentences of real notes, in their own words.
func saidInNotes(t *testing.T) (claims []sharedClaim) {
	for _, folder := range []string{"til-jbranchaud", "kepano-vault", "logseq-docs", "obsidian-tasks"} {
		for _, p := range passagesOf(t, "data/corpora/"+folder, 500) {
			for _, s := range text.Sentences(p.Text) {
				said := strings.TrimRight(strings.Join(strings.Fields(p.Text[s.Start:s.End]), " "), ".:")
				if s.Kind == text.Prose && len(contentOf(said)) > 3 && !strings.ContainsAny(said, "“”\"„«»`[]|#{}<>/") && unicode.IsUpper(FirstRune(said)) {
					claims = append(claims, sharedClaim{Answer: said + " [1].", Sources: []string{p.Text}})
				}
			}
		}
	}
	return claims
}

// A number, name or unit that is another one, a "not" too many and one too few
// are shown: in answers of real models, and in sentences of notes.
func TestChangesAreShown(t *testing.T) {
	var answers []sharedClaim
	for _, c := range sharedClaims(t) {
		if c.True && strings.Contains(c.Kind, "model answer") {
			answers = append(answers, c)
		}
	}
	for from, claims := range map[string][]sharedClaim{"answers": answers, "notes": saidInNotes(t)} {
		r := rand.New(rand.NewPCG(15, 15))
		made, shown := map[string]int{}, map[string]int{}
		const most = 1000
		for i, c := range claims {
			if i%share != 0 {
				continue
			}
			if got := Check(c.Answer, c.sources(), nil); has(got, agent.NotFound) || has(got, agent.Differs) {
				continue
			}
			for _, kind := range slices.Sorted(maps.Keys(mutations)) {
				answer, ok := mutations[kind](r, c)
				if !ok || made[kind] == most {
					continue
				}
				made[kind]++
				if got := Check(answer, c.sources(), nil); has(got, agent.Differs) || has(got, agent.NotFound) {
					shown[kind]++
				} else {
					t.Logf("%s, %s not shown: %s", from, kind, answer)
				}
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(mutations)) {
			t.Logf("%s, %s: %d of %d are shown as different (%.1f %%)", from, kind, shown[kind], made[kind], 100*float64(shown[kind])/float64(made[kind]))
			if share == 1 && shown[kind]*100 < leastShown[from][kind]*made[kind] {
				t.Errorf("%s, %s: less than %d %%", from, kind, leastShown[from][kind])
			}
		}
	}
}

// The time of a check, on answers of real models and their passages.
func BenchmarkCheck(b *testing.B) {
	claims := sharedClaims(b)
	for b.Loop() {
		for _, c := range claims {
			Check(c.Answer, c.sources(), nil)
		}
	}
}
