package mcpserve

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/internal/text"
	"lifehub/internal/when"
)

// addPrompts adds the prompts that users can select in the client.
func (s *notesServer) addPrompts() {
	add := func(name, what string, argument mcp.PromptOption, key string, ask func(value string) (string, error)) {
		offered := mcp.NewPrompt(name, mcp.WithPromptDescription(what), argument)
		s.mcp.AddPrompt(offered, func(_ context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			prompt, err := ask(text.Clip(text.OneLine(request.Params.Arguments[key]), 2000))
			if err != nil {
				return nil, err
			}
			return mcp.NewGetPromptResult(what, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser,
				mcp.NewTextContent(prompt))}), nil
		})
	}
	add("weekly_review", "Look back on a week of notes and tasks, with quotations",
		mcp.WithArgument("day", mcp.ArgumentDescription("a day of the week, YYYY-MM-DD; this week if left out")), "day",
		weeklyReview)
	add("answer_with_quotations", "Answer a question from the notes, with checked quotations",
		mcp.WithArgument("question", mcp.RequiredArgument(), mcp.ArgumentDescription("what to answer")), "question",
		func(question string) (string, error) {
			if question == "" {
				return "", fmt.Errorf("answer_with_quotations needs a question")
			}
			return "Answer this from my notes: " + question +
				"\n\nSearch with search_notes, and read on with read_note where a passage is too short. " +
				"Put what the notes say in quotation marks, word for word, each with its source as [path.md:line]. " +
				"Give the whole answer to check_citations and correct what is not verified. If the notes don't say, " +
				"say so.", nil
		})
	add("check_draft", "Check a note that quotes other notes: what holds, and what does not",
		mcp.WithArgument("note", mcp.RequiredArgument(), mcp.ArgumentDescription("path of the note")), "note",
		func(note string) (string, error) {
			if note == "" {
				return "", fmt.Errorf("check_draft needs a note")
			}
			return "Read the note " + strconv.Quote(note) + " with read_note and give its text to check_citations. " +
				"List what is not verified: " +
				"the words, what the cited note says instead with [path.md:line], and how to put it right. Change " +
				"nothing.", nil
		})
}

func weeklyReview(day string) (string, error) {
	at := when.DayOf(time.Now())
	if day != "" {
		var err error
		if at, err = when.ParseDay(day); err != nil {
			return "", fmt.Errorf("weekly_review: the day %q is not written as YYYY-MM-DD", day)
		}
	}
	from := at.Monday()
	return fmt.Sprintf("Review my week from %s to %s.\n\n1. Find its notes: search_notes with after %s and before "+
		"%s, and list_notes.\n"+
		"2. Find its tasks: list_tasks, done in these days, still open, and overdue.\n"+
		"3. Write a page: what happened, what was finished, what is left open, what to look at next week. "+
		"Quote my own words with [path.md:line], and leave out what the notes don't say.\n"+
		"4. Give the page to check_citations and correct it before you show it.",
		from, from.Add(6), from, from.Add(7)), nil
}
