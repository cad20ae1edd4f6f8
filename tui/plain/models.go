package plain

import (
	"context"
	"errors"
	"fmt"
	"os"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// chooseModel uses the named model, or one of those that are there.
func (p *Chat) chooseModel(ctx context.Context, name string) error {
	if name == "" {
		list, models := panel.ModelPicker(ctx, p.Models, p.now().Provider == "offline")
		if model := p.now().Model; model != "" {
			list.Title += "; " + model + " is in use"
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
		p.fail(err)
		return nil
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

// fetch pulls a model and writes how far it is, a line every tenth. Ctrl+C
// stops it. false: it did not come.
func (p *Chat) fetch(ctx context.Context, name string) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	steps, over := make(chan backend.PullStep, 1), make(chan error, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				over <- fmt.Errorf("pull %s: %v", name, fault)
			}
		}()
		over <- backend.Pull(ctx, p.Models, name, steps)
	}()
	p.print("pulling %s; ctrl+c stops it\n", safetext.Line(name))
	told := int64(0)
	for steps := steps; ; {
		select {
		case step, open := <-steps:
			if !open {
				steps = nil
				continue
			}
			if step.Total > 0 && step.Done*10/step.Total > told {
				told = step.Done * 10 / step.Total
				p.print("%d %% · %s of %s\n", step.Done*100/step.Total, draw.Bytes(step.Done), draw.Bytes(step.Total))
			}
		case s := <-p.Signals:
			p.ending = s != os.Interrupt
			cancel()
		case err := <-over:
			switch {
			case errors.Is(err, context.Canceled):
				p.print("stopped; what arrived is kept by the server\n")
			case err != nil:
				p.fail(err)
			default:
				p.print("%s is here\n", safetext.Line(name))
			}
			return err == nil
		}
	}
}
