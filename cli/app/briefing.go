package app

import (
	"context"
	"fmt"
	"strings"

	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/store"
)

// BriefingDays returns the number of days of a period: "today", also for "", or "week".
func BriefingDays(period string) (int, error) {
	switch period {
	case "", "today":
		return 1, nil
	case "week":
		return 7, nil
	}
	return 0, settings.UsageError{Err: fmt.Errorf("%q is no period of a briefing; use today or week", period)}
}

// unfinishedDays is for how many days a conversation that was not finished is listed.
const unfinishedDays = 7

// Briefing returns the lines of a briefing for so many days, in order, and the notes that could not be read
// in words; "" if there are none. The conversations are those saved in s.
func (a *App) Briefing(ctx context.Context, s *store.Store, today when.Day,
	days int,
) (lines []tools.BriefLine, unread string, err error) {
	lines, unread, err = tools.Brief(gate.Hiding(ctx, a.Rules.List(), nil), a.Folders, today, days, s)
	if err != nil {
		return nil, "", err
	}
	unfinished, err := s.Unfinished(ctx, today.Add(1-unfinishedDays).Begins())
	for _, c := range unfinished {
		lines = append(lines, tools.BriefLine{
			Kind: tools.Unfinished, Conversation: c.ID,
			Text: text.OneLine(c.Title), Day: when.DayOf(c.Updated.Local()), Untrusted: c.Outside,
		})
	}
	return lines, unread, err
}

// briefingHead returns the heading of the lines of a kind.
func briefingHead(kind tools.BriefKind, lines, days int) string {
	until, since := "due today or overdue", "changed today"
	if days > 1 {
		until, since = fmt.Sprintf("due in %d days or overdue", days), fmt.Sprintf("changed in %d days", days)
	}
	switch kind {
	case tools.DueTask:
		return text.Count(lines, "task") + " " + until
	case tools.ChangedNote:
		return text.Count(lines, "note") + " " + since
	case tools.YearAgo:
		return text.Count(lines, "note") + " of this day a year ago"
	default:
		return text.Count(lines, "conversation") + " unfinished (`lifehub -r ID`, or /resume in the chat)"
	}
}

// maxBriefed bounds the lines of a kind that are shown.
const maxBriefed = 20

// BriefingText returns a briefing for so many days as Markdown, with the places of notes as shown by named and texts by
// quoted.
func BriefingText(lines []tools.BriefLine, today when.Day, days int, named, quoted func(string) string) string {
	if len(lines) == 0 {
		return "Nothing to report.\n"
	}
	count, shown := map[tools.BriefKind]int{}, map[tools.BriefKind]int{}
	for _, l := range lines {
		count[l.Kind]++
	}
	var b strings.Builder
	for _, l := range lines {
		if shown[l.Kind]++; shown[l.Kind] == 1 {
			fmt.Fprintf(&b, "%s**%s**\n\n", strings.Repeat("\n", min(1, b.Len())),
				briefingHead(l.Kind, count[l.Kind], days))
		}
		switch {
		case shown[l.Kind] == maxBriefed+1:
			fmt.Fprintf(&b, "- … and %s more\n", text.Thousands(count[l.Kind]-maxBriefed))
		case shown[l.Kind] <= maxBriefed:
			place, due := "`"+l.Conversation+"`", ""
			if l.Path != "" {
				place = named(FindingPlace(tools.Finding{Path: l.Path, Line: l.Line}))
			}
			if l.Kind == tools.DueTask && l.Day.Before(today) {
				due = ", overdue since " + l.Day.String()
			} else if l.Kind == tools.DueTask {
				due = ", due " + l.Day.String()
			}
			fmt.Fprintf(&b, "- %s %s%s\n", place, quoted(l.Text), due)
		}
	}
	return b.String()
}
