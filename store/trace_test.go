package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
)

var plenty = Limits{Turn: 1 << 20, Total: 1 << 30}

// traced saves a finished turn whose trace has these lines.
func traced(t *testing.T, s *Store, limits Limits, lines ...string) string {
	t.Helper()
	turn, err := s.Begin(t.Context(), "c", "q")
	if err != nil {
		t.Fatal(err)
	}
	w := s.Traces.Begin(turn, limits)
	for _, line := range lines {
		if _, err := w.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(t.Context(), turn, agent.Answer{Text: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.Traces.Wait()
	return turn
}

func traceOf(t *testing.T, s *Store, id string) Trace {
	t.Helper()
	got, err := s.Traces.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTraceIsSavedAndFound(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn := traced(t, s, plenty, "one", "two")
	traced(t, s, plenty, "three")
	got := traceOf(t, s, turn)
	if string(got.Lines) != "one\ntwo\n" || got.Events != 2 || !got.Complete || got.Damage != "" ||
		got.Question != "q" || got.State != "done" {
		t.Errorf("got %+v, lines %q", got, got.Lines)
	}
	if last := traceOf(t, s, "c"); last.Turn != "c.2" {
		t.Errorf("the conversation's last is %s", last.Turn)
	}
	if _, err := s.Traces.Read(t.Context(), "nosuch"); !errors.Is(err, ErrNone) {
		t.Errorf("got %v", err)
	}
	list, err := s.Traces.List(t.Context(), 0)
	if err != nil || len(list) != 2 || list[0].Turn != "c.2" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestKilledTurnLeavesAPartialTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := InMemory()
		if err != nil {
			t.Fatal(err)
		}
		turn, err := s.Begin(t.Context(), "c", "q")
		if err != nil {
			t.Fatal(err)
		}
		w := s.Traces.Begin(turn, plenty)
		_, _ = w.Write([]byte("before\n"))
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		_, _ = w.Write([]byte("lost by the kill\n"))
		got := traceOf(t, s, turn)
		if string(got.Lines) != "before\n" || got.Complete || got.Damage != "" {
			t.Errorf("got %+v, lines %q", got, got.Lines)
		}

		// The process that resumes the turn continues the trace.
		again := s.Traces.Begin(turn, plenty)
		synctest.Wait()
		_, _ = again.Write([]byte("after\n"))
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := traceOf(t, s, turn); string(got.Lines) != "before\nafter\n" || !got.Complete || got.Events != 2 {
			t.Errorf("taken up again: got %+v, lines %q", got, got.Lines)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestClosingTheStoreSavesOpenTraces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := s.Begin(t.Context(), "c", "q")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = s.Traces.Begin(turn, plenty).Write([]byte("line\n"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := traceOf(t, again, turn); string(got.Lines) != "line\n" || got.Complete {
		t.Errorf("got %+v, lines %q", got, got.Lines)
	}
}

func TestTracesStayWithinTheirLimits(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn := traced(t, s, Limits{Turn: 8, Total: 1 << 20}, "one", "two", "three", "x")
	if got := traceOf(t, s, turn); string(got.Lines) != "one\ntwo\n" || got.Dropped != 2 {
		t.Errorf("got %+v, lines %q", got, got.Lines)
	}
	for range 10 {
		traced(t, s, Limits{Turn: 1 << 20, Total: 500}, strings.Repeat("a", 10))
	}
	list, err := s.Traces.List(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, one := range list {
		total += one.Size
	}
	if total > 500 || len(list) == 0 || list[0].Turn != "c.11" {
		t.Errorf("%d traces of %d bytes are left, the newest %+v", len(list), total, list[0])
	}
	newest := traced(t, s, Limits{Turn: 1 << 20, Total: 1}, "one", "two")
	if list, err := s.Traces.List(t.Context(), 0); err != nil || len(list) != 1 || list[0].Turn != newest {
		t.Errorf("%d traces are left, %v; want the newest, however large", len(list), err)
	}
}

func TestTraceIsDeletedWithItsConversation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	secret := "a word that nobody may find again"
	turn := traced(t, s, plenty, secret)
	body := readBody(t, s, turn)
	if _, err := s.file.Write.Exec("DELETE FROM conversations WHERE id = 'c'"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Traces.Read(t.Context(), turn); !errors.Is(err, ErrNone) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file, body[20:40]) {
		t.Error("the packed trace still stands in the file")
	}
}

func TestDamagedTraceIsReadAsFarAsPossible(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf("line %d %x", i, i*i*7919))
	}
	turn := traced(t, s, plenty, lines...)
	whole := readBody(t, s, turn)
	damage := func(body []byte) Trace {
		t.Helper()
		if _, err := s.file.Write.Exec("UPDATE traces SET body = ?", body); err != nil {
			t.Fatal(err)
		}
		return traceOf(t, s, turn)
	}
	for at := 0; at < len(whole); at += 97 {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 0x10
		// the bytes before are the gzip header's time and system
		if got := damage(flipped); got.Damage == "" && at > 9 {
			t.Fatalf("byte %d was flipped and nothing is said", at)
		}
		if got := damage(whole[:at]); got.Damage == "" || len(got.Lines) > 0 && got.Lines[len(got.Lines)-1] != '\n' {
			t.Fatalf("cut after %d bytes: %q", at, got.Damage)
		}
	}
	damage(whole)
	for _, format := range []int{0, Format + 1} {
		if _, err := s.file.Write.Exec("UPDATE traces SET format = ?", format); err != nil {
			t.Fatal(err)
		}
		if got := traceOf(t, s, turn); got.Readable() == nil || len(got.Lines) > 0 {
			t.Errorf("format %d: %v", format, got.Readable())
		}
	}
}

func readBody(t *testing.T, s *Store, turn string) (body []byte) {
	t.Helper()
	if err := s.file.Read.QueryRow("SELECT body FROM traces WHERE turn = ?", turn).Scan(&body); err != nil {
		t.Fatal(err)
	}
	return body
}

// BenchmarkTrace measures a turn of 1000 pieces of text: time per piece on the
// turn's goroutine (ns/op), and disk space (bytes/piece).
func BenchmarkTrace(b *testing.B) {
	s, err := InMemory()
	if err != nil {
		b.Fatal(err)
	}
	turn, err := s.Begin(b.Context(), "c", "q")
	if err != nil {
		b.Fatal(err)
	}
	w := s.Traces.Begin(turn, Limits{Turn: 1 << 40, Total: 1 << 40})
	at := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	for b.Loop() {
		at = at.Add(23_456_789)
		line, err := json.Marshal(agent.Event{
			Type: "token", Turn: turn, Seq: at.Nanosecond(), Time: at,
			Body: agent.Said{Content: "piece of text "},
		})
		if err != nil {
			b.Fatal(err)
		}
		_, _ = w.Write(append(line, '\n'))
	}
	_ = w.Close()
	s.Traces.Wait()
	var size int64
	if err := s.file.Read.QueryRow("SELECT length(body) FROM traces").Scan(&size); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(size)/float64(b.N), "bytes/piece")
	_ = s.Close()
}
