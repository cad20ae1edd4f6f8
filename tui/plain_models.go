package tui

import (
	"context"
	"errors"
	"fmt"
	"os"

	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// chooseModel uses the named model, or one of those that are there.
func (p *plain) chooseModel(ctx context.Context, name string) error {
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
	if missing := missingModel(err); missing != "" && p.offerPull(ctx, missing) {
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
func (p *plain) offerPull(ctx context.Context, model string) bool {
	return p.agree(ctx, safetext.Line(model)+" is not installed; pull it?") && p.fetch(ctx, model)
}

func (p *plain) pull(ctx context.Context, name string) error {
	if name == "" {
		p.print("usage: /pull NAME\n")
		return nil
	}
	p.fetch(ctx, name)
	return nil
}

// fetch pulls a model and writes how far it is, a line every tenth. Ctrl+C
// stops it. false: it did not come.
func (p *plain) fetch(ctx context.Context, name string) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pulled := newPulling(name, "", cancel)
	over := make(chan pullMsg, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				over <- pullMsg{over: true, err: fmt.Errorf("pull %s: %v", name, fault)}
			}
		}()
		over <- pulled.work(ctx, p.Models)
	}()
	p.print("pulling %s; ctrl+c stops it\n", safetext.Line(name))
	told := int64(0)
	for steps := pulled.steps; ; {
		select {
		case step, open := <-steps:
			if !open {
				steps = nil
				continue
			}
			if step.total > 0 && step.done*10/step.total > told {
				told = step.done * 10 / step.total
				p.print("%d %% · %s of %s\n", step.done*100/step.total, draw.Bytes(step.done), draw.Bytes(step.total))
			}
		case s := <-p.signals:
			p.ending = s != os.Interrupt
			cancel()
		case end := <-over:
			switch {
			case errors.Is(end.err, context.Canceled):
				p.print("stopped; what arrived is kept by the server\n")
			case end.err != nil:
				p.fail(end.err)
			default:
				p.print("%s is here\n", safetext.Line(name))
			}
			return end.err == nil
		}
	}
}
