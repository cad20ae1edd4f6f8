package gate

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Ready prepares a permitted call to run. A change that was not shown is computed
// now; one that was shown stays as it is. Before a call writes lines that came
// from outside, that replace such lines, or whose note names its source no longer,
// it marks them, so that they are known when they are read back. planned is the call before the user could edit it:
// lines that the user wrote into the arguments are the user's own.
func (g *Guard) Ready(ctx context.Context, planned Call, p *Permit) error {
	if agent.ReadOnly(planned.Tool) {
		return nil
	}
	if !p.asked {
		_ = p.prepare(ctx) // Run returns the error
	}
	if _, restores := p.change.(agent.Restorer); restores || g.Record.Marks == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if len(p.preview.Disowned) > 0 {
		if err := g.Record.Marks.Mark(ctx, p.preview.Path, p.preview.Disowned); err != nil {
			return errUnmarked(err)
		}
	}
	var typed func(line string) bool
	if p.input.String() != planned.Input.String() {
		given := text.LineKeys(linesIn(planned.Input.Texts()))
		before := newPermit(planned)
		err := before.prepare(ctx)
		for _, b := range blocksOf(before.preview.Diffs()) {
			given = append(given, text.LineKeys(b.come)...)
		}
		typed = func(line string) bool {
			key, ok := text.LineKey(line)
			return ok && err == nil && !slices.Contains(given, key)
		}
	}
	sources := g.OriginOf(planned).Outside
	files := p.preview.Diffs()
	blocks := blocksOf(files)
	if p.change == nil { // the tool does not say what it writes
		blocks = append(blocks, block{come: linesIn(p.input.Texts())})
	}
	name := strings.TrimSuffix(path.Base(p.preview.Path), path.Ext(p.preview.Path))
	isNew := len(files) > 0 && files[0].From == agent.NoFile
	// it says something
	if isNew && len(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) })) > 2 {
		blocks = append(blocks, block{come: []string{name}})
	}
	if isNew && len(blocks) > 0 {
		blocks[0].come = withoutFront(blocks[0].come)
	}
	var held []int64
	for _, b := range blocks {
		held = append(held, text.LineKeys(b.held)...)
	}
	for _, b := range blocks {
		from := sources
		if len(from) == 0 {
			from = g.Record.marked(ctx, b.held)
		}
		come := slices.DeleteFunc(b.come, func(line string) bool {
			key, ok := text.LineKey(line)
			return !ok || slices.Contains(held, key) || typed != nil && typed(line)
		})
		if len(from) == 0 || len(come) == 0 {
			continue
		}
		if err := g.Record.Marks.Mark(ctx, strings.Join(from[:min(len(from), 3)], ", "), come); err != nil {
			return errUnmarked(err)
		}
	}
	return nil
}

// withoutFront returns the lines of a note without front matter that names its
// source: such a note is from outside as a whole, and its keys are in many notes.
func withoutFront(lines []string) []string {
	if len(lines) == 0 || lines[0] != "---" {
		return lines
	}
	end := slices.Index(lines[1:], "---") + 1
	if end == 0 || !slices.ContainsFunc(lines[:end], func(line string) bool {
		return strings.HasPrefix(line, "source:")
	}) {
		return lines
	}
	return lines[end+1:]
}

func errUnmarked(err error) error {
	return fmt.Errorf("note down where what it writes came from: %w", err)
}

// block is a part of a change: the lines that come, and those that they replace or
// that stay next to them.
type block struct{ held, come []string }

// blocksOf returns the parts of a diff.
func blocksOf(files []agent.FileDiff) (blocks []block) {
	var now block
	for _, file := range files {
		for _, hunk := range file.Hunks {
			for _, line := range hunk.Lines {
				switch text := line[1:]; line[0] {
				case '+':
					now.come = append(now.come, text)
				case '-':
					if len(now.come) > 0 {
						blocks, now = append(blocks, now), block{}
					}
					now.held = append(now.held, text)
				default:
					blocks = append(blocks, now, block{held: []string{text}})
					now = block{}
				}
			}
		}
		blocks, now = append(blocks, now), block{}
	}
	return blocks
}

func linesIn(texts []string) (lines []string) {
	for _, t := range texts {
		lines = append(lines, strings.Split(t, "\n")...)
	}
	return lines
}
