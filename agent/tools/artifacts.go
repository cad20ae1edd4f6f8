package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// artifacts stores the documents of conversations. *store.Store implements it.
type artifacts interface {
	SaveArtifact(ctx context.Context, a agent.Artifact) error
	Artifact(ctx context.Context, conversation, name string, version int) (agent.Artifact, error)
	Artifacts(ctx context.Context, conversation string) ([]agent.Artifact, error)
	MadeBy(ctx context.Context, call string) (agent.Artifact, bool, error)
}

// maxArtifact bounds a document, in bytes.
const maxArtifact = 1 << 20

// Arguments of the document tools; [artifactArgs] is their union.
type (
	artifactText struct {
		Name string `json:"name"`
		Text string `json:"text"`
		Why  string `json:"why,omitempty"`
	}
	artifactEdit struct {
		Name string `json:"name"`
		Old  string `json:"old_text"`
		New  string `json:"new_text"`
		Why  string `json:"why,omitempty"`
	}
	artifactName struct {
		Name string `json:"name"`
	}
)

type artifactArgs struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Old  string `json:"old_text"`
	New  string `json:"new_text"`
	Why  string `json:"why"`
}

func artifactTools(store artifacts) []agent.Tool {
	return []agent.Tool{
		newArtifactWriter(store, spec[artifactText]("create_artifact"),
			func(was agent.Artifact, args artifactArgs) (string, error) {
				if was.Version > 0 {
					return "", fmt.Errorf("there is an artifact %q already; use update_artifact or rewrite_artifact",
						args.Name)
				}
				return args.Text, nil
			}),
		newArtifactWriter(store, spec[artifactEdit]("update_artifact"),
			func(was agent.Artifact, args artifactArgs) (string, error) {
				if was.Version == 0 {
					return "", agent.ErrNoArtifact
				}
				return edited(was.Text, args.Old, args.New)
			}),
		newArtifactWriter(store, spec[artifactText]("rewrite_artifact"),
			func(was agent.Artifact, args artifactArgs) (string, error) {
				if was.Version == 0 {
					return "", agent.ErrNoArtifact
				}
				return args.Text, nil
			}),
		newReadArtifact(store),
	}
}

func newReadArtifact(store artifacts) agent.Tool {
	return artifactReader{agent.NewTool(spec[artifactName]("read_artifact"), agent.Auto,
		func(ctx context.Context, args artifactArgs) (agent.Result, error) {
			a, err := store.Artifact(ctx, agent.CallerOf(ctx).Conversation, strings.TrimSpace(args.Name), 0)
			if errors.Is(err, agent.ErrNoArtifact) {
				return agent.Result{}, noArtifact(ctx, store, args.Name)
			}
			return agent.Result{Text: a.Text, Origin: a.Origin, Untrusted: a.Origin.IsOutside()}, err
		}), store}
}

type artifactReader struct {
	agent.Tool
	store artifacts
}

// Carried returns the names of the conversation's documents, and where they come from.
func (r artifactReader) Carried(ctx context.Context) (lines []string, from agent.Origin, err error) {
	list, err := r.store.Artifacts(ctx, agent.CallerOf(ctx).Conversation)
	for _, a := range list {
		lines, from = append(lines, fmt.Sprintf("%s, version %d", a.Name, a.Version)), from.And(a.Origin)
	}
	return lines, from, err
}

func (artifactReader) Properties() agent.Properties {
	return agent.Properties{ReadOnly: true, LoopOnly: true}
}

// noArtifact returns an error that lists the existing documents.
func noArtifact(ctx context.Context, store artifacts, name string) error {
	list, err := store.Artifacts(ctx, agent.CallerOf(ctx).Conversation)
	if err != nil {
		return err
	}
	var names []string
	for _, a := range list {
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("no artifact %q: none was made in this conversation", name)
	}
	return fmt.Errorf("no artifact %q; known: %s", name, strings.Join(names, ", "))
}

// artifactWriter saves new versions of documents. It needs no permission,
// because it changes nothing of the user's own, and it can determine after a
// crash whether it saved one.
type artifactWriter struct {
	agent.Tool
	store artifacts
}

func newArtifactWriter(store artifacts, spec llm.ToolSpec, change func(was agent.Artifact,
	args artifactArgs) (string, error),
) agent.Tool {
	return artifactWriter{agent.NewTool(spec, agent.Auto, func(ctx context.Context,
		args artifactArgs,
	) (agent.Result, error) {
		made, done, err := store.MadeBy(ctx, agent.IdempotencyKey(ctx))
		if err == nil && !done {
			made, err = newVersion(ctx, store, args, change)
		}
		if err != nil {
			return agent.Result{}, agent.NothingDone{Err: err}
		}
		agent.HostFrom(ctx).Did(saved(made))
		return agent.Result{Text: fmt.Sprintf("artifact %s, version %d, %d bytes", made.Name, made.Version,
			len(made.Text)), Artifact: &made}, nil
	}), store}
}

// newVersion computes and saves the next version of a document.
func newVersion(
	ctx context.Context, store artifacts, args artifactArgs,
	change func(was agent.Artifact, args artifactArgs) (string, error),
) (made agent.Artifact, err error) {
	args.Name = strings.TrimSpace(args.Name)
	if args.Name == "" || len(args.Name) > agent.MaxArtifactName || strings.ContainsFunc(args.Name, unicode.IsControl) {
		return made, fmt.Errorf("an artifact needs a name of one line, without control characters, and at most %d bytes",
			agent.MaxArtifactName)
	}
	if err := printable(args); err != nil {
		return made, err
	}
	by := agent.CallerOf(ctx)
	was, err := store.Artifact(ctx, by.Conversation, args.Name, 0)
	if err != nil && !errors.Is(err, agent.ErrNoArtifact) {
		return made, err
	}
	args.Text = text.Unfenced(args.Text)
	whole, err := change(was, args)
	switch {
	case errors.Is(err, agent.ErrNoArtifact):
		return made, noArtifact(ctx, store, args.Name)
	case err != nil:
		return made, fmt.Errorf("%s: %w", args.Name, err)
	case len(whole) > maxArtifact:
		return made, fmt.Errorf("%s would have more than %d bytes", args.Name, maxArtifact)
	}
	made = agent.Artifact{
		Conversation: by.Conversation, Name: args.Name, Version: was.Version + 1, Text: whole, By: by.Agent,
		Why:  strings.TrimSpace(args.Why),
		Turn: by.Turn, Call: agent.IdempotencyKey(ctx), Origin: was.Origin.And(by.Origin),
	}
	return made, store.SaveArtifact(ctx, made)
}

func saved(a agent.Artifact) agent.Effect {
	return agent.Effect{Kind: agent.ArtifactSaved, Name: a.Name, Version: a.Version}
}

// Properties: a version is stored with the conversation and marked if it derives from untrusted text. Only the user can
// copy it to a note.
func (artifactWriter) Properties() agent.Properties {
	return agent.Properties{ArtifactsOnly: true, LoopOnly: true}
}

// Check reports whether the call saved its version.
func (w artifactWriter) Check(ctx context.Context, mark json.RawMessage) (agent.Happened, []agent.Effect, error) {
	var call string
	if err := json.Unmarshal(mark, &call); err != nil || call == "" {
		return agent.MayHaveHappened, nil, err
	}
	made, done, err := w.store.MadeBy(ctx, call)
	switch {
	case err != nil:
		return agent.MayHaveHappened, nil, err
	case done:
		return agent.HasHappened, []agent.Effect{saved(made)}, nil
	}
	return agent.HasNotHappened, nil, nil
}
