//go:build unix

package survive

import (
	"os"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

// A turn that sends one mail is killed at each of its boundaries and at each
// stage of the SMTP session. The process that resumes it is killed too, until one
// completes. In the end, the mail must be in the mailbox exactly once: if the
// outcome is unknown, either LifeHub asks the user, who checks, or the server
// recognises the mail by its ID.
func TestMailIsSentOnceDespiteKills(t *testing.T) {
	t.Parallel()
	for name, agrees := range map[string]bool{"the user looks": false, "the server knows the id": true} {
		t.Run(name, func(t *testing.T) {
			cycles := testenv.Rounds(10, 200) / 2
			random := seeded(t)
			p := &post{}
			if agrees {
				p.seen = map[string]bool{}
			}
			port, letters := p.start(t)
			begin := func() orders {
				dir := t.TempDir()
				furnish(t, dir)
				letters(mailbox(dir))
				return orders{Dir: dir, Work: "mail", Name: "c", Turns: 1, SMTP: port, Agree: agrees}
			}
			whole := begin()
			boundaries := run(t, whole, 0, false).over
			if found, err := look(whole.Dir, "mail 1"); err != nil || found.Mail != 1 || boundaries < 15 {
				t.Fatalf("a whole turn passes %d boundaries, and sends %d mails: %v", boundaries, found.Mail, err)
			}
			kills, asked := 0, 0
			// once runs a turn that is killed as configured, and reports whether
			// it was killed.
			once := func(o orders, stage string) bool {
				if stage != "" {
					s := newStall(stage)
					p.mu.Lock()
					p.stall = s
					p.mu.Unlock()
					o.KillOn = s.reached
					defer func() {
						close(s.gone)
						select {
						case <-s.reached:
							<-s.left // a mail received completely is delivered, even if the client is gone
						default: // the turn sent nothing more
						}
						p.mu.Lock()
						p.stall = nil
						p.mu.Unlock()
					}()
				}
				result := run(t, o, 0, false)
				asked += strings.Count("\n"+strings.Join(result.lines, "\n"), "\n? ")
				if result.killed {
					kills++
				}
				return result.killed
			}
			stages := []string{"from", "to", "data", "text", "taken"}
			for cycle := range cycles {
				o := begin()
				cut, stage := o, ""
				if cycle%2 == 0 {
					cut.KillAt = 1 + int64(cycle)*boundaries/int64(cycles)
				} else {
					stage = stages[cycle/2%len(stages)]
				}
				for once(cut, stage) {
					cut, stage = o, ""
					switch random.IntN(4) {
					case 0:
						cut.KillAt = 1 + random.Int64N(boundaries)
					case 1:
						stage = stages[random.IntN(len(stages))]
					}
				}
				if found, err := look(o.Dir, "mail 1"); err != nil || found.Mail != 1 {
					t.Fatalf("cycle %d: %d mails, %v", cycle, found.Mail, err)
				}
				if err := os.RemoveAll(o.Dir); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d cycles, %d kills at %d boundaries and %d stages of SMTP: 1 mail each, %d asked about", cycles,
				kills, boundaries, len(stages), asked)
		})
	}
}
