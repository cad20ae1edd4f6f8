package text

import "regexp"

const (
	citationNumbers = `\d{1,5}(?:\s*[,;–-]\s*\d{1,5})*`
	citationForms   = `\[\[` + citationNumbers + `\]\]\([^()\n]*\)|[\[［](?:\^|(?i:(?:sources?|quellen?) ))?` +
		citationNumbers + `[\]］]|【` + citationNumbers + `[^】\n]{0,40}】`
)

var (
	// CitationForm matches what may be a citation: [1], [1, 2], [1-3], [source 1],
	// 【1】, 【1†note】, ［1］, [^1] and [[1]](note.md). Whether it is one depends on
	// what it follows, and on the sources.
	CitationForm = regexp.MustCompile(citationForms)
	// CitationNumbers matches the list of numbers in a citation: its first match.
	CitationNumbers = regexp.MustCompile(citationNumbers)
)
