package plain

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
)

// mostRows is how many rows of a list are written at once: more are not heard
// to the end.
const mostRows = 20

// choose has the user pick a row by its number. Words list the rows that hold
// them, and what search finds for them; nil: it finds nothing more. What was
// found counts on after the rows of the list. false: none was picked.
func (p *Chat) choose(ctx context.Context, list panel.Picker, search func(words string) ([]draw.Row, error)) (at int, ok bool) {
	p.print("%s\n", safetext.Line(list.Title))
	if len(list.Rows) == 0 {
		p.print("%s\n", safetext.Text(list.Empty))
		return 0, false
	}
	rows, shown := list.Rows, list.Matching()
	for {
		p.rows(rows, shown)
		line, ok := p.ask(ctx, "a number, or words to filter; empty leaves: ")
		line = strings.TrimSpace(line)
		if !ok || line == "" {
			return 0, false
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(shown) {
			return shown[n-1], true
		}
		list.Filter = line
		rows, shown = list.Rows, list.Matching()
		if search != nil {
			found, err := search(line)
			if err != nil {
				p.fail(err)
			}
			for _, r := range found {
				shown = append(shown, len(rows))
				rows = append(rows[:len(rows):len(rows)], r)
			}
		}
		if len(shown) == 0 {
			p.print("nothing matches that\n")
			list.Filter = ""
			rows, shown = list.Rows, list.Matching()
		}
	}
}

// rows writes some rows of a list, a numbered line each.
func (p *Chat) rows(rows []draw.Row, shown []int) {
	for n, at := range shown {
		if n == mostRows {
			p.print("… and %d more; words find them\n", len(shown)-n)
			return
		}
		r := rows[at]
		p.print("%d. %s\n", n+1, strings.TrimSuffix(safetext.Line(r.Label)+" · "+safetext.Line(r.Detail), " · "))
	}
}

// order asks what to do with which of n rows: a letter and a number, in any
// order, of which the letter may be left out, and the number where there is one
// row. The letter is 0 when it was left out; false: nothing is to be done.
func (p *Chat) order(ctx context.Context, n int, letters, prompt string) (letter rune, at int, ok bool) {
	for {
		line, ok := p.ask(ctx, prompt)
		line = strings.TrimSpace(line)
		if !ok || line == "" {
			return 0, 0, false
		}
		if letter, at, ok := ordered(line, letters, n); ok {
			return letter, at, true
		}
		p.print("that is not one of them\n")
	}
}

// ordered reads an order such as "c 2".
func ordered(line, letters string, n int) (letter rune, at int, ok bool) {
	rest := strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters, r) && letter == 0 {
			letter = r
			return ' '
		}
		return r
	}, line)
	if rest = strings.TrimSpace(rest); rest == "" && n == 1 && letter != 0 {
		return letter, 0, true
	}
	at, err := strconv.Atoi(rest)
	return letter, at - 1, err == nil && at >= 1 && at <= n
}

// agree asks whether to do something that costs something.
func (p *Chat) agree(ctx context.Context, question string) bool {
	line, _ := p.pick(ctx, fmt.Sprintf("%s y yes · n no: ", question), "y", "n")
	return line == "y"
}
