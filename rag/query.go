package rag

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/when"
)

// ParseQuery parses a typed query: words, "quoted phrases", and the filters path:, tag:,
// after: and before:. Values may be quoted, and filters repeated. Dates are 2026,
// 2026-03 or 2026-03-14; "after" includes that day, month or year, "before" does not.
// The error names the filter that is invalid.
func ParseQuery(text string) (Query, error) {
	var q Query
	var rest []string
	for _, field := range filterField.FindAllString(text, -1) {
		name, value, ok := strings.Cut(field, ":")
		name = strings.ToLower(name)
		if !ok || !slices.Contains([]string{"path", "tag", "after", "before"}, name) {
			rest = append(rest, field)
			continue
		}
		value = strings.Trim(value, `"`)
		if value == "" {
			return q, fmt.Errorf("%s needs a value: write %s", name, filterExamples[name])
		}
		switch name {
		case "path":
			q.Paths = append(q.Paths, value)
		case "tag":
			q.Tags = append(q.Tags, value)
		default:
			date, err := ParseDay(value)
			if err != nil {
				return q, fmt.Errorf("%s:%s is not a date; write %s", name, value, filterExamples[name])
			}
			if name == "after" {
				q.After = date
			} else {
				q.Before = date
			}
		}
	}
	if !q.Before.IsZero() && !q.After.Before(q.Before) {
		return q, fmt.Errorf("no day is after:%s and before:%s", q.After, q.Before)
	}
	q.Text = strings.Join(rest, " ")
	return q, nil
}

var filterExamples = map[string]string{
	"path": "path:recipes or path:daily/2026-*", "tag": "tag:running",
	"after": "after:2026-03 or after:2026-03-14", "before": "before:2026-03 or before:2026-03-14",
}

// filterField matches a filter with its value, a quoted phrase, or a word.
var filterField = regexp.MustCompile(`(?i)\b(?:path|tag|after|before):(?:"[^"]*"?|[^\s"]*)|"[^"]*"?|[^\s"]+`)

// ParseDay reads the first day of 2026-03-14, 2026-03 or 2026.
func ParseDay(value string) (when.Day, error) {
	value = strings.TrimSpace(value)
	return when.ParseDay(value + strings.TrimPrefix("2006-01-01", "2006-01-01"[:min(len(value), len("2006-01-01"))]))
}
