package eval

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/offline"
	"lifehub/rag"
)

// offlineAnswer is what the offline provider answers from a search of x, and
// the notes that it quotes, in order.
func offlineAnswer(t *testing.T, x *rag.Index, q Question) (answer string, quoted []string) {
	t.Helper()
	query, err := rag.ParseQuery(planned(t, q))
	if err != nil {
		t.Fatal(err)
	}
	if q.Scope != "" {
		query.Paths = []string{q.Scope}
	}
	found, err := x.Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	task := llm.Task{
		Kind: llm.ExplainTask, Question: q.Text, History: said(q), Unlikely: found.Declined(), Close: found.Close,
		Results: []llm.Result{{Tool: "search_notes", Status: "done", Cited: true}},
	}
	for i, p := range found.Passages {
		task.Sources = append(task.Sources, llm.Source{N: i + 1, Title: p.Path + " " + p.Heading, Text: p.Text, Score: p.Score, Untrusted: p.Untrusted, Dated: p.Dated})
	}
	message, _, err := llm.Collect(offline.New().Stream(t.Context(), llm.Request{Task: &task}))
	if err != nil {
		t.Fatal(err)
	}
	for _, cited := range citedNumber.FindAllStringSubmatch(message.Text, -1) {
		n, err := strconv.Atoi(cited[1])
		if err != nil || n > len(found.Passages) {
			t.Fatalf("%s: cites %s in\n%s", q.Text, cited[0], message.Text)
		}
		quoted = append(quoted, found.Passages[n-1].Path)
	}
	return message.Text, quoted
}

var citedNumber = regexp.MustCompile(`(?m) \[(\d+)\]$`)

// TestOfflineQuotesHoldTheAnswer: the first note that the offline provider
// quotes is one that holds the answer, and what it quotes holds it word for
// word, for at least these shares of each bench's questions. Every fifth
// question of the quick benches is asked, with a tenth of slack; LIFEHUB_EVAL=1
// asks all.
func TestOfflineQuotesHoldTheAnswer(t *testing.T) {
	t.Parallel()
	if testenv.Race {
		t.Skip("the benches run without the race detector")
	}
	for _, least := range []struct {
		bench       string
		note, words float64 // share of the questions; words 0: the bench has no short answers
	}{
		{"bfcl-memory", 0.8533, 0.7600},
		{"qmd-mini", 0.8605, 0},
		{"product-docs-qa", 0.8200, 0},
		{"xquad-zh", 0.9065, 0.7862},
		{"xquad-en", 0.9337, 0.8515},
		{"xquad-de2en", 0.4150, 0},
		{"mtrag-un-pool", 0.7273, 0},
	} {
		if os.Getenv("LIFEHUB_EVAL") == "" && !slices.Contains(quick, least.bench) {
			continue
		}
		t.Run(least.bench, func(t *testing.T) {
			x, bench, ids := indexedOnce(t, least.bench)
			answers := answersOf(t, least.bench)
			step, slack := 5, 0.1
			if os.Getenv("LIFEHUB_EVAL") != "" {
				step, slack = 1, 0.0001
			}
			asked, known, note, words := 0.0, 0.0, 0.0, 0.0
			for i := 0; i < len(bench.Questions); i += step {
				q := bench.Questions[i]
				answer, quoted := offlineAnswer(t, x, q)
				asked++
				if len(quoted) > 0 && q.Relevant[ids[quoted[0]]] > 0 {
					note++
				}
				if len(answers[q.ID]) > 0 {
					known++
				}
				if slices.ContainsFunc(answers[q.ID], func(a string) bool { return strings.Contains(strings.ToLower(answer), strings.ToLower(a)) }) {
					words++
				}
			}
			note, words = note/asked, words/max(known, 1)
			t.Logf("of %.0f questions %.4f quote first a note that holds the answer; of %.0f with a short answer %.4f quote it", asked, note, known, words)
			if note < least.note-slack || words < least.words-slack {
				t.Errorf("want %.4f and %.4f", least.note, least.words)
			}
		})
	}
}

// answersOf are the answers of a bench's questions that are a few words long.
func answersOf(t *testing.T, bench string) map[string][]string {
	t.Helper()
	answers := map[string][]string{}
	if err := readLines(filepath.Join(testenv.Shared(t, "data/bench/"+bench), "queries.jsonl"), func(line []byte) error {
		var q struct {
			ID, Answer string
			Answers    []string
		}
		err := json.Unmarshal(line, &q)
		if answers[q.ID] = q.Answers; q.Answer != "" && len(q.Answer) < 80 {
			answers[q.ID] = append(answers[q.ID], q.Answer)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestStarterQuestions: what is asked of the starter notes is answered by a
// sentence of the note that says it.
func TestStarterQuestions(t *testing.T) {
	t.Parallel()
	x, _ := indexed(t, "../../examples/notes", llm.Ngrams{})
	for _, c := range []struct{ question, note, says string }{
		{"how often do I run?", "running/plan.md", "I run three times a week"},
		{"When is the long run?", "running/log-2026.md", "the long run on Sunday"},
		{"when do I fly to the azores?", "trips/azores/plan.md", "6 to 20 March 2027"},
		{"What do my notes say about running?", "running/plan.md", "I run three times a week"},
		{"Remind me what I wrote about running", "running/plan.md", "I run three times a week"},
		{"what is the boiler pressure supposed to be?", "daily/2026-11-20.md", "between 1.2 and 1.6 bar"},
		{"when was the boiler last serviced?", "home/boiler.md", "2025-11-20: yearly service"},
		{"Who is Marta?", "people/marta.md", "Neighbour on the second floor"},
		{"When is Marta's birthday?", "people/marta.md", "Birthday on 8 December"},
		{"what is Marta allergic to?", "people/marta.md", "Allergic to walnuts"},
		{"how do I refill the boiler?", "home/boiler.md", "Boiler off, wait until it is cold."},
		{"how much did the flights cost?", "trips/azores/plan.md", "Flights 418 €"},
		{"how long does the curry rice take?", "recipes/weeknight-curry.md", "12 minutes"},
		{"What goes into the lentil soup?", "recipes/lentil-soup.md", "The lemon goes in"},
		{"how much water for the sourdough?", "recipes/sourdough.md", "375 g water"},
		{"which shoes at the Lakeside Ten?", "running/shoes.md", "I wore them at the Lakeside Ten"},
		{"how often do I water the monstera?", "home/plants.md", "water once a week"},
		{"which backup command runs nightly?", "home/router.md", "restic backup"},
		{"when does the router restart?", "home/router.md", "on Mondays at 4:00"},
		{"我什么时候上中文课？", "people/学中文.md", "每周三晚上七点上课"},
		{"老师姓什么？", "people/学中文.md", "老师姓陈"},
		{"Wie lange muss der Apfelkuchen backen?", "recipes/apfelkuchen.md", "45 Minuten backen"},
		{"Was brauche ich für den Apfelkuchen?", "recipes/apfelkuchen.md", "200 g Butter"},
		{"what pressure for the bike tyres?", "home/bike.md", "4.5 bar behind"},
		{"where is the frame number of the bike?", "home/bike.md", "in the red folder"},
		{"when was the chain changed?", "home/bike.md", "2026-06-14"},
		{"do I need an adapter for the Azores?", "trips/azores/packing.md", "adapter is not needed"},
		{"what did I do on 2026-11-18?", "daily/2026-11-18.md", "saw a kingfisher"},
		{"when is Mum coming?", "daily/2026-11-18.md", "2026-12-05"},
		{"what should I do when my shin hurts?", "running/plan.md", "two days off"},
		{"how big is the rain barrel?", "daily/2026-11-20.md", "200 litres"},
		{"Look up the internet password in my notes", "trips/cabin.md", "inside of the pantry door"},
		{"error F28", "home/boiler.md", "Below 1.0 it shows error F28"},
		{"permit for Pico", "trips/azores/plan.md", "The mountain needs a permit"},
		{"search my notes for kingfisher", "daily/2026-11-18.md", "saw a kingfisher"},
		{"tell me about the ferry", "daily/2026-11-19.md", "twice a day in March"},
		{"boiler pressure path:home", "home/boiler.md", "between 1.2 and 1.6 bar"},
		{"what is quantum chromodynamics?", "", ""},
		{"who painted the ceiling?", "", ""},
	} {
		answer, quoted := offlineAnswer(t, x, Question{Text: c.question})
		first := append(quoted, "")[0]
		if first != c.note || !strings.Contains(answer, cmp.Or(c.says, "Without a model")) {
			t.Errorf("%s: quotes %q in\n%s", c.question, quoted, answer)
		}
	}
}
