// Package config reads and edits mcp.json, which lists the MCP servers, and
// imports the corresponding files of other clients. Start at [Read].
package config

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"lifehub/agent"
	"lifehub/internal/files"
)

// Transport is how LifeHub connects to a server.
type Transport string

// The transports. For a url without a type, HTTP is tried first, then SSE.
const (
	Stdio Transport = "stdio" // a program on this machine, over its standard input and output
	HTTP  Transport = "http"  // streamable HTTP
	SSE   Transport = "sse"   // the HTTP transport of the protocol before 2025
)

// Config is the content of mcp.json.
type Config struct {
	File    string // path of mcp.json
	Servers []Entry
}

// Entry is an entry of mcp.json as written: references such as ${NAME} are only
// replaced when the server starts, so an Entry can be shown without revealing
// secrets.
type Entry struct {
	Name      string            `json:"-"`
	Transport Transport         `json:"type,omitempty"`
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Cwd       string            `json:"cwd,omitempty"` // empty: the folder of mcp.json
	URL       string            `json:"url,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Disabled  bool              `json:"-"`
	Allow     []string          `json:"-"` // glob patterns of enabled tools; nil: all
	Deny      []string          `json:"-"` // glob patterns of disabled tools
	Level     agent.Level       `json:"-"` // permission level of its tools before rules are applied
	// "trust": "read": its tools that only read run unasked, with private text, too
	Reads   bool          `json:"-"`
	Timeout time.Duration `json:"-"` // limit of one call; 0: Options.Timeout
	// minimum level of log messages to request; empty: the server's default
	LogLevel string   `json:"log_level,omitempty"`
	Roots    []string `json:"roots,omitempty"` // folders reported to the server; may be nil
	// the transport was not specified, so HTTP may turn out to be SSE
	Guessed bool `json:"-"`
}

// Read reads mcp.json; a missing file has no servers. The error lists each mistake
// with its line.
func Read(file string) (Config, error) {
	data, err := files.Read(file)
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
	return Config{File: file, Servers: servers}, nil
}

// Only returns the config with only the named server.
func (c Config) Only(name string) (Config, error) {
	for _, s := range c.Servers {
		if s.Name == name {
			c.Servers = []Entry{s}
			return c, nil
		}
	}
	return Config{}, fmt.Errorf("no MCP server %q in %s", name, c.File)
}

// Missing returns the names of variables that the server needs and that are not set.
func (s Entry) Missing() []string {
	_, missing := s.Resolved(os.LookupEnv)
	return missing
}

// problems collects the mistakes in a file.
type problems struct {
	file    string
	data    []byte
	ends    []int // ends of the lines in data
	list    []problem
	refused error // error that kept data from being parsed
}

type problem struct {
	line int
	text string
}

func (m *problems) add(line int, format string, args ...any) {
	m.list = append(m.list, problem{line, fmt.Sprintf(format, args...)})
}

func (m *problems) err() error {
	if m.refused != nil {
		return m.refused
	}
	slices.SortStableFunc(m.list, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	var errs []error
	for i, one := range m.list {
		if i == maxProblems {
			errs = append(errs, fmt.Errorf("%s: %d more mistakes", m.file, len(m.list)-i))
			break
		}
		errs = append(errs, fmt.Errorf("%s:%d: %s", m.file, one.line, one.text))
	}
	return errors.Join(errs...)
}

// maxProblems bounds the mistakes listed per file.
const maxProblems = 20

func parse(file string, data []byte) ([]Entry, error) {
	wrong := &problems{file: file, data: data}
	doc := wrong.read()
	if err := wrong.err(); err != nil {
		return nil, err
	}
	var servers []Entry
	for _, key := range wrong.members(doc) {
		switch key.name {
		case "$schema":
		case "mcpServers":
			for _, entry := range wrong.members(key.value) {
				servers = append(servers, readServer(entry, wrong))
			}
			if key.value.Value.Kind() != '{' {
				wrong.add(key.line, "mcpServers is %s; it must be an object of servers by name", kindOf(key.value))
			}
		default:
			wrong.add(key.line, "unknown key %q; servers go under \"mcpServers\"", key.name)
		}
	}
	return servers, wrong.err()
}

// serverName restricts names so that they stay readable in tool names (see
// WireName) and in @server:uri and /server:prompt.
var serverName = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)

// headerName is a token as in RFC 9110.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func readServer(entry member, wrong *problems) Entry {
	s := Entry{Name: entry.name, Level: agent.Confirm}
	bad := func(line int, format string, args ...any) {
		wrong.add(line, "server %q: %s", s.Name, fmt.Sprintf(format, args...))
	}
	if !serverName.MatchString(s.Name) || len(WirePrefix(s.Name)) > maxPrefix {
		bad(entry.line, "a name is up to 32 letters, digits, hyphens and single underscores")
	}
	if entry.value.Value.Kind() != '{' {
		bad(entry.line, "must be an object, not %s", kindOf(entry.value))
		return s
	}
	for _, key := range wrong.members(entry.value) {
		if problem := s.set(key); problem != "" {
			bad(key.line, "%s", problem)
		}
	}
	s.check(func(format string, args ...any) { bad(entry.line, format, args...) })
	return s
}

// set sets the field for a key of a server's entry, and returns a description of
// any mistake.
func (s *Entry) set(key member) string {
	var err error
	switch key.name {
	case "type":
		return s.setTransport(key.value)
	case "command":
		if key.value.Value.Kind() == '[' { // some clients write the whole command line as a list
			var words []string
			if err = into(key.value, &words); err == nil && len(words) > 0 {
				s.Command, s.Args = words[0], append(words[1:], s.Args...)
			}
			break
		}
		err = into(key.value, &s.Command)
	case "args":
		var words []string
		err = into(key.value, &words)
		s.Args = append(s.Args, words...)
	case "enabled":
		var enabled bool
		err = into(key.value, &enabled)
		s.Disabled = !enabled
	case "log_level":
		if err = into(key.value, &s.LogLevel); err == nil && !slices.Contains(logLevels, s.LogLevel) {
			err = fmt.Errorf("%q is not one of %s", s.LogLevel, strings.Join(logLevels, ", "))
		}
	case "trust":
		var word string
		if err = into(key.value, &word); err == nil && word != "read" {
			err = fmt.Errorf("unknown value %q; use read, or leave it out", word)
		}
		s.Reads = err == nil
	case "timeout":
		return s.setTimeout(key.value)
	case "tools":
		return s.setTools(key.value)
	default:
		target := map[string]any{
			"env": &s.Env, "cwd": &s.Cwd, "url": &s.URL, "headers": &s.Headers, "roots": &s.Roots,
			"disabled": &s.Disabled, "permission": &s.Level,
		}[key.name]
		if target == nil {
			return fmt.Sprintf("unknown key %q; there are %s", key.name, strings.Join(serverKeys, ", "))
		}
		err = into(key.value, target)
	}
	if err != nil {
		return fmt.Sprintf("%s: %v", key.name, err)
	}
	return ""
}

var serverKeys = []string{
	"type", "command", "args", "env", "cwd", "url", "headers", "enabled", "disabled",
	"tools", "permission", "trust", "timeout", "roots", "log_level",
}

// logLevels are the levels of the protocol, in increasing severity.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setTransport accepts the names used by other clients as well.
func (s *Entry) setTransport(v hujson.Value) string {
	var word string
	if err := into(v, &word); err != nil {
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
		return fmt.Sprintf("unknown type %q: use stdio, http or sse", word)
	}
	return ""
}

// setTimeout accepts a number of seconds or a duration such as "90s".
func (s *Entry) setTimeout(v hujson.Value) string {
	var seconds float64
	var word string
	switch {
	case into(v, &seconds) == nil:
		s.Timeout = time.Duration(seconds * float64(time.Second))
	case into(v, &word) == nil:
		d, err := time.ParseDuration(word)
		if err != nil {
			return fmt.Sprintf("timeout %q is not a duration such as 90s or 2m", word)
		}
		s.Timeout = d
	default:
		return "timeout is a number of seconds or a duration such as 90s"
	}
	if s.Timeout <= 0 || s.Timeout > time.Hour {
		return fmt.Sprintf("timeout is %v; it must be positive and at most 1h (a bare number counts seconds)",
			s.Timeout)
	}
	return ""
}

func (s *Entry) setTools(v hujson.Value) string {
	if v.Value.Kind() != '{' {
		return "tools must be an object with allow and deny"
	}
	for _, key := range new(problems).members(v) {
		list := map[string]*[]string{"allow": &s.Allow, "deny": &s.Deny}[key.name]
		if list == nil {
			return fmt.Sprintf("tools has no key %q; there are allow and deny", key.name)
		}
		if err := into(key.value, list); err != nil {
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

// check validates an entry as a whole.
func (s *Entry) check(bad func(format string, args ...any)) {
	switch {
	case s.Command == "" && s.URL == "":
		bad("command (a program on this machine) or url is missing")
	case s.Command != "" && s.URL != "":
		bad("command and url are mutually exclusive")
	case s.Command != "" && s.Transport == "":
		s.Transport = Stdio
	case s.URL != "" && s.Transport == "":
		s.Transport, s.Guessed = HTTP, true
	case (s.Transport == Stdio) != (s.Command != ""):
		bad("type %s does not match: stdio needs a command, http and sse a url", s.Transport)
	}
	if s.URL != "" && !strings.HasPrefix(s.URL, "${") {
		if u, err := url.Parse(s.URL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			bad("url %q is not an http or https address", s.URL)
		} else if u.User != nil {
			bad("url contains a password; put it into headers, as ${NAME}")
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
	for _, text := range s.values() {
		if odd := oddReference(text); odd != "" {
			bad("cannot read %s: a variable is ${NAME} or ${NAME:-default}", odd)
		}
	}
}

// texts returns pointers to the values, other than those of Env and Headers, that
// may contain variables.
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

// values returns all values that may contain variables.
func (s *Entry) values() []string {
	list := append(slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers))...)
	for _, text := range s.texts() {
		list = append(list, *text)
	}
	return list
}

// HasReference reports whether a value would be expanded, such as ${NAME}.
func (s *Entry) HasReference() bool {
	return slices.ContainsFunc(s.values(), func(text string) bool { return strings.Contains(text, "${") })
}

// Offers reports whether a tool of the server is enabled.
func (s *Entry) Offers(tool string) bool {
	match := func(glob string) bool {
		ok, _ := path.Match(glob, tool) // validated when read
		return ok
	}
	return (s.Allow == nil || slices.ContainsFunc(s.Allow, match)) && !slices.ContainsFunc(s.Deny, match)
}

// Address returns the command line or url of the server, as written.
func (s Entry) Address() string {
	if s.Command != "" {
		return commandLine(s.Command, s.Args)
	}
	return s.URL
}

// commandLine formats a command as it would be typed.
func commandLine(command string, args []string) string {
	words := append([]string{command}, args...)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`") {
			words[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(words, " ")
}

// kindOf describes the kind of a JSON value for an error.
func kindOf(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "a single value"
}

// member is a member of an object, with its position.
type member struct {
	name  string
	line  int
	value hujson.Value
}

// members returns the members of an object in file order; nil for other values.
func (m *problems) members(v hujson.Value) (list []member) {
	object, isObject := v.Value.(*hujson.Object)
	if !isObject {
		return nil
	}
	for _, one := range object.Members {
		name, _ := one.Name.Value.(hujson.Literal)
		list = append(list, member{name.String(), m.lineAt(one.Name.StartOffset), one.Value})
	}
	return list
}

func (m *problems) lineAt(offset int) int {
	line, _ := slices.BinarySearch(m.ends, offset)
	return 1 + line
}

// into decodes a value; its errors are meant for the user.
func into(v hujson.Value, target any) error {
	if v.Value.Kind() == 'n' {
		return errors.New("null is not allowed; omit the key instead")
	}
	err := json.Unmarshal(v.Pack(), target)
	switch texts := target.(type) {
	case *string:
		*texts = files.Unescape(*texts)
	case *[]string:
		for i, text := range *texts {
			(*texts)[i] = files.Unescape(text)
		}
	case *map[string]string:
		for name, text := range *texts {
			(*texts)[name] = files.Unescape(text)
		}
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("got a %s where %s is needed", wrong.Value, needed(wrong.Type))
	}
	return err
}

func needed(t reflect.Type) string {
	if t.Kind() == reflect.Pointer { // types that implement TextUnmarshaler
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "a text"
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of texts"
	case reflect.Map:
		return "an object of texts"
	}
	return "a number"
}

// read parses the file, which may contain comments and trailing commas. Syntax
// errors and duplicate keys are mistakes.
func (m *problems) read() hujson.Value {
	m.data = files.Escape(bytes.TrimPrefix(bytes.Clone(m.data), []byte("\ufeff"))) // undone by into
	for i, b := range m.data {
		if b == '\n' {
			m.ends = append(m.ends, i)
		}
	}
	if err := files.CheckJSON(m.file, m.data); err != nil {
		m.refused = err
		return hujson.Value{}
	}
	doc, err := hujson.Parse(m.data)
	if err != nil {
		line, why := faultOf(err)
		m.add(line, "not valid JSON: %v", why)
		return doc
	}
	doc.Standardize()
	for v := range doc.All() {
		seen := map[string]int{}
		for _, key := range m.members(*v) {
			if first := seen[key.name]; first > 0 {
				m.add(key.line, "%q is given twice, first in line %d", key.name, first)
			}
			seen[key.name] = key.line
		}
	}
	if doc.Value.Kind() != '{' {
		m.add(1, "must be an object with \"mcpServers\", not %s", kindOf(doc))
	}
	return doc
}

// faultOf returns the line and cause of a syntax error.
func faultOf(err error) (line int, why error) {
	column := 1
	if _, odd := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); odd != nil {
		return 1, err
	}
	return line, cmp.Or(errors.Unwrap(err), err)
}
