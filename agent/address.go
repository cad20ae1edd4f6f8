package agent

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"lifehub/internal/pattern"
	"lifehub/llm"
)

// Fetcher is a Tool that opens an address on the web. A call passes without
// asking when the user typed the address, or when this turn's web search
// returned it; else the user sees it first. One that is Outward goes on from
// there by itself, so it asks all the same.
type Fetcher interface {
	Address(args json.RawMessage) string
}

// webSearch is the tool whose results may be opened.
const webSearch = "web_search"

// addressText finds addresses in a text.
var addressText = pattern.Lazy(`(?i)\bhttps?://[^\s<>"'\x60|\\^{}]+`)

// OnWeb tells whether the path of a source or a citation is the address of a
// page of the web. That of a note never is: it holds no two slashes in a row.
func OnWeb(path string) bool {
	return strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://")
}

// placeName is a path with its line, where that says something.
func placeName(path string, line int) string {
	if line == 0 || OnWeb(path) {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// knownAddress tells whether the user or this turn's search gave the address.
func (t *turn) knownAddress(address string) bool {
	want := plainAddress(address)
	given := []string{t.typed(t.question)}
	for _, m := range t.history {
		if m.Role == llm.User {
			given = append(given, t.typed(m.Text))
		}
	}
	given = append(given, t.reading.searches()...)
	for _, text := range given {
		for _, found := range addressText.FindAllString(text, -1) {
			if want != "" && slices.Contains([]string{plainAddress(found), plainAddress(strings.TrimRight(found, ".,;:!?)]*_"))}, want) {
				return true
			}
		}
	}
	return false
}

// plainAddress is an address in one spelling; "" for one that cannot be read.
func plainAddress(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.Host, u.Fragment, u.RawFragment = strings.ToLower(u.Host), "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// ownLevel is the level of a call before any rule, and whether it opens an
// address that no question has shown. Such a one is shown each time, but where
// a rule names its host.
func (t *turn) ownLevel(c call) (own Level, newAddress bool) {
	own = c.tool.Level(slices.Clone(c.input))
	fetcher, ok := c.tool.(Fetcher)
	if !ok || own == Deny {
		return own, false
	}
	if !isOutward(c.tool) && t.knownAddress(fetcher.Address(c.input)) {
		return Auto, false
	}
	named := slices.ContainsFunc(append(t.gate.list(), c.ruled().tried...), func(r Rule) bool {
		return r.Level == Auto && r.Matches(c.tool.Spec().Name, c.input) && slices.ContainsFunc(r.Where, func(w Where) bool { return w.Fit == OnHost })
	})
	if named {
		return Confirm, true
	}
	return ConfirmEach, true
}
