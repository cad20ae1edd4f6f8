package tools

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/store"
)

const killedEnv = "LIFEHUB_TEST_SET" // folder in which the child moves a note

// keptBench returns a bench on a vault and a database in a folder.
func keptBench(t *testing.T, dir string) (b *bench, s *store.Store) {
	t.Helper()
	s, err := store.Open(filepath.Join(dir, "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := notes.Open(filepath.Join(dir, "vault"))
	if err != nil {
		t.Fatal(err)
	}
	b = work(t, nil)
	b.folders = append(b.folders, folder)
	b.deps.Changes, b.deps.Sets = s, s
	return b, s
}

// A move that is killed at any time is made as a whole or not at all after the next start.
func TestAKilledMoveIsAllOrNothing(t *testing.T) {
	testenv.WithoutRace(t)
	if dir := os.Getenv(killedEnv); dir != "" {
		b, s := keptBench(t, dir)
		conversation := s.NewConversation()
		turn := agent.WithCaller(t.Context(), agent.Caller{
			Conversation: conversation,
			Turn:         sure(s.Begin(t.Context(), conversation, "move it")),
		})
		change := sure(b.prepared(turn, "move_note", moveArgs{"plan", "new/place"}))
		fmt.Println("ready")
		mustApply(b, withCtx{change, turn})
		fmt.Println("done")
		return
	}
	before, after := map[string]string{"plan.md": "# A plan\n"}, map[string]string{"new/place.md": "# A plan\n"}
	for i := range 12 {
		name := fmt.Sprintf("a%d.md", i)
		before[name], after[name] = "[[plan]]\n", "[[place]]\n"
	}
	kills := 12
	if os.Getenv("LIFEHUB_SOAK") != "" {
		kills = 300
	}
	var none, all, between int
	for range kills {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "vault"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range before {
			if err := os.WriteFile(filepath.Join(dir, "vault", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), killedEnv+"="+dir)
		out := sure(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var line string
		if _, err := fmt.Fscanln(out, &line); err != nil || line != "ready" {
			t.Fatalf("the child says %q: %v", line, err)
		}
		watched := filepath.Join(dir, "vault", fmt.Sprintf("a%d.md", rand.IntN(12))) // one of the notes that change
		for begun := time.Now(); time.Since(begun) < time.Minute; {
			if raw, _ := os.ReadFile(watched); string(raw) == after["a0.md"] {
				break
			}
		}
		time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Millisecond)))) // a few writes
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		b, s := keptBench(t, dir)
		if got := b.all(); !maps.Equal(got, before) && !maps.Equal(got, after) {
			between++
		}
		left, err := FinishSets(t.Context(), b.folders, s)
		switch got := b.all(); {
		case err != nil || len(left) > 0:
			t.Errorf("%v, left %q", err, left)
		case maps.Equal(got, before):
			none++
		case maps.Equal(got, after):
			all++
		default:
			t.Errorf("half of it is made: %q", got)
		}
		s.Close()
		b.folders[0].Close()
	}
	t.Logf("%d kills, %d of them between two writes: %d times nothing was made, %d times all",
		kills, between, none, all)
}
