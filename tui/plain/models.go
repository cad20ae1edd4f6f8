package plain

import (
	"context"
	"fmt"
	"os"
	"strings"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// chooseModel uses the named model, or one of those that are there.
func (p *Chat) chooseModel(ctx context.Context, name string) error {
	if name == "" {
		list, models := panel.ModelPicker(ctx, p.Models, p.now())
		if model := p.now().Model; model != "" {
			list.Title += "; " + model + " is in use"
		}
		if len(list.Foot) > 0 {
			p.print("%s\n", safetext.Text(strings.Join(list.Foot, "\n")))
		}
		at, ok := p.choose(ctx, list, nil)
		if !ok {
			return nil
		}
		name = models[at].Name
	}
	err := p.Models.Use(ctx, name)
	if missing := backend.MissingModel(err); missing != "" && p.offerPull(ctx, missing) {
		err = p.Models.Use(ctx, name)
	} else if missing != "" {
		return nil
	}
	if err != nil {
		return p.fail(err)
	}
	p.print("now using %s\n", safetext.Line(name))
	return nil
}

// offerPull asks whether to fetch a model that is not there, and does; true: it
// is there now.
func (p *Chat) offerPull(ctx context.Context, model string) bool {
	return p.agree(ctx, safetext.Line(model)+" is not installed; pull it?") && p.fetch(ctx, model)
}

func (p *Chat) pull(ctx context.Context, name string) error {
	if name == "" {
		p.print("usage: /pull NAME\n")
		return nil
	}
	p.fetch(ctx, name)
	return nil
}

// fetch pulls a model and writes how far it is, a line every tenth. false: it
// did not come.
func (p *Chat) fetch(ctx context.Context, name string) bool {
	p.print("pulling %s; ctrl+c stops it\n", safetext.Line(name))
	stopped, err := p.waitFor(ctx, "pull "+name, func(ctx context.Context, say func(string)) error {
		told := int64(0)
		return p.Models.Pull(ctx, name, func(_ string, done, total int64) {
			if total > 0 && done*10/total > told {
				told = done * 10 / total
				say(fmt.Sprintf("%d %% · %s of %s", done*100/total, draw.Bytes(done), draw.Bytes(total)))
			}
		})
	})
	switch {
	case stopped && err != nil:
		p.print("stopped; the server keeps what it has so far\n")
	case err != nil:
		p.fail(err)
	default:
		p.print("%s is ready\n", safetext.Line(name))
	}
	return err == nil
}

// waitFor runs what takes its time and writes the lines that it says; Ctrl+C
// stops it.
func (p *Chat) waitFor(ctx context.Context, what string, run func(ctx context.Context, say func(line string)) error) (stopped bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, over := make(chan string), make(chan error, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				over <- fmt.Errorf("%s: %v", what, fault)
			}
		}()
		over <- run(ctx, func(line string) {
			select {
			case lines <- line:
			case <-ctx.Done():
			}
		})
	}()
	for {
		select {
		case line := <-lines:
			p.print("%s\n", line)
		case s := <-p.Signals:
			p.ending = s != os.Interrupt
			cancel()
		case err := <-over:
			return ctx.Err() != nil, err
		}
	}
}
