package chatcmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/internal/text"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// memoryCommands returns the slash commands about memory.
func (bg *background) memoryCommands() []chat.Command {
	return []chat.Command{
		{
			Name: "memory", Group: chat.InNotes, Args: "[QUERY]", Help: "show what LifeHub remembers, or search it",
			Run: bg.slashMemory,
		},
		{
			Name: "compact", Group: chat.InModel, Args: "[FOCUS]",
			Help: "summarise the older messages of this conversation",
			Run:  bg.slashCompact,
		},
		{
			Name: "remember", Group: chat.InNotes, Args: "TEXT", Help: "remember a fact about you",
			Run: bg.writes(bg.slashRemember),
		},
		{
			Name: "forget", Group: chat.InNotes, Args: "TEXT", Help: "forget a fact, by words that match only it",
			Run: bg.writes(bg.slashForget),
		},
	}
}

func (bg *background) slashRemember(_ context.Context, _, text string) (string, error) {
	diff, err := bg.App.Facts().Remember(text, time.Now())
	return withDiff("Remembered. `/forget` undoes it.", diff, err)
}

// slashForget forgets a fact, or without words lists the facts to choose from.
func (bg *background) slashForget(ctx context.Context, conversation, text string) (string, error) {
	if text == "" {
		return bg.slashMemory(ctx, conversation, "")
	}
	diff, err := bg.App.Facts().Forget(text)
	return withDiff("Forgotten. `/remember` undoes it.", diff, err)
}

// slashCompact summarises older messages and reports the result.
func (bg *background) slashCompact(ctx context.Context, conversation, focus string) (string, error) {
	done, err := bg.App.Agent().Compact(ctx, conversation, focus)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Summarised %d messages: about %d tokens instead of %d. They can still be read, searched and "+
		"recalled.\n\n%s\n",
		done.Messages, done.After, done.Before, quoted(done.Text)), nil
}

// quoted returns a text as a Markdown quotation, line by line.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(safetext.Text(text), "\n", "  \n> ")
}

// withDiff puts a confirmation before a diff, so that the diff is not mistaken for a question.
func withDiff(done, diff string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return done + "\n\n" + text.Fenced("diff", diff) + "\n", nil
}

func (bg *background) slashMemory(ctx context.Context, _, query string) (string, error) {
	var found agent.Remembered
	var err error
	if query == "" {
		found.Facts, err = bg.App.FindFacts(ctx, "")
	} else {
		const most = 5
		found, err = bg.App.SearchMemory(ctx, query, most)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if len(found.Facts) > 0 {
		b.WriteString("| line | fact | from |\n| --- | --- | --- |\n")
		for _, f := range found.Facts {
			fmt.Fprintf(&b, "| %d | %s | %s |\n", f.Line, cell(f.Text), cell(f.Provenance()))
		}
		b.WriteString("\n`/forget WORDS` forgets the fact that holds these words.\n")
	}
	for _, r := range found.Exchanges {
		fmt.Fprintf(&b, "\n**%s**, in *%s* (%s):\n\n> %s\n",
			r.Asked.Local().Format("2 January 2006"), cell(r.Title), r.Conversation, cell(app.Excerpt(r.Question)))
	}
	if query != "" {
		if b.Len() == 0 {
			return "Nothing found in memory.", nil
		}
		return b.String(), nil
	}
	folder, err := bg.App.FactsFolder()
	if err != nil {
		return "", err
	}
	archived, err := bg.App.Store.Archived(ctx)
	if err != nil {
		return "", err
	}
	if len(found.Facts) == 0 {
		b.WriteString("No facts about you yet. `/remember TEXT` adds one.\n")
	}
	fmt.Fprintf(&b, "\nFacts are in `%s`, which you can edit. %s can come back (`memory.scope: %s`).\n",
		filepath.Join(folder.Dir(), filepath.FromSlash(bg.App.Facts().Path)), draw.Count(archived, "past exchange"),
		bg.App.Settings.Memory.Scope)
	return b.String(), nil
}
