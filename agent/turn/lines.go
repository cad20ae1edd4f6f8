package turn

import (
	"slices"
	"strings"

	"lifehub/agent"
)

// merge adds a source to a list. If sources in the list overlap with it, the
// first such source is extended and absorbs further overlapping ones that have
// no number.
func merge(sources []agent.Source, s agent.Source) []agent.Source {
	at := sharing(sources, s)
	if at < 0 {
		return append(sources, s)
	}
	s, _ = joinSources(sources[at], s)
	for i := at + 1; i < len(sources); i++ {
		if wider, shares := joinSources(s, sources[i]); shares && sources[i].N == 0 {
			s, sources = wider, slices.Delete(sources, i, i+1)
			i--
		}
	}
	sources[at] = s
	return sources
}

// sharing returns the index of the first source that contains all of s, or else
// of the first that overlaps with it; -1 if there is none.
func sharing(sources []agent.Source, s agent.Source) int {
	first := -1
	for i, other := range sources {
		wider, shares := joinSources(other, s)
		if shares && wider.Line == other.Line && wider.EndLine == other.EndLine {
			return i
		}
		if shares && first < 0 {
			first = i
		}
	}
	return first
}

// joinSources returns a extended by the lines of b. It reports false if they do
// not overlap, or if an overlapping line differs.
func joinSources(a, b agent.Source) (agent.Source, bool) {
	ours, theirs := linesOf(a), linesOf(b)
	switch {
	case !a.SamePlace(b) || a.Line > b.EndLine || b.Line > a.EndLine:
		return a, false
	case ours == nil || theirs == nil:
		return a, contains(a, b)
	}
	for n := max(a.Line, b.Line); n <= min(a.EndLine, b.EndLine); n++ {
		if ours[n-a.Line] != theirs[n-b.Line] {
			return a, false
		}
	}
	if b.EndLine > a.EndLine {
		ours = append(ours, theirs[a.EndLine+1-b.Line:]...)
	}
	if b.Line < a.Line {
		ours, a.Heading = append(theirs[:a.Line-b.Line:a.Line-b.Line], ours...), b.Heading
	}
	a.Line, a.EndLine, a.Text = min(a.Line, b.Line), max(a.EndLine, b.EndLine), strings.Join(ours, "\n")
	a.Score, a.Untrusted, a.Dated = max(a.Score, b.Score), a.Untrusted || b.Untrusted, a.Dated || b.Dated
	return a, true
}

// linesOf returns the lines of a source; nil if its text does not consist of
// the lines it names.
func linesOf(s agent.Source) []string {
	lines := strings.Split(s.Text, "\n")
	if s.Line < 1 || len(lines) != s.EndLine-s.Line+1 {
		return nil
	}
	return lines
}

// contains reports whether source a, which may not consist of lines, contains
// b.
func contains(a, b agent.Source) bool {
	return a.Line == b.Line && a.EndLine == b.EndLine && strings.Contains(a.Text, b.Text)
}

// unseen returns the runs of lines of s that none of the sources contains.
func unseen(sources []agent.Source, s agent.Source) (runs []agent.Source) {
	lines := linesOf(s)
	seen := make([]bool, len(lines))
	for _, other := range sources {
		if !other.SamePlace(s) {
			continue
		}
		theirs := linesOf(other)
		if lines == nil || theirs == nil {
			if contains(other, s) {
				return nil
			}
			continue
		}
		for n := max(s.Line, other.Line); n <= min(s.EndLine, other.EndLine); n++ {
			seen[n-s.Line] = seen[n-s.Line] || lines[n-s.Line] == theirs[n-other.Line]
		}
	}
	if lines == nil {
		return []agent.Source{s}
	}
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && !seen[to] {
			to++
		}
		if run := strings.Join(lines[from:to], "\n"); strings.TrimSpace(run) != "" {
			part := s
			part.Line, part.EndLine, part.Text = s.Line+from, s.Line+to-1, run
			runs = append(runs, part)
		}
		from = to
	}
	return runs
}
