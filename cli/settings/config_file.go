package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"lifehub/internal/files"
	"lifehub/tui/draw"
)

func (c *Config) ReadFile(file string, data []byte) error {
	tree, err := files.ParseYAML(file, data)
	if err != nil {
		return UsageError{Err: fmt.Errorf("read settings: %w", err)}
	}
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		if err := c.readNode(file, "", doc.Body); err != nil {
			return err
		}
	}
	return nil
}

// removedSettings and removedKeys existed in earlier versions. A file that has one is still valid,
// and the user gets a notice.
var (
	removedSettings = []string{"titles", "chats", "rag.rerank", "editing", "tools.max", "citations"}
	removedKeys     = []string{"pause", "faster", "slower", "leave_replay", "check"}
)

// readNode reads the settings below one key of the file. prefix is "" at the top level and, for
// example, "ollama" inside that mapping.
func (c *Config) readNode(file, prefix string, node ast.Node) error {
	at := func(n ast.Node) string { return fmt.Sprintf("%s:%d", file, lineOf(n)) }
	pairs, ok := pairsOf(node)
	if !ok {
		return UsageError{Err: fmt.Errorf("%s: %s is a group of settings, not a value", at(node), orTop(prefix))}
	}
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		name := strings.TrimPrefix(prefix+"."+key, ".")
		if name == "keys" {
			bound, err := lists(pair.Value)
			if err == nil {
				for _, action := range removedKeys {
					if _, ok := bound[action]; ok {
						c.Removed = append(c.Removed, fmt.Sprintf("%s: the key %q no longer exists; delete the line",
							at(pair.Key), action))
						delete(bound, action)
					}
				}
				err = draw.CheckKeys(bound)
			}
			if err != nil {
				return UsageError{Err: fmt.Errorf("%s: %w", at(pair.Key), err)}
			}
			c.Keys = bound
			continue
		}
		if name == "providers" {
			if err := c.readServers(at, pair.Value); err != nil {
				return err
			}
			continue
		}
		if slices.ContainsFunc(All(c), func(s setting) bool { return strings.HasPrefix(s.Name, name+".") }) {
			if err := c.readNode(file, name, pair.Value); err != nil {
				return err
			}
			continue
		}
		if slices.Contains(removedSettings, name) {
			c.Removed = append(c.Removed, fmt.Sprintf("%s: the setting %q no longer exists; delete the line",
				at(pair.Key), name))
			continue
		}
		s, err := c.Setting(name)
		if err != nil {
			return UsageError{Err: fmt.Errorf("%s: %w", at(pair.Key), err)}
		}
		values, isList, err := scalars(pair.Value)
		if err == nil {
			err = s.set(values, isList)
		}
		if err != nil {
			return UsageError{Err: fmt.Errorf("%s: %s: %w", at(pair.Key), name, err)}
		}
		c.Origin[name] = at(pair.Key)
	}
	return nil
}

// pairsOf returns the pairs of a mapping; none if it is empty or has only comments. It reports
// false if node is another value.
func pairsOf(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	case *ast.CommentGroupNode, *ast.NullNode:
		return nil, true
	}
	return nil, false
}

// lists returns a mapping whose values are strings or lists of strings.
func lists(node ast.Node) (map[string][]string, error) {
	pairs, ok := pairsOf(node)
	if !ok {
		return nil, errors.New("key: value pairs are expected, not a single value")
	}
	all := map[string][]string{}
	for _, pair := range pairs {
		name := pair.Key.GetToken().Value
		values, _, err := scalars(pair.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = values
	}
	return all, nil
}

// OwnColours reads a theme file, which maps names to colours.
func OwnColours(file string) (map[string]string, error) {
	data, err := files.Read(file)
	if err != nil {
		return nil, fmt.Errorf("read theme: %w", err)
	}
	tree, err := files.ParseYAML(file, data)
	if err != nil {
		return nil, fmt.Errorf("read theme: %w", err)
	}
	own := map[string]string{}
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		pairs, ok := pairsOf(doc.Body)
		if !ok {
			return nil, fmt.Errorf("theme in %s:%d: names with their colours are expected", file, lineOf(doc.Body))
		}
		for _, pair := range pairs {
			name := pair.Key.GetToken().Value
			if own[name], ok = files.Scalar(pair.Value); !ok {
				return nil, fmt.Errorf("theme in %s:%d: %s: a colour is expected", file, lineOf(pair.Key), name)
			}
		}
	}
	if err := draw.CheckColours(own); err != nil {
		return nil, fmt.Errorf("theme in %s: %w", file, err)
	}
	return own, nil
}

// lineOf returns the line of a node.
func lineOf(node ast.Node) int { return node.GetToken().Position.Line }

func orTop(prefix string) string {
	if prefix == "" {
		return "the file"
	}
	return prefix
}

// scalars returns a scalar, or the items of a list of scalars.
func scalars(node ast.Node) (values []string, isList bool, err error) {
	switch n := node.(type) {
	case *ast.NullNode:
		return nil, true, nil
	case *ast.SequenceNode:
		for _, item := range n.Values {
			one, list, err := scalars(item)
			if err != nil || list {
				return nil, false, errors.New("a list of plain values is expected")
			}
			values = append(values, one...)
		}
		return values, true, nil
	}
	text, ok := files.Scalar(node)
	if !ok {
		return nil, false, errors.New("a plain value is expected")
	}
	return []string{text}, false, nil
}

// ConfigTemplate returns a config file that sets nothing and explains every setting.
func ConfigTemplate() string {
	var b strings.Builder
	b.WriteString("# LifeHub's settings. Each line shows the default; remove the # to change it.\n")
	group := ""
	for _, s := range All(Defaults()) {
		name, indent := s.Name, ""
		if before, after, nested := strings.Cut(s.Name, "."); nested {
			if before != group {
				fmt.Fprintf(&b, "\n# %s:\n", before)
			}
			group, name, indent = before, after, "  "
		} else {
			b.WriteString("\n")
			group = ""
		}
		fmt.Fprintf(&b, "#%s %s", indent, s.Doc)
		if len(s.one) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(s.one, ", "))
		}
		fmt.Fprintf(&b, "\n# %s%s: %s\n", indent, name, s.Text())
	}
	b.WriteString("\n# More model servers. NAME/MODEL is a model of one, in model, embed_model, plan_model, -m and " +
		"/model.\n" +
		"# A key comes from key_env, key_file or key_command (a program, run without a shell).\n" +
		"# providers:\n#   desk: {kind: ollama, url: \"http://192.168.1.5:11434\"}\n#   work: {kind: openai, url: " +
		"\"https://models.example.org/v1\", key_env: WORK_KEY}\n")
	b.WriteString("\n# The keys of the screen, by action (? in the chat lists them). Each takes one key or a list.\n" +
		"# keys:\n#   compose: ctrl+x\n#   newline: [ctrl+j, alt+enter]\n")
	return b.String()
}
