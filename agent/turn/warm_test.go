package turn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/gate"
	"lifehub/agent/prompt"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/servers"
)

// What a warm start has the model read is what the first prompt of the conversation
// begins with, in each mode and notation; nothing is saved.
func TestWarmStartReadsWhatTheFirstPromptBeginsWith(t *testing.T) {
	for name, tc := range map[string]struct {
		mode   agent.Mode
		traits Traits
		reply  string
	}{
		"small": {
			agent.AutoMode,
			Traits{Small: true, Native: true},
			`{"tool":"answer","input":{"text":"Porto."}}`,
		},
		"native calls":  {agent.AutoMode, Traits{Native: true}, "Porto."},
		"calls as text": {agent.LoopMode, Traits{}, `{"tool":"answer","input":{"text":"Porto."}}`},
		"plan":          {agent.PlanMode, Traits{Native: true}, `{"steps":[],"answer":"Porto."}`},
		"team":          {agent.TeamMode, Traits{Native: true}, "Porto."},
	} {
		t.Run(name, func(t *testing.T) {
			model := &script{lines: []line{say("P"), say(tc.reply), say("Porto.")}}
			history := &shelf{messages: []llm.Message{
				{Role: llm.User, Text: "I go to Porto."},
				{Role: llm.Assistant, Text: "Nice."},
			}}
			o := small(model, search(), addTask())
			o.History, o.Session, o.Traits, o.Instructions = history, inMode(tc.mode), being(tc.traits), "Be kind."
			o.Notes = rereading(nil)
			a := New(o)
			if err := a.Warm(t.Context(), "c1"); err != nil || len(history.begun) > 0 || len(history.answers) > 0 {
				t.Fatalf("%v; saved %q, %+v", err, history.begun, history.answers)
			}
			collect(a.Ask(t.Context(), "c1", "Where do I go?"), nil)
			warm, first := model.requests[0], model.requests[1]
			last := len(warm.Messages) - 1
			if warm.MaxTokens != 1 || warm.Messages[last].Role != llm.User || last < 3 ||
				!strings.HasPrefix(warm.Messages[0].Text, "Be kind.") ||
				!reflect.DeepEqual(warm.Messages[:last], first.Messages[:last]) ||
				!reflect.DeepEqual(warm.Tools, first.Tools) {
				t.Errorf("read before:\n%+v\nthe first prompt:\n%+v", warm, first)
			}
		})
	}
}

// A turn that begins while the model reads the beginning searches the notes, tells how far
// the model is and asks when it has read. Stopping the turn does not stop the reading.
func TestATurnWaitsForTheWarmStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := line{text: "P", late: time.Minute, reading: &llm.Reading{
			Total: 700,
			Read:  300, Took: 10 * time.Second,
		}}
		model := &script{lines: []line{reads, say(`{"tool":"answer","input":{"text":"Three times a week."}}`)}}
		a := New(small(model, search()))
		warm := make(chan error, 1)
		began := time.Now()
		go func() { warm <- a.Warm(t.Context(), "c1") }()
		synctest.Wait()
		stopped, stop := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, stop)
		collect(a.Ask(stopped, "c1", howOften), nil)
		if took := time.Since(began); took != 10*time.Second || len(model.requests) != 1 {
			t.Errorf("stopped after %s, %d requests", took, len(model.requests))
		}
		events := collect(a.Ask(t.Context(), "c1", howOften), nil)
		told := bodies[agent.Reading](events)
		if took := time.Since(began); took != time.Minute || ended(t, events).Answer != "Three times a week." ||
			len(bodies[agent.ToolEnded](events)) != 1 {
			t.Errorf("answered %q after %s", ended(t, events).Answer, took)
		}
		if last := told[len(told)-1]; !last.Beginning || last.Tokens != 700 ||
			last.Read != 300 || last.PerSecond != 30 {
			t.Errorf("told %+v", told)
		}
		if err := <-warm; err != nil {
			t.Error(err)
		}
	})
}

// broken is a model that panics.
type broken struct{}

func (broken) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] { panic("broken") }

// A warm start that fails, or is ended with the program, holds no turn up; a model that
// refuses native calls reads the other notation.
func TestWarmStartThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := New(small(broken{})).Warm(t.Context(), "c1"); err == nil {
			t.Error("a panic is no error")
		}
		model := &script{lines: []line{
			{hangs: true},
			{err: &llm.UnsupportedError{Model: "tiny", Capability: "tools"}},
			say("P"), say("Hello."),
		}}
		o := small(model, search())
		o.Traits = being{Native: true}
		a := New(o)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := a.Warm(ctx, "c1"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := a.Warm(t.Context(), "c1"); err != nil {
			t.Error(err)
		}
		if other := model.requests[2]; other.Tools != nil || other.Schema == nil || other.MaxTokens != 1 {
			t.Errorf("asked %+v", other)
		}
		if end := ended(t, collect(a.Ask(t.Context(), "c1", "Nice day today!"), nil)); end.Answer != "Hello." {
			t.Errorf("answered %q", end.Answer)
		}
	})
}

// unlimited is a server that ignores how much it may write.
type unlimited struct{ pieces int }

func (e *unlimited) Name() string { return "unlimited" }

func (e *unlimited) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for yield(llm.Delta{Text: "word "}, nil) {
			e.pieces++
		}
	}
}

// The first question does not wait for a text that nobody reads.
func TestWarmStartEndsWhenAServerIgnoresItsLimit(t *testing.T) {
	model := &unlimited{}
	if err := New(small(model)).Warm(t.Context(), "c1"); err != nil || model.pieces != 1 {
		t.Errorf("it read on for %d pieces: %v", model.pieces, err)
	}
}

// vault is a vault whose notes a test changes.
type vault struct{ notes []agent.Source }

func (v *vault) Whole(ctx context.Context, _ int64) (list []agent.Source, _ error) {
	for _, s := range v.notes {
		if !agent.HidesNote(ctx, s.Path) {
			list = append(list, s)
		}
	}
	return list, nil
}

func (v *vault) Reread(agent.Source) (string, bool) { return "", false }
func (v *vault) About(context.Context) []string     { return nil }

func noteOf(path, text string) agent.Source {
	return agent.Source{Path: path, Vault: "/v", Line: 1, EndLine: 1 + strings.Count(text, "\n"), Text: text}
}

// wholeTalk is a conversation of a small model with a small vault.
type wholeTalk struct {
	*testing.T
	*Agent
	model *script
	vault *vault
	shelf *shelf
}

func newWholeTalk(t *testing.T, change func(*Options)) *wholeTalk {
	v := &vault{notes: []agent.Source{
		noteOf("boat.md", "# Boat\n\nThe boat lies at pier 4."),
		noteOf("bees.md", "# Bees\n\nThe bees winter in the barn."),
	}}
	w := &wholeTalk{T: t, model: &script{}, vault: v, shelf: &shelf{}}
	options := Options{
		Model: w.model, History: w.shelf, Notes: v, Session: inMode(agent.AutoMode), Now: fixedNow,
		Marks: agenttest.NewMarks(),
		Tools: tools(search(), &fakeTool{name: "read_note", schema: `{"type":"object",` +
			`"properties":{"path":{"type":"string"}}}`, reads: true}), Traits: being{Small: true},
	}
	if change != nil {
		change(&options)
	}
	w.Agent = New(options)
	w.Agent.vault.warmUp()
	return w
}

// ask asks, and returns the first request and the end of the turn.
func (w *wholeTalk) ask(question, answer string) (llm.Request, agent.Ended) {
	w.model.lines = append(w.model.lines, say(fmt.Sprintf(`{"tool":"answer","input":{"text":%q}}`, answer)))
	before := len(w.model.requests)
	end := ended(w.T, collect(w.Ask(w.Context(), "c1", question), nil))
	if n := len(w.model.requests) - before; n != 1 {
		w.Errorf("%s: %d requests, want one", question, n)
	}
	return w.model.requests[before], end
}

func system(r llm.Request) string { return r.Messages[0].Text }
func last(r llm.Request) string   { return r.Messages[len(r.Messages)-1].Text }

// A small vault is the beginning of each prompt, and stays the same while notes
// change; what changed is behind it.
func TestSmallVaultIsTheBeginningOfThePrompt(t *testing.T) {
	w := newWholeTalk(t, nil)
	first, end := w.ask("Where does the boat lie?", "The boat lies at pier 4.")
	if !strings.Contains(system(first), "[1] boat.md\n# Boat") || strings.Contains(last(first), "pier 4") {
		t.Errorf("the notes are not at the beginning:\n%s\n---\n%s", system(first), last(first))
	}
	if len(end.Sources) == 0 || end.Sources[0].Path != "boat.md" ||
		slices.ContainsFunc(end.Sources, func(s agent.Source) bool { return s.Path == "bees.md" }) {
		t.Errorf("sources %+v, want the boat and not the bees", end.Sources)
	}
	if _, end := w.ask("And the bees?", "The bees winter in the barn."); len(end.Sources) == 0 ||
		end.Sources[0].Path != "bees.md" || end.Sources[0].N != 1 || w.shelf.last().Citations[0].N != 1 {
		t.Errorf("sources %+v, want the bees with number 1; cited %+v", end.Sources, w.shelf.last().Citations)
	}
	if _, end := w.ask("In words of the notes?", "They say “winter in the barn” [2]."); len(end.Sources) == 0 ||
		end.Sources[0].N != 2 {
		t.Errorf("sources %+v, want the number that the model used", end.Sources)
	}
	w.vault.notes[1] = noteOf("bees.md", "# Bees\n\nThe bees winter in the shed.")
	w.vault.notes = append(w.vault.notes, noteOf("new.md", "The key hangs in the hall."))
	second, _ := w.ask("Where do the bees winter?", "The bees winter in the shed.")
	same, _, _ := strings.Cut(system(first), "in the barn")
	if rest, ok := strings.CutPrefix(system(second), same+"in the barn"); !ok ||
		!strings.Contains(rest, "in the shed") || !strings.Contains(rest, "The key hangs") {
		t.Errorf("the beginning changed, or what changed is not behind it:\n%s\n---\n%s", system(first), system(second))
	}
	if text := last(second); strings.Contains(text, "in the shed") {
		t.Errorf("the message repeats it:\n%s", text)
	}
	w.vault.notes = w.vault.notes[1:]
	third, _ := w.ask("And the boat?", "That is not in your notes.")
	if strings.Contains(system(third), "pier 4") || !strings.Contains(system(third), "in the shed") {
		t.Errorf("the beginning after a note was deleted:\n%s", system(third))
	}
}

// What the model may not have unasked is not in the prompt.
func TestWhatMayNotBeReadIsNotInTheBeginning(t *testing.T) {
	rule := func(text string) *gate.Rules {
		rules, err := gate.Parse("permissions.yaml", []byte("rules:\n  - "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	for name, change := range map[string]func(*Options){
		"denied":  func(o *Options) { o.Rules = rule("{tool: read_note, args: {path: 'boat.md'}, level: deny}") },
		"asked":   func(o *Options) { o.Rules = rule("{tool: read_note, args: {path: '**/boat.md'}, level: confirm}") },
		"outside": func(o *Options) { _ = o.Marks.Mark(t.Context(), "web", []string{"The boat lies at pier 4."}) },
		"a hook":  func(o *Options) { o.Before = beforeCall(func(context.Context, gate.Before) error { return nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWholeTalk(t, change)
			if first, _ := w.ask("Where do the bees winter?",
				"In the barn."); strings.Contains(system(first), "pier 4") {
				t.Errorf("it is there:\n%s", system(first))
			}
		})
	}
}

// A vault that is too large, or of which the server has read nothing, is searched.
func TestLargeVaultIsSearched(t *testing.T) {
	for name, change := range map[string]func(*wholeTalk){
		"too large": func(w *wholeTalk) {
			w.vault.notes = append(w.vault.notes, noteOf("long.md", strings.Repeat("many words ", 2000)))
		},
		"no warm-up":         func(w *wholeTalk) { w.Agent.vault = wholeVault{} },
		"half of the window": func(w *wholeTalk) { w.Server = &agenttest.Server{Tokens: 20} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWholeTalk(t, nil)
			change(w)
			if first, _ := w.ask("Where do the bees winter?",
				"In the barn."); strings.Contains(system(first), "pier 4") {
				t.Errorf("the vault is in the prompt:\n%s", system(first))
			}
		})
	}
}

// tokenizers count like those of several kinds of models.
var tokenizers = map[string]func(string) int{
	"four bytes a token": func(s string) int { return (len(s) + 3) / 4 },
	"three bytes":        func(s string) int { return (len(s) + 2) / 3 },
	"two bytes":          func(s string) int { return (len(s) + 1) / 2 },
	"a word and a half":  func(s string) int { return len(strings.Fields(s)) * 3 / 2 },
}

// Whatever the size of a prompt and however the server counts, everything that was sent
// arrives, including the canary at its beginning, or the user is notified.
func TestNoPromptIsCutInSilence(t *testing.T) {
	testenv.WithoutRace(t)
	const window = 4096
	for _, protocol := range []string{"ollama", "openai"} {
		for name, count := range tokenizers {
			t.Run(protocol+", "+name, func(t *testing.T) {
				whole, notified, silent, sizes := 0, 0, 0, testenv.Rounds(12, 30)
				if name == "four bytes a token" || name == "two bytes" { // the usual case and the worst case
					sizes = testenv.Rounds(40, 100)
				}
				for i := range sizes {
					// from a quarter of the window to four windows
					words := int(float64(window) * math.Pow(2, -2+4*float64(i)/float64(sizes)))
					switch arrived, reported := askLong(t, protocol, count, window, 0, words); {
					case arrived && !reported:
						whole++
					case reported:
						notified++
					default:
						silent++
						t.Errorf("%d words: a part is missing and nobody was told", words)
					}
				}
				t.Logf("%d prompts: %d whole, %d cut and told, %d cut in silence", sizes, whole, notified, silent)
			})
		}
	}
}

// A server with OpenAI's protocol may hide its window: Ollama's default is 4096. What it
// drops of a prompt that is longer by more than a third is noticed.
func TestServersOwnLittleWindowIsFound(t *testing.T) {
	testenv.WithoutRace(t)
	sizes := testenv.Rounds(40, 100)
	whole, notified := 0, 0
	for i := range sizes {
		words := int(4096 * math.Pow(2, -2+4*float64(i)/float64(sizes)))
		switch arrived, reported := askLong(t, "openai", tokenizers["four bytes a token"], 16384, 4096, words); {
		case reported:
			notified++
		case arrived:
			whole++
		case words > 2600:
			t.Errorf("%d words: cut in silence", words)
		}
	}
	t.Logf("%d prompts: %d whole, %d cut and told", sizes, whole, notified)
}

// askLong asks a new agent a long question in a long conversation, with a canary at the
// beginning of each prompt. It reports whether every prompt arrived complete, and
// whether the user was notified otherwise. own is the server's window if it differs
// from the requested one.
func askLong(t *testing.T, protocol string, count func(string) int, window, own, words int) (arrived, reported bool) {
	t.Helper()
	server := &llmtest.Truncating{Count: count, Window: own, Answer: func(system string) string {
		if strings.Contains(system, "You plan") {
			return searchStep
		}
		return "Done."
	}}
	if own == 0 && protocol == "openai" {
		server.Window = window
	}
	server.Start(t)
	settings := llm.Settings{
		Provider: protocol, OllamaHost: server.URL, OpenAIURL: server.URL + "/v1",
		Model: llmtest.FaultModel, Window: window,
	}
	provider, err := servers.Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	kept := &shelf{}
	for i := range 3 {
		kept.messages = append(kept.messages, llm.Message{Role: llm.User, Text: manyWords(words/8, i)},
			llm.Message{Role: llm.Assistant, Text: manyWords(words/8, -i)})
	}
	found := &fakeTool{name: "search_notes", result: agent.Result{Text: manyWords(words/2, 7)}}
	a := New(Options{
		Model: provider, Server: prompt.ServerOf(provider), History: kept, Tools: tools(found), Instructions: "CANARY",
	})
	events := collect(a.Ask(t.Context(), "c1", "What of this? "+manyWords(words/4, 3)), nil)
	ended(t, events)
	for _, n := range bodies[agent.Noticed](events) {
		reported = reported || strings.Contains(n.Text, "truncated the prompt")
	}
	arrived = server.Cuts() == 0
	for _, prompt := range server.Seen() {
		arrived = arrived && strings.HasPrefix(prompt, "CANARY")
	}
	return arrived, reported
}

// manyWords returns this many words, all slightly different.
func manyWords(words, seed int) string {
	list := strings.Fields("the boiler in cellar was mended on Tuesday by Ines who wrote that pressure had fallen " +
		"below one bar again and a valve leaked")
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "%s ", list[(i*7+seed*3+i/len(list)+len(list)*8)%len(list)])
	}
	return b.String()
}

// A window in which no prompt fits is reported once, however often it is tried.
func TestOmissionsOfPromptsAreReportedOnce(t *testing.T) {
	kept := &shelf{}
	for range 6 {
		kept.messages = append(kept.messages, llm.Message{Role: llm.User, Text: "and then?"},
			llm.Message{Role: llm.Assistant, Text: strings.Repeat("all that was said ", 200)})
	}
	model := &failing{fault: line{err: &llm.StatusError{Code: 400, Message: "too long"}}}
	events := collect(New(Options{
		Model: model, History: kept, Tools: tools(search()),
		Server: &agenttest.Server{Tokens: 900},
	}).Ask(t.Context(), "c1", "go"), nil)
	counts := map[string]int{}
	for _, n := range bodies[agent.Noticed](events) {
		if counts[n.Text]++; counts[n.Text] > 1 {
			t.Errorf("told again: %s", n.Text)
		}
	}
	if len(counts) < 2 {
		t.Errorf("told %v", counts)
	}
}
