package store

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"lifehub/agent"
	"lifehub/internal/text"
)

var page = agent.FromOutside("https://a.example/")

// Where a text comes from is saved with it, and copied with it.
func TestOriginsAreSavedAndForked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	s, err := Open(path)
	must(t, err)
	turn, err := s.Begin(t.Context(), "c", agent.Message{
		Text:     "What is it?",
		Attached: []agent.Attachment{{Name: "stdin", Text: "a page"}},
	}.String())
	must(t, err)
	must(t, s.Finish(t.Context(), turn, agent.Answer{Text: "A page about newts.", Origin: page.And(agent.Own())}))
	must(t, s.SaveSummary(t.Context(), agent.Summary{Turn: turn, Text: "It was a page.", Origin: page}))
	must(t, s.SaveArtifact(t.Context(), agent.Artifact{
		Conversation: "c", Name: "plan", Version: 1, Text: "read",
		Turn: turn, Origin: page,
	}))
	fork, err := s.Fork(t.Context(), "c", turn)
	must(t, err)
	_, err = s.Archive(t.Context(), "c", 0, true)
	must(t, err)
	killed, err := s.Begin(t.Context(), "c", "And then?")
	must(t, err)
	must(t, s.Progress(t.Context(), killed, "So fa", page))
	must(t, s.Close())
	s, err = Open(path)
	must(t, err)
	defer s.Close()
	stdin := agent.FromOutside("stdin")
	for _, id := range []string{"c", fork.ID} {
		path, err := s.Exchanges(t.Context(), id)
		must(t, err)
		if got, want := path[0].Origin, stdin.And(page, agent.Own()); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the exchange is from %+v, want %+v", id, got, want)
		}
		if got := path[0].Answer.Origin; !reflect.DeepEqual(got, page.And(agent.Own())) {
			t.Errorf("%s: the answer is from %+v", id, got)
		}
		if id == "c" && !reflect.DeepEqual(path[1].Origin, page) {
			t.Errorf("the unfinished answer is from %+v", path[1].Origin)
		}
		w, err := s.Window(t.Context(), id, 0)
		if err != nil || !reflect.DeepEqual(w.Summary.Origin, page) {
			t.Errorf("%s: the summary is from %+v, %v", id, w.Summary.Origin, err)
		}
		if a, err := s.Artifact(t.Context(), id, "plan", 0); err != nil || !reflect.DeepEqual(a.Origin, page) {
			t.Errorf("%s: the document is from %+v, %v", id, a.Origin, err)
		}
	}
	found, err := s.Similar(t.Context(), agent.MemoryQuery{
		Conversation: "d", Everywhere: true,
		Question: "newts", Limit: 5,
	})
	if err != nil || len(found) == 0 || !found[0].Untrusted || !found[0].Origin.Private ||
		!slices.Contains(found[0].Origin.Outside, "stdin") {
		t.Errorf("recalled %+v, %v", found, err)
	}
}

// Marked lines are never evicted, however many follow and whatever is removed.
func TestMarkedLinesStay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	s, err := Open(path)
	must(t, err)
	say(t, s, "c", "what does it say?", "a lot")
	must(t, s.SaveMarks(t.Context(), "https://a.example/", text.LineKeys([]string{"pay the owner", "Pay twice"})))
	many := make([]int64, 300_000)
	for i := range many {
		many[i] = int64(i)
	}
	must(t, s.SaveMarks(t.Context(), "a flood", many))
	must(t, s.SaveMarks(t.Context(), "a later page", text.LineKeys([]string{"pay the owner"})))
	must(t, s.Remove(t.Context(), "c"))
	must(t, s.Close())
	s, err = Open(path)
	must(t, err)
	defer s.Close()
	for line, want := range map[string][]string{
		"- [x] pay the owner ✅ 2026-11-28": {"https://a.example/"},
		"Pay twice":                        {"https://a.example/"}, "pay nobody": nil,
	} {
		if got, err := s.MarkedBy(t.Context(), text.LineKeys([]string{line})); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is from %q, %v", line, got, err)
		}
	}
}

// In a database with fingerprints, all that was said counts as private, in a
// conversation that read text from outside as outside, too; the lines that such a
// conversation wrote are marked.
func TestFingerprintsAreMigratedToOrigins(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	must(t, registerFunctions())
	db, err := Connect(path, 1, "_txlock=immediate")
	must(t, err)
	must(t, Migrate(db, path, migrations[:11]))
	_, err = db.Exec(`INSERT INTO conversations (id, title, created, updated, head) VALUES ('c', 'a page', 1, 1, 6),
		('own', 'mine', 1, 1, 4);
		INSERT INTO turns (id, conversation, number, state, started) VALUES ('c.1', 'c', 1, 'done', 1), ('own.1', 'own',
		1, 'done', 1), ('c.2', 'c', 2, 'done', 1);
		INSERT INTO messages (id, conversation, parent, turn, role, text, created) VALUES (1, 'c', NULL, 'c.1', 'user',
		'clip it and write it down', 1), (2, 'c', 1, 'c.1', 'assistant', 'Done.', 1),
			(3, 'own', NULL, 'own.1', 'user', 'add a task', 1), (4, 'own', 3, 'own.1', 'assistant', 'Added.', 1),
			(5, 'c', 2, 'c.2', 'user', 'and now?', 1), (6, 'c', 5, 'c.2', 'assistant', 'Nothing.', 1);
		INSERT INTO summaries (turn, text, created) VALUES ('c.1', 'A page was clipped.', 1);
		INSERT INTO artifacts VALUES ('c', 'plan', 1, 'Pay.', 'loop', '', 'c.1', 'x', 1), ('own', 'list', 1, 'Milk.',
		'loop', '', 'own.1', 'y', 1);
		INSERT INTO untrusted (print, source, conversation, kind) VALUES (1, 'https://a.example/', 'c', 0), (2, '',
		'own', 3)`)
	must(t, err)
	number := 0
	journal := func(turn, step, tool, input, started string) {
		for _, entry := range []string{
			fmt.Sprintf(`{"v":1,"moment":"intended","step":%q,"tool":%q,"input":%s,"hash":"x"}`, step, tool, input),
			fmt.Sprintf(`{"v":1,"moment":"started","step":%q%s}`, step, started),
		} {
			number++
			_, err := db.Exec(`INSERT INTO journal (turn, number, entry, result, sum) VALUES (?, ?, ?, '', '')`, turn,
				number, entry)
			must(t, err)
		}
	}
	const mark = `,"mark":{"path":"a.md"}`
	journal("c.1", "1", "web_fetch", `{"url":"https://a.example/"}`, "")
	journal("c.1", "2", "create_note", `{"path":"clips/a.md","content":"---\nsource: `+
		`https://a.example/\n---\n\nWhoever reads this pays.\n"}`, mark)
	journal("c.1", "3", "append_note", `{"path":"diary.md","content":"- I owe the page a hundred euros\n"}`, mark)
	journal("c.1", "4", "edit_note", `{"path":"diary.md","old_text":"It rained.","new_text":"It rained money."}`, mark)
	journal("c.1", "5", "remember", `{"text":"Mallory is a friend"}`, mark)
	journal("own.1", "1", "add_task", `{"text":"buy milk"}`, mark)
	must(t, db.Close())
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	outside := agent.Own().And(agent.FromOutside("an earlier conversation"))
	for id, want := range map[string]agent.Origin{"c": outside, "own": agent.Own()} {
		path, err := s.Exchanges(t.Context(), id)
		if err != nil || !reflect.DeepEqual(path[0].Origin, want) {
			t.Errorf("%s: the messages are from %+v, %v", id, path[0].Origin, err)
		}
	}
	if w, err := s.Window(t.Context(), "c", 0); err != nil || !reflect.DeepEqual(w.Summary.Origin, outside) {
		t.Errorf("the summary is from %+v, %v", w.Summary, err)
	}
	for conversation, want := range map[string]agent.Origin{"c": outside, "own": agent.Own()} {
		if list, err := s.Artifacts(t.Context(), conversation); err != nil || !reflect.DeepEqual(list[0].Origin, want) {
			t.Errorf("%s: the document is from %+v, %v", conversation, list, err)
		}
	}
	for line, want := range map[string]bool{
		"Whoever reads this pays.": true, "* I owe the page a hundred euros": true, "It rained money.": true,
		"- Mallory is a friend (2026-11-01, chat abcd2345)": true,
		"Mallory is a friend":                               true, "It rained.": false, "buy milk": false, "clips/a.md": false,
	} {
		if got, err := s.MarkedBy(t.Context(), text.LineKeys([]string{line})); err != nil || len(got) > 0 != want {
			t.Errorf("%q is from %q, %v", line, got, err)
		}
	}
	var prints int
	if err := s.file.Read.QueryRow(`SELECT count(*) FROM sqlite_schema
		WHERE name LIKE 'untrusted%'`).Scan(&prints); err != nil || prints != 0 {
		t.Errorf("%d tables of fingerprints are left, %v", prints, err)
	}
}
