package agent

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"lifehub/llm"
)

//go:embed prompts/title.md
var titlePrompt string

const (
	titleTokens = 40   // of the answer
	titleLength = 60   // characters of a title
	titleOf     = 1500 // bytes of question and answer that a title is made from
)

// Title asks a model for the title of a conversation that begins with this
// exchange. It is a short call beside the turns; cancel ctx to make way.
func Title(ctx context.Context, model llm.Model, question, answer string) (string, error) {
	said, _, err := llm.Collect(model.Stream(ctx, llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Text: titlePrompt},
			{Role: llm.User, Text: "The user wrote:\n" + clip(question, titleOf) + "\n\nThe answer was:\n" + clip(answer, titleOf)},
		},
		Think: "off", MaxTokens: titleTokens,
	}))
	if err != nil {
		return "", fmt.Errorf("make a title: %w", err)
	}
	title := cleanTitle(said.Text)
	if title == "" {
		return "", errors.New("make a title: the model gave none")
	}
	return title, nil
}

// cleanTitle takes off what small models put around a title.
func cleanTitle(text string) string {
	if _, after, found := strings.Cut(text, "</think>"); found {
		text = after
	}
	line := ""
	for l := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(l), " "); line != "" {
			break
		}
	}
	if before, after, found := strings.Cut(line, ":"); found && strings.EqualFold(strings.Trim(before, "*# "), "title") {
		line = after
	}
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, line)
	line = strings.TrimRight(strings.Trim(line, " \t*#_`\"'“”„«»「」"), " .。")
	if runes := []rune(line); len(runes) > titleLength {
		line = strings.TrimSpace(string(runes[:titleLength-1])) + "…"
	}
	return line
}
