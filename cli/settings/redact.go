package settings

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// redacted replaces a secret.
const redacted = "[redacted]"

// shortestSecret is the minimum length in bytes of a known secret. Shorter values would match
// ordinary words.
const shortestSecret = 6

// redactor removes secrets from text: known values in every common encoding, and anything that
// looks like a secret.
type redactor struct{ forms []string }

// secretPatterns match text that looks like a secret. If a pattern has a group, the group is the
// secret.
var secretPatterns = []*regexp.Regexp{
	regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`),
	// OpenAI, Anthropic, Stripe
	regexp.MustCompile(`\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,})`), // GitHub, GitLab
	regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`),                                        // AWS
	regexp.MustCompile(`\bAIza[\w-]{35}`),                                                      // Google
	regexp.MustCompile(`\bxox[abeoprs]-[\w-]{10,}`),                                            // Slack
	// Hugging Face, npm, DigitalOcean
	regexp.MustCompile(`\b(?:hf|npm|dop_v1)_[A-Za-z0-9]{20,}`),
	regexp.MustCompile(`\bBSA[A-Za-z0-9_-]{24,}`),                            // Brave Search
	regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`),                  // JSON web token
	regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9+/._~=-]{12,})`), // Authorization
	regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s/:@"']*:([^\s/@"']{3,})@`),   // password in a URL
	regexp.MustCompile(`(?i)\b[\w-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|` +
		`access[_-]?token)["']?\s*[:=]\s*["']?([^\s"',;&]{6,})`),
}

// newRedactor returns a redactor of the given values.
func newRedactor(values []string) *redactor {
	r := &redactor{}
	for _, value := range values {
		value = strings.TrimSpace(value)
		if len(value) >= shortestSecret {
			r.forms = append(r.forms, formsOf(value)...)
		}
	}
	// Longest first, so that nothing remains of a longer secret.
	slices.SortFunc(r.forms, func(a, b string) int { return len(b) - len(a) })
	known := map[string]bool{}
	r.forms = slices.DeleteFunc(r.forms, func(form string) bool {
		was := known[form]
		known[form] = true
		return was
	})
	return r
}

// formsOf returns the encodings of a value: plain, in URLs, JSON, HTML, hex and base64, the last at
// each of the three offsets within a group of bytes.
func formsOf(value string) []string {
	quoted, _ := json.Marshal(value)
	component := inComponent.Replace(url.QueryEscape(value))
	forms := []string{
		value, url.QueryEscape(value), url.PathEscape(value), component,
		string(quoted[1 : len(quoted)-1]), strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value),
		html.EscapeString(value), hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for _, form := range forms[1:4] {
		forms = append(forms, lowerEscapes(form))
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			encoded := encoding.EncodeToString(append(make([]byte, before), value...))
			encoded = encoded[[]int{0, 2, 3}[before]:]
			if (before+len(value))%3 != 0 {
				encoded = encoded[:len(encoded)-1] // the last character also depends on the next byte
			}
			forms = append(forms, encoded)
		}
	}
	return forms
}

// inComponent undoes the escapes that JavaScript's encodeURIComponent does not make.
var inComponent = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// lowerEscapes returns a URL with its percent escapes in lower case.
func lowerEscapes(text string) string { return percent.ReplaceAllStringFunc(text, strings.ToLower) }

// span is a range of bytes.
type span struct{ from, to int }

// base64End matches the last base64 character of a secret, which also depends on the next byte, and
// the padding.
var base64End = regexp.MustCompile(`^[A-Za-z0-9+/_-]?={1,2}`)

// find returns the spans of known secrets and of matches of the patterns, in order and without
// overlap.
func (r *redactor) find(text string, patterns []*regexp.Regexp) []span {
	var found []span
	for _, form := range r.forms {
		for at := 0; ; {
			i := strings.Index(text[at:], form)
			if i < 0 {
				break
			}
			end := at + i + len(form)
			found = append(found, span{at + i, end + len(base64End.FindString(text[end:]))})
			at = end
		}
	}
	for _, secret := range patterns {
		for _, m := range secret.FindAllStringSubmatchIndex(text, -1) {
			if len(m) > 2 {
				m = m[2:]
			}
			if text[m[0]:m[1]] != redacted {
				found = append(found, span{m[0], m[1]})
			}
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var apart []span
	for _, s := range found {
		if n := len(apart); n > 0 && s.from <= apart[n-1].to {
			apart[n-1].to = max(apart[n-1].to, s.to)
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// text returns text without secrets.
func (r *redactor) text(text string) string { return r.pieces([]string{text})[0] }

// known returns text without known secrets. Text that only looks like a secret is unchanged, since
// the user may want to read about it.
func (r *redactor) known(text string) string {
	return cutSpans([]string{text}, r.find(text, nil))[0]
}

// pieces is like text for text in pieces, where a secret may span several.
func (r *redactor) pieces(pieces []string) []string {
	return cutSpans(pieces, r.find(strings.Join(pieces, ""), secretPatterns))
}

// cutSpans removes spans from a text in pieces.
func cutSpans(pieces []string, found []span) []string {
	if len(found) == 0 {
		return pieces
	}
	clean := make([]string, len(pieces))
	start := 0
	for i, piece := range pieces {
		var b strings.Builder
		at := start
		for _, s := range found {
			from, to := max(s.from, at), min(s.to, start+len(piece))
			if from >= to {
				continue
			}
			b.WriteString(piece[at-start : from-start])
			if s.from >= start {
				b.WriteString(redacted)
			}
			at = to
		}
		b.WriteString(piece[at-start:])
		clean[i] = b.String()
		start += len(piece)
	}
	return clean
}

// trace returns the lines of a trace without secrets. A line that is not JSON becomes an event with
// its redacted text.
func (r *redactor) trace(lines []byte) []byte {
	list := bytes.SplitAfter(lines, []byte("\n"))
	r.streamed(list)
	var out bytes.Buffer
	for _, line := range list {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !json.Valid(line) {
			quoted, _ := json.Marshal(map[string]string{
				"type": "unreadable",
				"text": r.text(strings.ToValidUTF8(string(line), "\uFFFD")),
			})
			out.Write(append(quoted, '\n'))
			continue
		}
		out.Write(r.strings(line))
	}
	return out.Bytes()
}

// piece is an event of streamed text.
type piece struct{ Type, Step, Content string }

// pieceIn parses a line as a piece. It reports false for other events, even if they contain such
// text, for example in the arguments of a call.
func pieceIn(line []byte) (p piece, ok bool) {
	if !bytes.Contains(line, []byte(`"type":"token"`)) && !bytes.Contains(line, []byte(`"type":"thinking"`)) {
		return p, false
	}
	err := json.Unmarshal(line, &p)
	return p, err == nil && (p.Type == "token" || p.Type == "thinking")
}

// streamed redacts streamed texts: the answer, and the reasoning of each of the parallel workers.
func (r *redactor) streamed(lines [][]byte) {
	at, pieces := map[string][]int{}, map[string][]string{} // by kind and step
	for i, line := range lines {
		if p, ok := pieceIn(line); ok {
			text := p.Type + " " + p.Step
			at[text], pieces[text] = append(at[text], i), append(pieces[text], p.Content)
		}
	}
	for text, originals := range pieces {
		for n, clean := range r.pieces(originals) {
			i := at[text][n]
			var event map[string]any
			if clean == originals[n] || json.Unmarshal(lines[i], &event) != nil {
				continue
			}
			event["content"] = clean
			if line, err := json.Marshal(event); err == nil {
				lines[i] = append(line, '\n')
			}
		}
	}
}

// jsonString matches a JSON string, keys included.
var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// strings redacts the strings in a line of JSON and leaves the rest unchanged.
func (r *redactor) strings(line []byte) []byte {
	return jsonString.ReplaceAllFunc(line, func(quoted []byte) []byte {
		var text string
		if json.Unmarshal(quoted, &text) != nil {
			return quoted
		}
		clean := r.text(text)
		if clean == text {
			return quoted
		}
		again, err := json.Marshal(clean)
		if err != nil {
			return []byte(`"` + redacted + `"`)
		}
		return again
	})
}
