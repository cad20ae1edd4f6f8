// Eval measures how well LifeHub searches, cites, plans and answers. The figures in docs name the
// measurement that prints them. It exits with 1 if a figure misses its bound.
//
//	go -C tools/eval run . NAME [ARGUMENT…]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"lifehub/internal/mcptest"
)

const usage = `usage: go -C tools/eval run . NAME [ARGUMENT…]

  search [BENCH…]       nDCG@10, recall@10 and MRR of the search; -h lists the flags
  meaning               the built-in encoder by cosine alone, and questions in other languages; -h lists the flags
  decline [BENCH…]      questions that are declined, with and without the notes that answer them
  silent                questions that share no word with the notes
  spans                 the answering text in the five best passages
  links [FOLDER…]       questions with the text of hidden links
  followups             questions that refer to the conversation
  claims                verdicts on true and false answers
  memory                recall of what was said in earlier conversations
  modes                 cost and results of the modes: 40 tasks, with an honest and a sloppy model
  models NAME…          40 tasks for models of your servers; what the sample notes say is sent to them

LIFEHUB_SHARED is the folder of the benches; without it, ../shared next to the module.
`

func main() {
	mcptest.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := measure(ctx)
	stop()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("no such measurement")

func measure(ctx context.Context) error {
	if len(os.Args) < 2 {
		return errUsage
	}
	dir, err := os.MkdirTemp("", "lifehub-eval-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	switch name, args := os.Args[1], os.Args[2:]; name {
	case "search":
		return search(ctx, dir, args)
	case "meaning":
		return meaning(ctx, dir, args)
	case "decline":
		return decline(ctx, dir, args)
	case "silent":
		return silent(ctx, dir)
	case "spans":
		return spans(ctx, dir)
	case "links":
		return links(ctx, dir, args)
	case "followups":
		return followUps(ctx, dir)
	case "claims":
		return claims()
	case "memory":
		return recall(ctx)
	case "modes":
		return modes(ctx, dir)
	case "models":
		return models(ctx, dir, args)
	}
	return errUsage
}

// root is the folder of the program's module.
const root = "../.."

// shared returns the path of a file or folder of the shared data.
func shared(path string) (string, error) {
	dir := os.Getenv("LIFEHUB_SHARED")
	if dir == "" {
		dir = filepath.Join(root, "..", "shared")
	}
	path = filepath.Join(dir, filepath.FromSlash(path))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find the shared data, whose folder LIFEHUB_SHARED names: %w", err)
	}
	return path, nil
}

// misses are the figures that miss their bounds.
type misses struct{ all []error }

func (m *misses) add(format string, args ...any) {
	m.all = append(m.all, fmt.Errorf(format, args...))
}

func (m *misses) err() error { return errors.Join(m.all...) }
