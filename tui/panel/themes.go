package panel

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
)

// Themes is the list of themes. The whole screen previews the chosen one.
type Themes struct {
	Picker
	taken bool
}

// NewThemes lists the themes, with the current one chosen; choose gets the name of the chosen one.
func NewThemes(present string, choose func(name string) tea.Cmd) *Themes {
	t := &Themes{Picker: Picker{Title: "Themes", Rows: draw.Themes()}}
	t.Chosen = max(0, slices.IndexFunc(t.Rows, func(r draw.Row) bool { return r.Label == present }))
	t.Pick = func(at int) tea.Cmd {
		t.taken = true
		return choose(t.Rows[at].Label)
	}
	return t
}

// chosen returns the name of the chosen theme, or "" if nothing matches.
func (t *Themes) chosen() string {
	if list := t.Matching(); t.Picker.Chosen < len(list) {
		return t.Rows[list[t.Picker.Chosen]].Label
	}
	return ""
}

// Update previews the theme that was moved to. Closing the list without choosing restores the
// theme before.
func (t *Themes) Update(msg tea.Msg, k *draw.Keys) (Panel, tea.Msg, tea.Cmd) {
	before := t.chosen()
	next, did, cmd := t.Picker.Update(msg, k)
	if next == nil {
		if !t.taken {
			did = Wear{}
		}
		return nil, did, cmd
	}
	if now := t.chosen(); now != before {
		did = Wear{now}
	}
	return t, did, cmd
}

// Hints are the keys of the list.
func (t *Themes) Hints(k *draw.Keys) []string {
	return []string{moveHint(k), Hint(k.PickerChoose, "save"), Hint(k.PickerClose, "keep current theme")}
}

// View draws the list and a sample answer, next to it or below.
func (t *Themes) View(width, rows int, k *draw.Keys, theme *draw.Theme) (c Content) {
	list := func(width, rows int) []string {
		c = t.Picker.View(width, rows, k, theme)
		return c.Lines
	}
	switch {
	case width >= wideList:
		c.Lines = masterDetail(len(t.Rows), width, rows, theme, list,
			func(width int) []string { return sample(width, theme) })
	case rows < 12:
		list(width, rows)
	default:
		c.Lines = append(list(width, rows-5), theme.Border.Render(strings.Repeat("─", width)))
		c.Lines = append(c.Lines, sample(width, theme)[:4]...)
	}
	return c
}

const sampleAnswer = "At most **10 %** a week, says the [plan](https://example.org) [1] ✓, and `every fourth` week " +
	"less.\n\n" +
	"## A heading\n\n```go\nweeks := 4 // steps\nfmt.Println(\"km\", weeks)\n```\n\n```diff\n-10 km\n+11 km\n```\n"

// sample draws a part of a chat in a theme.
func sample(width int, theme *draw.Theme) []string {
	answer := draw.NewMarkdownStream("")
	before, after, _ := strings.Cut(sampleAnswer, " ✓")
	answer.Write(before)
	answer.Verdict(draw.Quoted, " ✓")
	answer.Write(after)
	answer.Close()
	verdicts := theme.Success.Render("✓ quoted") + theme.Dim.Render(" · ") + theme.Warning.Render("! changed since")
	return append([]string{
		draw.Shaded(theme.You.Render("▌")+" How do I raise it?", width, theme),
		draw.Truncate(theme.Reference.Render("[1]")+" "+verdicts, width),
		draw.Truncate(theme.Reference.Render("[2]")+" "+theme.Danger.Render("✗ not in that note"), width),
		"",
	}, answer.Lines(width, theme)...)
}
