package dialog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Line is a sanitised text about a call that waits for permission. It may have several
// lines.
type Line struct {
	Mark
	Text string
}

// Mark is the kind of a line.
type Mark int

const (
	Plain    Mark = iota
	Sentence      // what will happen, in words
	Argument
	Added
	Removed
	Context
	Warning // why the user is asked although a rule could allow the call
	Detail
)

// Style returns how lines of a kind are drawn.
func (m Mark) Style(theme *draw.Theme) lipgloss.Style {
	switch m {
	case Sentence:
		return theme.Strong
	case Added:
		return theme.Added
	case Removed:
		return theme.Removed
	case Warning:
		return theme.Warning
	case Context, Detail:
		return theme.Dim
	}
	return theme.Text
}

// Title returns the text before and after the name of the tool in the title.
func Title(asked agent.PermissionAsked) (before, after string) {
	if asked.Unknown {
		return "", ": outcome unknown"
	}
	return "Allow ", "?"
}

// Describe describes what a call will do: in a sentence, then by its diff, or by its
// arguments if it has none. With details it adds lines that are not needed each time.
func Describe(asked agent.PermissionAsked, details bool) (lines []Line) {
	add := func(mark Mark, text string) { lines = append(lines, Line{mark, text}) }
	text, files := asked.Preview.Text, asked.Preview.Diffs()
	single := len(files) == 1 && asked.Preview.To == ""
	diff := diffLines(files, !single)
	if single {
		title := sentence(asked.Preview, diff)
		if places := files[0].Hunks; len(places) == 1 && places[0].Line > 0 {
			title += ", " + placeOf(places[0])
			diff = slices.DeleteFunc(diff, func(l Line) bool { return l.Mark == Detail })
		}
		add(Sentence, safetext.Reveal(title))
	} else if first, rest, _ := strings.Cut(text, "\n"); first != "" {
		add(Sentence, safetext.Reveal(first))
		text = rest
	}
	lines = append(lines, diff...)
	if diff == nil || details {
		pairs := chat.Arguments(asked.Input)
		for _, pair := range pairs {
			value := safetext.Reveal(chat.ExactArguments(pair.Value))
			if strings.Contains(value, "\n") {
				value = "\n" + value
			}
			add(Argument, safetext.Reveal(pair.Key)+": "+value)
		}
		if len(pairs) == 0 {
			add(Detail, "no arguments")
		}
	}
	if text != "" {
		add(Plain, safetext.Reveal(text))
	}
	if details {
		rule := "each call is asked about"
		if asked.Rule != "" {
			rule = "“always” would write the rule: " + safetext.Reveal(asked.Rule)
		}
		add(Detail, fmt.Sprintf("as sent (%s): %s", draw.Bytes(int64(len(asked.Input))),
			safetext.Reveal(string(asked.Input))))
		add(Detail, "sha-256: "+safetext.Reveal(asked.Hash))
		add(Detail, "step: "+safetext.Reveal(asked.Step)+" · "+rule)
	}
	if !asked.Since.IsZero() {
		add(Warning, "it was started "+draw.When(asked.Since, time.Now())+" and may have happened")
	}
	switch why := "why it asks: " + safetext.Reveal(asked.Reason); {
	case asked.Reason == "":
	case asked.Rule == "" || asked.Destination != "": // no rule would settle it, or the notes are concerned
		add(Warning, why)
	case details:
		add(Detail, why)
	}
	return lines
}

// RuleInWords describes the calls that a rule covers, or returns a rule that cannot be
// parsed.
func RuleInWords(rule string) string {
	r, err := gate.ParseOne(rule)
	if err != nil {
		return rule
	}
	return r.Words()
}

// sentence summarises a change of a file.
func sentence(change agent.Preview, diff []Line) string {
	added, removed := 0, 0
	for _, line := range diff {
		switch line.Mark {
		case Added:
			added++
		case Removed:
			removed++
		}
	}
	switch {
	case strings.HasPrefix(change.Diff, "--- /dev/null\n"):
		return fmt.Sprintf("Create %s with %s", change.Path, draw.Count(added, "line"))
	case removed == 0:
		return fmt.Sprintf("Add %s to %s", draw.Count(added, "line"), change.Path)
	case added == 0:
		return fmt.Sprintf("Remove %s from %s", draw.Count(removed, "line"), change.Path)
	case added == removed:
		return fmt.Sprintf("Change %s of %s", draw.Count(added, "line"), change.Path)
	}
	return fmt.Sprintf("Change %s: add %s, remove %s", change.Path, draw.Count(added, "line"),
		draw.Count(removed, "line"))
}

// diffLines returns the lines of a diff with their marks, and with the path of each file if they are named.
func diffLines(files []agent.FileDiff, named bool) (lines []Line) {
	for _, file := range files {
		if named {
			lines = append(lines, Line{Detail, safetext.Reveal(headOf(file))})
		}
		for _, hunk := range file.Hunks {
			if hunk.Line > 0 {
				lines = append(lines, Line{Detail, placeOf(hunk)})
			}
			for _, line := range hunk.Lines {
				mark := map[byte]Mark{'+': Added, '-': Removed, ' ': Context}[line[0]]
				lines = append(lines, Line{mark, line[:1] + " " + safetext.Reveal(line[1:])})
			}
		}
		for len(lines) > 0 && lines[len(lines)-1] == (Line{Context, "  "}) {
			lines = lines[:len(lines)-1]
		}
	}
	return lines
}

// placeOf says where a hunk changes its file ("line 8").
func placeOf(hunk agent.Hunk) string { return fmt.Sprintf("line %d", hunk.Place()) }

// headOf says which file a part of a diff is about.
func headOf(file agent.FileDiff) string {
	switch {
	case file.From == agent.NoFile:
		return file.To + " (new)"
	case file.To == agent.NoFile:
		return file.From + " (removed)"
	case file.From != file.To:
		return file.From + " → " + file.To
	}
	return file.To
}
