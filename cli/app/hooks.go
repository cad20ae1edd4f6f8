package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/turn"
	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/mcpclient"
	"lifehub/mcpclient/config"
	"lifehub/tui/safetext"
)

// hookLimit bounds the time of a hook; tests shorten it.
var hookLimit = 10 * time.Second

const (
	hookDenies = 2   // exit code with which a hook denies a call
	maxReason  = 500 // bytes of its reason
)

// Hook is a command of the user's that runs at an event. It is trusted like an MCP server: what it
// runs must be as the user has reviewed it.
type Hook struct {
	Event   string // before_call or after_turn
	Command []string

	paths settings.Paths
}

// Hooks returns the hooks in the settings.
func Hooks(p settings.Paths, c *settings.Config) (list []Hook) {
	for _, h := range []Hook{{"before_call", c.Hooks.BeforeCall, p}, {"after_turn", c.Hooks.AfterTurn, p}} {
		if len(h.Command) > 0 {
			list = append(list, h)
		}
	}
	return list
}

func (h Hook) entry() config.Entry {
	return config.Entry{
		Name: h.Event, Transport: config.Stdio, Command: h.Command[0],
		Args: h.Command[1:], Level: agent.Confirm,
	}
}

// Unseen returns what the user has not reviewed of the hook.
func (h Hook) Unseen() ([]config.Change, error) {
	seen, err := config.OpenTrust(h.paths.HookTrustFile())
	if err != nil {
		return nil, err
	}
	return seen.Entry(h.entry())
}

// Accept marks changes of the hook as reviewed.
func (h Hook) Accept(changes []config.Change) error {
	seen, err := config.OpenTrust(h.paths.HookTrustFile())
	if err != nil {
		return err
	}
	return seen.Accept(h.Event, changes)
}

// Problem returns why the hook cannot run, or "".
func (h Hook) Problem() string {
	changes, err := h.Unseen()
	switch {
	case err != nil:
		return err.Error()
	case len(changes) > 0:
		return "it is new or has changed; review it: lifehub permissions trust " + h.Event
	}
	program := h.Command[0]
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		program = filepath.Join(h.paths.Config, program)
	}
	if _, err := exec.LookPath(program); err != nil {
		return h.Command[0] + " is not found"
	}
	return ""
}

// run runs the hook, which gets an event as JSON, without the secrets that LifeHub knows.
func (h Hook) run(ctx context.Context, redact func(string) string, event any) (mcpclient.Finished, error) {
	if problem := h.Problem(); problem != "" {
		return mcpclient.Finished{}, errors.New(problem)
	}
	body, err := json.Marshal(event)
	if err != nil {
		return mcpclient.Finished{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, hookLimit, fmt.Errorf("it did not end within %v", hookLimit))
	defer cancel()
	return mcpclient.RunOnce(ctx, h.entry(), h.paths.Config, []byte(redact(string(body))+"\n"))
}

// failure describes the end of a hook that failed.
func failure(end mcpclient.Finished) error {
	if end.Code < 0 {
		return errors.New("it was killed")
	}
	return errors.New(strings.TrimSuffix(fmt.Sprintf("exit code %d: %s", end.Code, message(end)), ": "))
}

// message returns the output of a hook as one line.
func message(end mcpclient.Finished) string {
	return text.Clip(text.OneLine(safetext.Text(end.Stderr)), maxReason)
}

// runHook runs a hook at its event.
type runHook struct {
	hook    Hook
	secrets *settings.Redaction
}

// BeforeCall implements [gate.Hook].
func (r runHook) BeforeCall(ctx context.Context, call gate.Before) error {
	call.Event = r.hook.Event
	end, err := r.hook.run(ctx, r.secrets.Known, call)
	switch {
	case err != nil:
		return err
	case end.Code == hookDenies:
		return &gate.Denial{Reason: r.secrets.Known(cmp.Or(message(end), "it gave no reason"))}
	case end.Code != 0:
		return failure(end)
	}
	return nil
}

// AfterTurn implements [turn.AfterTurn].
func (r runHook) AfterTurn(ctx context.Context, over turn.TurnOver) error {
	over.Event = r.hook.Event
	end, err := r.hook.run(ctx, r.secrets.Known, over)
	if err == nil && end.Code != 0 {
		err = failure(end)
	}
	return err
}
