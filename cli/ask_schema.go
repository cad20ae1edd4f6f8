package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/tui/safetext"
)

// readSchema reads the file given with --schema.
func (q *askCommand) readSchema(ctx context.Context) error {
	if q.schemaFile == "" {
		return nil
	}
	text, err := app.ReadAttached(ctx, q.schemaFile)
	if err != nil {
		return fmt.Errorf("--schema: %w", err)
	}
	q.schema = json.RawMessage(text)
	if _, err := agent.ReadSchema(q.schema); err != nil {
		return settings.UsageError{Err: fmt.Errorf("--schema %s: %w", q.schemaFile, err)}
	}
	return nil
}

// needsModel returns an error if the answer needs a model, for a schema or because -m names one, and
// none is connected: passages are no value, nor what that model says.
func (q *askCommand) needsModel(ctx context.Context, a *app.App) error {
	needs := "--schema needs a model, and none is connected"
	if q.RunFlags.Model != "" {
		needs = "no server of the model " + q.RunFlags.Model + " is connected"
	} else if q.schema == nil {
		return nil
	}
	if err := a.Provider.Ready(ctx); err != nil {
		return err
	}
	if a.Provider.State().Provider != "offline" {
		return nil
	}
	return app.ExitError{
		Err:  errors.New(needs + "; nothing was asked. `lifehub doctor` says how to get one"),
		Code: app.ExitUnreachable,
	}
}

// value returns the answer as a value that fits the schema. There is none where the notes don't say.
func (q *askCommand) value(ctx context.Context, asks *turn.Agent, result askResult) (json.RawMessage, error) {
	if result.Unanswered {
		return nil, app.ExitError{Err: errors.New("no value: the notes don't say. Without --schema the nearest " +
			"passages are listed"), Code: app.ExitFailed}
	}
	value, err := asks.Value(ctx, result.Conversation, result.Turn, q.schema)
	if err != nil {
		return nil, app.ExitError{Err: fmt.Errorf("no value: %w", err), Code: app.ExitFailed}
	}
	return value, nil
}

// printValue prints a value on a line; nothing without one.
func (q *askCommand) printValue(value json.RawMessage) error {
	if value == nil {
		return nil
	}
	var line bytes.Buffer
	err := json.Compact(&line, value)
	if err == nil {
		line.WriteByte('\n')
		_, err = safetext.JSONWriter{To: q.Process.Out}.Write(line.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write the value: %w", err)
	}
	return nil
}
