// Package config reads and edits mcp.json, which lists the MCP servers, and
// reads the files that other clients have for that. Start at [Read].
package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/pattern"
)

// Transport is how a server is spoken to.
type Transport string

// The transports. An url without a type is tried as HTTP, then as SSE.
const (
	Stdio Transport = "stdio" // a program on this machine
	HTTP  Transport = "http"  // streamable HTTP
	SSE   Transport = "sse"   // HTTP as servers spoke it before 2025
)

// Config is what mcp.json says.
type Config struct {
	File    string // where it was read from
	Servers []Entry

	Lookup func(string) (string, bool) // the value of a variable
}

// Entry is one entry of mcp.json, as written: ${NAME} stands for a variable
// that is put in only when the server starts, so that this can be shown.
type Entry struct {
	Name      string
	Transport Transport
	Command   string
	Args      []string
	Env       map[string]string
	Cwd       string // "": the folder of mcp.json
	URL       string
	Headers   map[string]string
	Disabled  bool
	Allow     []string      // globs of the tools that are offered; nil: all
	Deny      []string      // globs of those that are not
	Level     agent.Level   // of its tools, before the rules
	Timeout   time.Duration // of one call; 0: that of Options
	LogLevel  string        // from which on it logs by protocol; "": its own choice
	Roots     []string      // folders that the server is told of; nil: none

	Guessed bool // the transport was not given: HTTP may turn out to be SSE
}

// Read reads mcp.json. lookup gives the values of variables when a
// server starts; os.LookupEnv is one. A file that is not there has no
// servers. The error names each mistake with its line.
func Read(file string, lookup func(string) (string, bool)) (Config, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{File: file}, nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read MCP servers: %w", err)
	}
	servers, err := parse(file, data)
	if err != nil {
		return Config{}, err
	}
	return Config{File: file, Servers: servers, Lookup: lookup}, nil
}

// Only is the config of one of its servers.
func (c Config) Only(name string) (Config, error) {
	for _, s := range c.Servers {
		if s.Name == name {
			c.Servers = []Entry{s}
			return c, nil
		}
	}
	return Config{}, fmt.Errorf("there is no MCP server %q in %s", name, c.File)
}

// Missing are the names of the variables that a server needs and that are not set.
func (c Config) Missing(s Entry) []string {
	_, missing := s.Resolved(c.Lookup)
	return missing
}

// problems collects what is wrong with a file.
type problems struct {
	file string
	list []problem
}

type problem struct {
	line int
	text string
}

func (m *problems) add(line int, format string, args ...any) {
	m.list = append(m.list, problem{line, fmt.Sprintf(format, args...)})
}

func (m *problems) err() error {
	slices.SortStableFunc(m.list, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	errs := make([]error, 0, len(m.list))
	for _, one := range m.list {
		errs = append(errs, fmt.Errorf("%s:%d: %s", m.file, one.line, one.text))
	}
	return errors.Join(errs...)
}

func parse(file string, data []byte) ([]Entry, error) {
	wrong := &problems{file: file}
	doc := readDocument(bytes.TrimPrefix(data, []byte("\ufeff")), wrong)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	var servers []Entry
	for _, key := range doc.keys() {
		switch key.name {
		case "$schema":
		case "mcpServers":
			for _, entry := range key.value.keys() {
				servers = append(servers, readServer(entry, wrong))
			}
			if key.value.kind != object {
				wrong.add(key.line, "mcpServers is %s; it must be an object of servers by name", key.value.kind)
			}
		default:
			wrong.add(key.line, "unknown key %q; servers stand under \"mcpServers\"", key.name)
		}
	}
	return servers, wrong.err()
}

// serverName keeps names readable in tool names (see wireName) and in
// @server:uri and /server:prompt.
var serverName = pattern.Lazy(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)

// headerName is a token of RFC 9110.
var headerName = pattern.Lazy("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func readServer(entry member, wrong *problems) Entry {
	s := Entry{Name: entry.name, Level: agent.Confirm}
	bad := func(line int, format string, args ...any) {
		wrong.add(line, "server %q: %s", s.Name, fmt.Sprintf(format, args...))
	}
	if !serverName.MatchString(s.Name) || len(WirePrefix(s.Name)) > maxPrefix {
		bad(entry.line, "a name is up to 32 letters, digits, hyphens and single underscores")
	}
	if entry.value.kind != object {
		bad(entry.line, "it is %s; it must be an object", entry.value.kind)
		return s
	}
	for _, key := range entry.value.keys() {
		if problem := s.set(key); problem != "" {
			bad(key.line, "%s", problem)
		}
	}
	s.check(func(format string, args ...any) { bad(entry.line, format, args...) })
	return s
}

// set takes one key of a server's entry and returns what is wrong with it.
func (s *Entry) set(key member) string {
	var err error
	switch key.name {
	case "type":
		return s.setTransport(key.value)
	case "command":
		if key.value.kind == array { // the whole command line, as some clients write it
			var words []string
			if err = key.value.into(&words); err == nil && len(words) > 0 {
				s.Command, s.Args = words[0], append(words[1:], s.Args...)
			}
			break
		}
		err = key.value.into(&s.Command)
	case "args":
		var words []string
		err = key.value.into(&words)
		s.Args = append(s.Args, words...)
	case "env":
		err = key.value.into(&s.Env)
	case "cwd":
		err = key.value.into(&s.Cwd)
	case "url":
		err = key.value.into(&s.URL)
	case "headers":
		err = key.value.into(&s.Headers)
	case "roots":
		err = key.value.into(&s.Roots)
	case "enabled":
		var enabled bool
		err = key.value.into(&enabled)
		s.Disabled = !enabled
	case "disabled":
		err = key.value.into(&s.Disabled)
	case "permission":
		var word string
		if err = key.value.into(&word); err == nil {
			err = s.Level.UnmarshalText([]byte(word))
		}
	case "log_level":
		if err = key.value.into(&s.LogLevel); err == nil && !slices.Contains(logLevels, s.LogLevel) {
			err = fmt.Errorf("%q is none of %s", s.LogLevel, strings.Join(logLevels, ", "))
		}
	case "timeout":
		return s.setTimeout(key.value)
	case "tools":
		return s.setTools(key.value)
	default:
		return fmt.Sprintf("unknown key %q; there are %s", key.name, strings.Join(serverKeys, ", "))
	}
	if err != nil {
		return fmt.Sprintf("%s: %v", key.name, err)
	}
	return ""
}

var serverKeys = []string{"type", "command", "args", "env", "cwd", "url", "headers", "enabled", "disabled", "tools", "permission", "timeout", "roots", "log_level"}

// logLevels are those of the protocol, from chatty to grave.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setTransport reads the names that other clients use, too.
func (s *Entry) setTransport(v value) string {
	var word string
	if err := v.into(&word); err != nil {
		return "type: " + err.Error()
	}
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(word)) {
	case "stdio", "local":
		s.Transport = Stdio
	case "http", "streamablehttp", "streamable":
		s.Transport = HTTP
	case "remote":
		s.Transport, s.Guessed = HTTP, true
	case "sse":
		s.Transport = SSE
	default:
		return fmt.Sprintf("type %q is not known; it is stdio, http or sse", word)
	}
	return ""
}

// setTimeout takes a number of seconds or a duration such as "90s".
func (s *Entry) setTimeout(v value) string {
	var seconds float64
	var word string
	switch {
	case v.into(&seconds) == nil:
		s.Timeout = time.Duration(seconds * float64(time.Second))
	case v.into(&word) == nil:
		d, err := time.ParseDuration(word)
		if err != nil {
			return fmt.Sprintf("timeout %q is not a duration such as 90s or 2m", word)
		}
		s.Timeout = d
	default:
		return "timeout is a number of seconds or a duration such as 90s"
	}
	if s.Timeout <= 0 || s.Timeout > time.Hour {
		return fmt.Sprintf("timeout is %v; it must be more than nothing and at most 1h (a bare number counts seconds)", s.Timeout)
	}
	return ""
}

func (s *Entry) setTools(v value) string {
	if v.kind != object {
		return "tools is an object with allow and deny"
	}
	for _, key := range v.keys() {
		list := map[string]*[]string{"allow": &s.Allow, "deny": &s.Deny}[key.name]
		if list == nil {
			return fmt.Sprintf("tools has no key %q; there are allow and deny", key.name)
		}
		if err := key.value.into(list); err != nil {
			return fmt.Sprintf("tools.%s: %v", key.name, err)
		}
		for _, glob := range *list {
			if _, err := path.Match(glob, ""); err != nil {
				return fmt.Sprintf("tools.%s: %q is not a pattern: %v", key.name, glob, err)
			}
		}
	}
	return ""
}

// check looks at an entry as a whole.
func (s *Entry) check(bad func(format string, args ...any)) {
	switch {
	case s.Command == "" && s.URL == "":
		bad("it needs a command (a program on this machine) or an url")
	case s.Command != "" && s.URL != "":
		bad("it has a command and an url; which is it?")
	case s.Command != "" && s.Transport == "":
		s.Transport = Stdio
	case s.URL != "" && s.Transport == "":
		s.Transport, s.Guessed = HTTP, true
	case (s.Transport == Stdio) != (s.Command != ""):
		bad("type %s does not go with what it has: stdio needs a command, http and sse an url", s.Transport)
	}
	if s.URL != "" && !strings.HasPrefix(s.URL, "${") {
		if u, err := url.Parse(s.URL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			bad("url %q is not an http or https address", s.URL)
		} else if u.User != nil {
			bad("url holds a password; put it into headers, as ${NAME}")
		}
	}
	for name := range s.Headers {
		if !headerName.MatchString(name) {
			bad("header %q is not a header name", name)
		}
	}
	for name := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			bad("env %q is not a variable name", name)
		}
	}
	texts := append(slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers))...)
	for _, text := range s.texts() {
		texts = append(texts, *text)
	}
	for _, text := range texts {
		if odd := oddReference(text); odd != "" {
			bad("cannot read %s: a variable is ${NAME} or ${NAME:-default}", odd)
		}
	}
}

// texts are the values, in addition to those of Env and Headers, in which variables
// are put in.
func (s *Entry) texts() []*string {
	list := []*string{&s.Command, &s.Cwd, &s.URL}
	for i := range s.Args {
		list = append(list, &s.Args[i])
	}
	for i := range s.Roots {
		list = append(list, &s.Roots[i])
	}
	return list
}

// Offers reports whether a tool of the server is switched on.
func (s *Entry) Offers(tool string) bool {
	match := func(glob string) bool {
		ok, _ := path.Match(glob, tool) // checked when it was read
		return ok
	}
	return (s.Allow == nil || slices.ContainsFunc(s.Allow, match)) && !slices.ContainsFunc(s.Deny, match)
}

// Address is where the server is: its command line or its url, as written.
func (s Entry) Address() string {
	if s.Command != "" {
		return commandLine(s.Command, s.Args)
	}
	return s.URL
}

// commandLine shows a command as it would be typed.
func commandLine(command string, args []string) string {
	words := append([]string{command}, args...)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`") {
			words[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(words, " ")
}

// kind is a kind of JSON value, in words for an error.
type kind string

const (
	object kind = "an object"
	array  kind = "a list"
	scalar kind = "a single value"
)

// value is a JSON value that knows where its keys stand.
type value struct {
	kind    kind
	raw     json.RawMessage
	members []member
}

type member struct {
	name  string
	line  int
	value value
}

// keys are an object's members in the order of the file; nil for another kind.
func (v value) keys() []member { return v.members }

// into decodes the value, with an error in words for the user.
func (v value) into(target any) error {
	if string(v.raw) == "null" {
		return errors.New("it is null; leave it out instead")
	}
	err := json.Unmarshal(v.raw, target)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("got a %s where %s is needed", wrong.Value, needed(wrong.Type.String()))
	}
	return err
}

func needed(goType string) string {
	switch goType {
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	case "[]string":
		return "a list of texts"
	case "map[string]string":
		return "an object of texts"
	}
	return "a number"
}

// readDocument parses data and notes where each key stands. A syntax error or
// a key given twice is a mistake.
func readDocument(data []byte, wrong *problems) value {
	lineAt := func(offset int64) int {
		return 1 + strings.Count(string(data[:min(int(offset), len(data))]), "\n")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		line := 1
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line = lineAt(syntax.Offset)
		}
		wrong.add(line, "not valid JSON: %v", err)
		return value{}
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	var read func(name string) value
	read = func(name string) value {
		start := decoder.InputOffset()
		token, err := decoder.Token()
		if err != nil { // cannot be: it was parsed above
			wrong.add(lineAt(start), "not valid JSON: %v", err)
			return value{}
		}
		v := value{kind: scalar}
		switch token {
		case json.Delim('{'):
			v.kind = object
			seen := map[string]int{}
			for decoder.More() {
				key, err := decoder.Token()
				if err != nil {
					break
				}
				line := lineAt(decoder.InputOffset())
				keyName, _ := key.(string)
				if first, twice := seen[keyName]; twice {
					wrong.add(line, "%q is given twice, first in line %d", keyName, first)
				}
				seen[keyName] = line
				v.members = append(v.members, member{keyName, line, read(keyName)})
			}
			_, _ = decoder.Token()
		case json.Delim('['):
			v.kind = array
			for decoder.More() {
				read("")
			}
			_, _ = decoder.Token()
		}
		v.raw = json.RawMessage(strings.TrimLeft(string(data[start:decoder.InputOffset()]), ": ,\t\r\n"))
		return v
	}
	doc := read("")
	if doc.kind != object {
		wrong.add(1, "it is %s; it must be an object with \"mcpServers\"", doc.kind)
	}
	return doc
}
