package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"lifehub/internal/files"
	"lifehub/mcpclient/config"
)

// secretName matches the names of variables that hold secrets.
var secretName = regexp.MustCompile(`(?i)(?:^|[_-])(?:\w*key|\w*token|\w*secret|\w*passw\w*|pass|pwd|passphrase|` +
	`credentials?|auth|cookie|dsn|pat|jwt|bearer|mnemonic|connection_?string)s?(?:[_-]|$)`)

// secretsAt returns the known secrets: those in the settings, the environment, mcp.json and saved
// credentials.
func secretsAt(p Paths, c *Config, environ []string) []string {
	var values []string
	for _, s := range All(c) {
		text, ok := s.Field.(*string)
		switch {
		case ok && s.Quiet:
			values = append(values, *text)
		case ok:
			values = append(values, secretsInURL(*text)...)
		}
	}
	for _, server := range c.Servers {
		values = append(values, secretsInURL(server.URL)...)
		// a key_command runs only when its key is needed; LifeHub has no such key before that
		if server.KeyEnv != "" || server.KeyFile != "" {
			// whoever needs the key reports the error
			key, _ := (&Redaction{Environ: environ}).readKey(context.Background(), server)
			values = append(values, key)
		}
	}
	if c.Mail.PasswordFile != "" {
		if password, err := ReadSecret(c.Mail.PasswordFile); err == nil {
			values = append(values, password)
		}
	}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		values = append(values, secretsIn(name, value)...)
	}
	values = append(values, secretsOfCredentials(p.Credentials())...)
	return append(values, secretsOfServers(p.ServersFile())...)
}

// secretsOfServers returns the secrets in mcp.json. If the file is invalid, no server starts, but
// strings in it that look like secrets count nevertheless.
func secretsOfServers(file string) (values []string) {
	servers, err := config.Read(file)
	for _, server := range servers.Servers {
		values = append(values, secretsOf(server, os.LookupEnv)...)
	}
	if err == nil {
		return values
	}
	text, _ := files.Read(file) // on error nothing is known about it
	for _, quoted := range jsonString.FindAllString(string(text), -1) {
		var value string
		if json.Unmarshal([]byte(quoted), &value) == nil {
			values = append(values, secretsByValue(value)...)
		}
	}
	return values
}

// secretsIn returns the secrets in a value: the password of a URL, and the whole value if the
// variable's name implies a secret and the value is not a path.
func secretsIn(name, value string) []string {
	values := secretsInURL(value)
	if secretName.MatchString(name) && !filepath.IsAbs(value) {
		values = append(values, value)
	}
	return values
}

// secretsOf returns the secrets in a server's entry with variables expanded: in env and headers
// every value that is not plain, elsewhere what is named like a secret or follows such a flag.
func secretsOf(server config.Entry, lookup func(string) (string, bool)) []string {
	var values []string
	for _, text := range slices.Concat(slices.Collect(maps.Values(server.Env)),
		slices.Collect(maps.Values(server.Headers))) {
		for _, variable := range variablesIn(text) {
			values = append(values, secretsByValue(variable)...)
		}
	}
	server, _ = server.Resolved(lookup)
	values = append(values, secretsInURL(server.URL)...)
	for name, value := range server.Env {
		values = append(append(values, secretsIn(name, value)...), secretsByValue(value)...)
	}
	for name, value := range server.Headers {
		values = append(values, secretsByValue(value)...)
		if secretName.MatchString(name) || secretHeader.MatchString(name) {
			_, token, hasScheme := strings.Cut(value, " ")
			if !hasScheme {
				token = value
			}
			values = append(values, token)
		}
	}
	flag := "" // the previous argument, if it is a flag
	for _, arg := range server.Args {
		name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		values = append(append(values, secretsInURL(arg)...), secretsIn(name, value)...)
		if secretName.MatchString(flag) {
			values = append(values, arg)
		}
		flag = ""
		if strings.HasPrefix(arg, "-") {
			flag = strings.TrimLeft(arg, "-")
		}
	}
	return values
}

// secretHeader matches the names of headers that hold credentials.
var secretHeader = regexp.MustCompile(`(?i)^(?:proxy-)?authorization$|cookie`)

// secretsInURL returns the password of a URL and the query parameters that are named like a secret.
func secretsInURL(address string) (values []string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	if password, ok := u.User.Password(); ok {
		values = append(values, password)
		if written, _, _ := strings.Cut(strings.TrimPrefix(address, u.Scheme+"://"),
			"@"); strings.Contains(written, ":") {
			values = append(values, written[strings.IndexByte(written, ':')+1:]) // as written, escaped or not
		}
	}
	for name, list := range u.Query() {
		if secretName.MatchString(name) {
			values = append(values, list...)
		}
	}
	return values
}

// secretsOfCredentials returns the tokens and client secrets in a folder of OAuth credentials.
func secretsOfCredentials(dir string) (values []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.json")) //nolint:errcheck // the pattern is valid
	for _, file := range files {
		var saved struct {
			ClientSecret string `json:"client_secret"`
			Token        struct {
				Access  string `json:"access_token"`
				Refresh string `json:"refresh_token"`
			} `json:"token"`
		}
		if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &saved) == nil {
			values = append(values, saved.ClientSecret, saved.Token.Access, saved.Token.Refresh)
		}
	}
	return values
}

// variable matches a reference to an environment variable in mcp.json.
var variable = regexp.MustCompile(`\$\{(?:env:)?(\w+)`)

// variablesIn returns the values of the variables that a text refers to.
func variablesIn(text string) []string {
	var values []string
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		values = append(values, os.Getenv(m[1]))
	}
	return values
}

// WithoutOwnSecrets returns an environment without the variables that hold secrets of LifeHub's
// settings, for running other programs.
func WithoutOwnSecrets(environ []string) []string {
	ours := []string{PasswordEnv}
	for _, s := range All(&Config{}) {
		if s.Quiet {
			ours = append(append(ours, s.EnvName()), s.Env...)
		}
	}
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		// on Windows names are case-insensitive
		return slices.ContainsFunc(ours, func(o string) bool { return strings.EqualFold(o, name) })
	})
}

// Redaction removes secrets from whatever LifeHub saves, prints or sends to a model. It rereads
// saved credentials and mcp.json when they change. It is safe for concurrent use; a nil Redaction
// knows no secrets.
type Redaction struct {
	Paths   Paths
	Config  *Config
	Environ []string

	mu     sync.Mutex
	of     string   // modification times of the files that cut was made from
	values []string // all ever read: a server removed from mcp.json may still print its secrets
	cut    *redactor
}

// current returns the redactor for the current secrets.
func (s *Redaction) current() *redactor {
	if s == nil {
		return &redactor{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state := ""
	for _, file := range []string{s.Paths.Credentials(), s.Paths.ServersFile()} {
		if info, err := os.Stat(file); err == nil {
			state += info.ModTime().String()
		}
	}
	if s.cut == nil || state != s.of {
		s.values = slices.Compact(slices.Sorted(slices.Values(append(s.values,
			secretsAt(s.Paths, s.Config, s.Environ)...))))
		s.cut, s.of = newRedactor(s.values), state
	}
	return s.cut
}

// Add adds a secret.
func (s *Redaction) Add(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values, s.cut = append(s.values, value), nil
}

// Text removes known secrets and text that looks like a secret.
func (s *Redaction) Text(text string) string { return s.current().text(text) }

// Known removes known secrets.
func (s *Redaction) Known(text string) string { return s.current().known(text) }

// Trace is like Text for the lines of a trace.
func (s *Redaction) Trace(lines []byte) []byte { return s.current().trace(lines) }

// ReadSecret returns the first line of a file. It is an error if others can read the file.
func ReadSecret(file string) (string, error) {
	if file == "" {
		return "", errors.New("no password is set: put it into " + PasswordEnv +
			", or name its file as mail.password_file")
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("%s is readable by others: chmod 600 %s", file, file)
	}
	text, err := files.Read(file)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, "\r"), nil
}
