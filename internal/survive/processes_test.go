//go:build unix

package survive

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"lifehub/internal/testenv"
)

// Line 4: eight processes, each in its own conversation, use one database and one
// folder of notes for a minute; then all are killed.
func TestEightProcessesLoseAndDamageNothing(t *testing.T) {
	t.Parallel()
	const processes = 8
	while := time.Duration(testenv.Rounds(1, 60)) * time.Second
	dir := t.TempDir()
	furnish(t, dir)
	ledgers := make([]*ledger, processes)
	var all sync.WaitGroup
	for i := range processes {
		ledgers[i] = newLedger(orders{Dir: dir, Work: "write", Name: fmt.Sprintf("p%d", i)})
		ledgers[i].failing = true // concurrent changes of one line may be rejected
		all.Go(func() {
			output := run(t, ledgers[i].orders, while, false)
			ledgers[i].add(t, output.lines)
		})
	}
	all.Wait()
	messages, done, failed := 0, 0, 0
	for _, l := range ledgers {
		l.check(t)
		messages += l.messages
		done += len(l.done)
		failed += l.failed
		if l.messages == 0 {
			t.Errorf("%s said nothing", l.Name)
		}
	}
	sound(t, dir)
	t.Logf("%d processes for %v: %d messages and %d effects acknowledged, 0 lost, 0 doubled, database sound; %d "+
		"steps were told that the note had changed", processes, while, messages, done, failed)
}
