package store

import (
	"fmt"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

func TestMessagesAreFoundByWordsInAnyLanguage(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	texts := []string{
		"When do I train for the Marathon?", "Your résumé is in work/cv.md",
		"Die Straße nach Köln", "明天早上跑步", "来月、富士山に登る",
		"다음 주에 서울에 갑니다", "พรุ่งนี้ฉันจะไปวิ่ง", "version 3.14 of foo_bar", "ラーメンとか\u3099くせい", "",
	}
	for i, text := range texts {
		say(t, s, "c", text, fmt.Sprintf("answer%d", i))
	}
	for search, want := range map[string]string{
		"marathon": texts[0], "MARA": texts[0], "train marathon": texts[0], `"for the marathon"`: texts[0],
		"resume": texts[1], "strasse": texts[2], "KÖLN": texts[2], "koln": texts[2],
		"早上": texts[3], "跑步": texts[3], "步": texts[3], "明天早上": texts[3], "富士山": texts[4], "山": texts[4],
		"서울": texts[5], "วิ่ง": texts[6], "ไป": texts[6], "3.14": texts[7], "foo_bar": texts[7], "foo": texts[7],
		"ラーメン": texts[8], "がくせい": texts[8], "answer3": "answer3", "い": texts[8],
	} {
		hits, err := s.Search(t.Context(), "", search, 10)
		if err != nil || len(hits) != 1 || hits[0].Excerpt != want {
			t.Errorf("%q: got %+v, %v, want %q", search, hits, err, want)
		}
	}
	for _, search := range []string{
		"", "  ", `"`, "!?", "nothing", `"the for"`, `"mara"`, "早跑", "天上",
		"marathon nothing", `a" OR "b`, "NEAR(a b)", "*", "marathon*)(",
	} {
		if hits, err := s.Search(t.Context(), "", search, 10); err != nil || len(hits) > 0 && search != "marathon*)(" {
			t.Errorf("%q: got %+v, %v", search, hits, err)
		}
	}
}

func TestSearchSeesNewMessages(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn, err := s.Begin(t.Context(), "c", "question")
	must(t, err)
	found := func(word string) int {
		t.Helper()
		hits, err := s.Search(t.Context(), "", word, 10)
		must(t, err)
		return len(hits)
	}
	must(t, s.Progress(t.Context(), turn, "first", agent.Origin{}))
	if found("first") != 1 {
		t.Error("an answer under way is not found")
	}
	must(t, s.Finish(t.Context(), turn, agent.Answer{Text: "second"}))
	if found("first") != 0 || found("second") != 1 {
		t.Error("the index holds what the answer was, not what it is")
	}
}

func TestHitsAreNewestFirstWithPositions(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "a", "the boiler", "it leaks")
	say(t, s, "b", "hello", strings.Repeat("long before ", 30)+"\n\nthe boiler "+strings.Repeat("long after ", 30))
	hits, err := s.Search(t.Context(), "", "boil", 10)
	must(t, err)
	if len(hits) != 2 || hits[0].Conversation != "b" || hits[0].Role != llm.Assistant || hits[0].Turn != "b.1" ||
		hits[1].Role != llm.User || hits[0].Title != "hello" {
		t.Fatalf("got %+v", hits)
	}
	h := hits[0]
	if h.Excerpt[h.From:h.To] != "boiler" || len(h.Excerpt) > 200 || strings.Contains(h.Excerpt, "\n") ||
		!strings.HasPrefix(h.Excerpt, "…") || !strings.HasSuffix(h.Excerpt, "…") {
		t.Errorf("got excerpt %q, %d to %d", h.Excerpt, h.From, h.To)
	}
	if hits, _ := s.Search(t.Context(), "", "boil", 1); len(hits) != 1 {
		t.Errorf("got %d hits, want 1", len(hits))
	}
}

func BenchmarkSearchIn10000Messages(b *testing.B) {
	s, err := InMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := range 5000 {
		turn, err := s.Begin(b.Context(), "c", fmt.Sprintf("question %d about running", i))
		if err == nil {
			err = s.Finish(b.Context(), turn, agent.Answer{Text: strings.Repeat("some words of an answer ", 20)})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.Search(b.Context(), "", "running", 50); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Search(b.Context(), "", "run", 50); err != nil {
			b.Fatal(err)
		}
	}
}
