package chat

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lifehub/cli/app"
	"lifehub/internal/pattern"
	"lifehub/tui/backend"
	"lifehub/tui/draw"
)

// promptName is what a file may be called to be a command.
var promptName = pattern.Lazy(`^[a-z0-9][a-z0-9_-]*$`)

// userPrompts are the user's own: each file prompts/NAME.md is the command /NAME.
func userPrompts(a *app.App) []backend.Command {
	files, err := filepath.Glob(filepath.Join(a.Paths.PromptsFolder(), "*.md"))
	if err != nil { // only of a bad pattern
		return nil
	}
	var list []backend.Command
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		text, err := os.ReadFile(file)
		if err != nil || !promptName.MatchString(name) {
			slog.Warn("a prompt is left out", "file", file, "error", err)
			continue
		}
		args := "[TEXT]"
		if blank.Match(text) {
			args = "TEXT"
		}
		first, _, _ := strings.Cut(strings.TrimLeft(string(text), "# \n"), "\n")
		list = append(list, backend.Command{Name: name, Args: args, Help: draw.Summary(first, 60), Prompt: func(args string) (string, error) {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", fmt.Errorf("read the prompt: %w", err)
			}
			return filledPrompt(string(text), args), nil
		}})
	}
	return list
}

// blank is where arguments go: all of them, or the Nth word.
var blank = pattern.Lazy(`\$(?:ARGUMENTS|[1-9])\b`)

// filledPrompt puts arguments into a prompt; where it has no place for them,
// they follow it. A word in quotes is one.
func filledPrompt(text, args string) string {
	text = strings.TrimSpace(text)
	if !blank.MatchString(text) {
		return strings.TrimSpace(text + "\n\n" + args)
	}
	words := splitWords(args)
	return blank.ReplaceAllStringFunc(text, func(name string) string {
		n, err := strconv.Atoi(name[1:])
		switch {
		case err != nil:
			return args
		case n <= len(words):
			return words[n-1]
		}
		return ""
	})
}

// word is one argument, in quotes or not.
var word = pattern.Lazy(`"([^"]*)"|(\S+)`)

func splitWords(args string) (words []string) {
	for _, found := range word.FindAllStringSubmatch(args, -1) {
		words = append(words, found[1]+found[2])
	}
	return words
}
