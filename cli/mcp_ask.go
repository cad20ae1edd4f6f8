package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/mcpclient"
)

// maxSampled bounds what the user's model writes for a server, in tokens.
const maxSampled = 2048

// elicit puts a server's form to the user, at the desk of the call it is for.
func elicit(ctx context.Context, form mcpclient.Form) (mcpclient.Reply, error) {
	question := agent.Question{From: form.Server, Kind: agent.FormInput, Message: form.Message, Schema: form.Schema, URL: form.URL, Check: form.Check}
	if form.URL != "" {
		question.Kind = agent.URLInput
	}
	given := agent.DeskOf(ctx).Ask(ctx, question)
	return mcpclient.Reply{Action: mcpclient.Action(given.Action), Content: given.Values}, nil
}

// sample has the user's model answer a server's prompt, if the user, who is
// shown all of it, agrees.
func (a *app) sample(ctx context.Context, server string, request llm.Request) (mcpclient.Sampled, error) {
	if a.provider.State().Provider == "offline" {
		return mcpclient.Sampled{}, errors.New("no model answers now")
	}
	given := agent.DeskOf(ctx).Ask(ctx, agent.Question{From: server, Kind: agent.SamplingInput, Prompt: request.Messages})
	switch {
	case given.Action == agent.InputAccepted:
	case given.Reason != "":
		return mcpclient.Sampled{}, fmt.Errorf("the user's model may not answer: %s", given.Reason)
	default:
		return mcpclient.Sampled{}, errors.New("the user's model may not answer: the user said no")
	}
	if request.MaxTokens <= 0 || request.MaxTokens > maxSampled {
		request.MaxTokens = maxSampled
	}
	var text strings.Builder
	for delta, err := range a.provider.Stream(ctx, request) {
		if err != nil {
			return mcpclient.Sampled{}, fmt.Errorf("the user's model: %w", err)
		}
		text.WriteString(delta.Text)
	}
	return mcpclient.Sampled{Model: a.provider.State().Model, Text: text.String()}, nil
}
