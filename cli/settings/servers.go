package settings

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// ModelServer is an entry of `providers`. At most one of the Key fields is set.
type ModelServer struct {
	Name       string
	Kind       string // ollama or openai
	URL        string
	KeyEnv     string   // environment variable with the key
	KeyFile    string   // file with the key in its first line
	KeyCommand []string // program that prints the key in its first line
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// readServers reads the model servers in the file.
func (c *Config) readServers(at func(ast.Node) string, node ast.Node) error {
	pairs, ok := pairsOf(node)
	if !ok {
		return UsageError{Err: fmt.Errorf("%s: providers: names with their servers are expected, as in desk: {kind: "+
			"ollama, url: …}", at(node))}
	}
	for _, pair := range pairs {
		name := pair.Key.GetToken().Value
		server, err := readServer(name, pair.Value)
		if err != nil {
			return UsageError{Err: fmt.Errorf("%s: providers.%s: %w", at(pair.Key), name, err)}
		}
		c.Servers = append(c.Servers, server)
		c.Origin["providers."+name] = at(pair.Key)
	}
	return nil
}

func readServer(name string, node ast.Node) (ModelServer, error) {
	s := ModelServer{Name: name}
	given, err := lists(node)
	if err != nil {
		return s, err
	}
	single := map[string]*string{"kind": &s.Kind, "url": &s.URL, "key_env": &s.KeyEnv, "key_file": &s.KeyFile}
	for field, values := range given {
		to := single[field]
		switch {
		case field == "key_command" && len(values) == 1:
			s.KeyCommand = strings.Fields(values[0])
		case field == "key_command":
			s.KeyCommand = values
		case field == "key":
			return s, errors.New("a key does not belong in this file: use key_env, key_file or key_command")
		case to == nil:
			return s, fmt.Errorf("unknown field %q: it takes kind, url, and one of key_env, key_file, key_command",
				field)
		case len(values) != 1:
			return s, fmt.Errorf("%s: one value is expected", field)
		default:
			*to = values[0]
		}
	}
	keys := 0
	for _, given := range []bool{s.KeyEnv != "", s.KeyFile != "", len(s.KeyCommand) > 0} {
		if given {
			keys++
		}
	}
	u, err := url.Parse(s.URL)
	switch {
	case !serverName.MatchString(name):
		return s, errors.New("a name is made of letters, digits, dots and dashes")
	case s.Kind != "ollama" && s.Kind != "openai":
		return s, fmt.Errorf("kind %q is not one of ollama, openai", s.Kind)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return s, errors.New("url should look like http://192.168.1.5:11434 or https://models.example.org/v1")
	case keys > 1:
		return s, errors.New("one of key_env, key_file and key_command is enough")
	}
	return s, nil
}

// ServerRows returns the model servers for `config show`, with the location of each key but never
// the key.
func (c *Config) ServerRows() (rows []setting) {
	for _, s := range c.Servers {
		text := s.Kind + " " + WithoutPassword(s.URL)
		switch {
		case s.KeyEnv != "":
			text += ", key from $" + s.KeyEnv
		case s.KeyFile != "":
			text += ", key from " + s.KeyFile
		case len(s.KeyCommand) > 0:
			text += ", key from the program " + s.KeyCommand[0]
		}
		rows = append(rows, setting{Name: "providers." + s.Name, Doc: "a model server", Field: &text})
	}
	return rows
}
