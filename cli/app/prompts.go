package app

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/internal/files"
	"lifehub/notes"
	"lifehub/tui/draw"
)

// Prompt is a saved prompt. Its file may have front matter:
//
//	---
//	name: week
//	description: what happened this week
//	tools: [search_notes, read_note]
//	---
type Prompt struct {
	Name        string
	Description string // one line
	File        string
	Err         error // why it cannot be used; nil if it can
	Text        string
	tools       []string // globs of the only tools it may use; nil for all
}

// validName matches names that can be a command.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// Read reads the prompts NAME.md of a folder, sorted by file name. Those that cannot be used have
// Err set.
func Read(dir string) (list []Prompt) {
	files, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil { // only for a bad pattern
		return nil
	}
	taken := map[string]string{}
	for _, file := range files {
		p := read(file)
		if first := taken[p.Name]; first != "" {
			p.Name, p.Err = strings.TrimSuffix(filepath.Base(file), ".md"),
				fmt.Errorf("%s: %s has the name %s already", file, filepath.Base(first), p.Name)
		}
		taken[p.Name] = cmp.Or(taken[p.Name], file)
		list = append(list, p)
	}
	return list
}

// read reads a prompt.
func read(file string) Prompt {
	p := Prompt{Name: strings.TrimSuffix(filepath.Base(file), ".md"), File: file}
	raw, err := files.Read(file)
	if err == nil {
		var front map[string]any
		front, p.Text, err = notes.Front(raw)
		if err == nil {
			err = p.take(front)
		}
	}
	if p.Description == "" {
		first, _, _ := strings.Cut(strings.TrimLeft(p.Text, "# \n"), "\n")
		p.Description = draw.Summary(first, 60)
	}
	if err == nil && !validName.MatchString(p.Name) {
		err = fmt.Errorf("the name %q: small letters, digits, - and _ make a command", p.Name)
	}
	if err != nil {
		p.Err = fmt.Errorf("%s: %w", file, err)
	}
	return p
}

// take applies front matter. An unknown key is an error, since it may be a misspelt restriction.
func (p *Prompt) take(front map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(front)) {
		switch value := front[key].(type) {
		case string:
			switch key {
			case "name":
				p.Name = value
				continue
			case "description":
				p.Description = draw.Summary(strings.Join(strings.Fields(value), " "), 200)
				continue
			case "tools":
				p.tools = append([]string{}, strings.FieldsFunc(value,
					func(r rune) bool { return r == ',' || r == ' ' })...)
				continue
			}
		case []any:
			if key == "tools" {
				p.tools = []string{}
				for _, item := range value {
					p.tools = append(p.tools, fmt.Sprint(item))
				}
				continue
			}
		}
		return fmt.Errorf("its front matter holds name, description and tools (a list of names); not %s: %v", key,
			draw.Summary(fmt.Sprint(front[key]), 60))
	}
	return nil
}

// Names returns the text and the tool globs, which may name MCP servers.
func (p Prompt) Names() string {
	return strings.Join(append(p.tools[:len(p.tools):len(p.tools)], p.Text), "\n")
}

// Takes reports whether the prompt has a placeholder for arguments.
func (p Prompt) Takes() bool { return blank.MatchString(p.Text) }

// Message returns the message to send. args is the text after the prompt's name and words are the
// words in it; known are the names of all tools. It is an error if one of the prompt's globs
// matches no tool.
func (p Prompt) Message(args string, words, known []string) (string, error) {
	if p.Err != nil {
		return "", p.Err
	}
	m := agent.Message{Text: filled(p.Text, args, words)}
	if p.tools != nil {
		m.Tools = []string{}
	}
	for _, glob := range p.tools {
		before := len(m.Tools)
		for _, name := range known {
			if fits, err := path.Match(glob, name); fits && err == nil {
				m.Tools = append(m.Tools, name)
			}
		}
		if len(m.Tools) == before {
			return "", fmt.Errorf("%s: no tool is called %s; `lifehub tools` lists them", p.File, glob)
		}
	}
	return m.String(), nil
}

// blank matches a placeholder: for all arguments, or for the Nth word.
var blank = regexp.MustCompile(`\$(?:ARGUMENTS|[1-9])\b`)

// filled inserts arguments into a prompt. Without a placeholder they are appended.
func filled(text, args string, words []string) string {
	text = strings.TrimSpace(text)
	if !blank.MatchString(text) {
		return strings.TrimSpace(text + "\n\n" + args)
	}
	return blank.ReplaceAllStringFunc(text, func(name string) string {
		n, err := strconv.Atoi(name[1:])
		switch {
		case err != nil:
			return args
		case n <= len(words):
			return words[n-1]
		}
		return ""
	})
}

// word matches one argument, quoted or not.
var word = regexp.MustCompile(`"([^"]*)"|(\S+)`)

// Words splits a line into arguments. Quotes group words.
func Words(args string) (words []string) {
	for _, found := range word.FindAllStringSubmatch(args, -1) {
		words = append(words, found[1]+found[2])
	}
	return words
}
