package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/cli/settings"
	"lifehub/internal/files"
)

// LoadRules reads permissions.yaml. It returns nil if the file does not exist.
func LoadRules(file string) (*gate.Rules, error) {
	text, err := files.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, settings.UsageError{Err: fmt.Errorf("read permissions: %w", err)}
	}
	rules, err := gate.Parse(file, text)
	if err != nil {
		return nil, settings.UsageError{Err: err}
	}
	return rules, nil
}

// RuleText describes a rule without its level.
func RuleText(r gate.Rule) string {
	text := r.Tool
	for _, w := range r.Where {
		text += " " + w.Argument + ": " + w.String()
	}
	if r.Only {
		text += " and nothing else"
	}
	return text
}

// SaveRule appends a rule to permissions.yaml, after the user chose "always".
func (a *App) SaveRule(_ context.Context, rule gate.Rule) error {
	text, err := files.Read(a.Paths.PermissionsFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read permissions: %w", err)
	}
	text, err = gate.Append(text, rule)
	if err != nil {
		return err
	}
	return files.Write(a.Paths.PermissionsFile(), text)
}

// RemoveRules deletes the rules for exactly this tool or glob and returns their number. The rest of
// the file is unchanged.
func RemoveRules(file, tool string) (int, error) {
	all, err := LoadRules(file)
	if err != nil {
		return 0, err
	}
	text, err := files.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read permissions: %w", err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	removed := 0
	for i, rule := range slices.Backward(all.List()) {
		if rule.Tool != tool && rule.Tool != gate.For(tool, agent.Auto).Tool {
			continue
		}
		from, err := strconv.Atoi(rule.From[strings.LastIndexByte(rule.From, ':')+1:])
		if err != nil {
			return 0, fmt.Errorf("find rule %d in %s: %w", i+1, file, err)
		}
		to := from // lines[from-1] is the first line of the rule, and to the index after its last
		for to < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[to]), "-") &&
			strings.TrimSpace(lines[to]) != "" {
			to++
		}
		lines = slices.Delete(lines, from-1, to)
		removed++
	}
	if removed == 0 {
		return 0, nil
	}
	rest := []byte(strings.Join(lines, ""))
	after, err := gate.Parse(file, rest)
	if err != nil || len(after.List()) != len(all.List())-removed {
		return 0, fmt.Errorf("remove the rules for %s from %s by hand: the file is not a plain list of rules", tool,
			file)
	}
	return removed, files.Write(file, rest)
}

// Flags that add rules for one run. Such rules have the flag as their origin.
const (
	AllowFlag     = "--allow"
	UntrustedFlag = "--allow-untrusted"
)

// UnmatchedAllows returns the flags whose rule matches no available tool, because of a typo or a
// server that is not running.
func (a *App) UnmatchedAllows() (flags []string) {
	for _, rule := range a.Rules.List() {
		given := rule.From == AllowFlag || rule.From == UntrustedFlag
		matches := func(t agent.Tool) bool { return rule.MatchesTool(t.Spec().Name) }
		if given && !slices.ContainsFunc(a.Tools(), matches) {
			flags = append(flags, rule.From+" "+RuleText(rule))
		}
	}
	return flags
}

// Allow adds the rules given with a flag.
func (a *App) Allow(flag string, texts []string) error {
	for _, text := range texts {
		rule, err := gate.ParseOne(text)
		if err != nil {
			return settings.UsageError{Err: fmt.Errorf("%s: %w", flag, err)}
		}
		rule.From, rule.Untrusted = flag, flag == UntrustedFlag
		if rule.Untrusted && (rule.Level != agent.Auto || !rule.IsBound()) {
			return settings.UsageError{Err: fmt.Errorf("%s %s: name the arguments it may have, as in 'add_task "+
				"text=VALUE': "+
				"untrusted text may have chosen them", flag, text)}
		}
		a.Rules = a.Rules.With(rule)
	}
	return nil
}
