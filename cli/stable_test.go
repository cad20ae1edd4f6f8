//go:build unix

package cli

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/cli/chatcmd"
	"lifehub/cli/mcpserve"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// TestStableInterfacesAreUnchanged lists what docs/stability.md promises: commands with their flags, the fields of
// events, and the fields of --json output. Removing a line from the golden file breaks users'
// scripts and needs a major version.
func TestStableInterfacesAreUnchanged(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	t.Run("commands", func(t *testing.T) {
		root := newRoot(&app.Process{Environment: app.System{}, In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		golden.RequireEqual(t, strings.Join(commandsBelow(root), "\n"))
	})
	t.Run("events", func(t *testing.T) {
		fields := map[string]bool{}
		for _, kind := range agent.Kinds {
			name := agent.TypeOf(kind)
			fields[name] = true
			addFields(fields, name, reflect.TypeOf(kind), 0)
		}
		golden.RequireEqual(t, sortedLines(fields))
	})
	t.Run("json", func(t *testing.T) {
		server := llmtest.Serve(t, llmtest.NewScript(
			says(asksPlanner, `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}]}`),
			says(asksExplainer, "You note “running in the new running shoes”. You say “I run three times a week” [1]."),
		))
		run, vault, fields := commandsOver(t, server), apptest.Vault(t), map[string]bool{}
		apptest.Write(t, filepath.Join(vault, "shoes.md"), "# Running\n\n- [ ] running in the new running shoes, see "+
			"[[running]]\n")
		for _, args := range [][]string{
			{"index", "--json", vault},
			{"index", "--status", "--json", vault},
			{"search", "--json", "--notes", vault, "running"},
			{"related", "--json", "--notes", vault, "running"},
			{"ask", "--json", "--notes", vault, "how often do I run in Patagonia?"},
			{"chats", "list", "--json"},
			{"trace", "list", "--json"},
			{"tools", "--json"},
		} {
			out, _ := run(args...)
			command, _, _ := strings.Cut(strings.Join(args, " "), " --")
			decoder := json.NewDecoder(strings.NewReader(out))
			for decoder.More() {
				var value any
				if err := decoder.Decode(&value); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
				addKeys(fields, command, value)
			}
		}
		addFields(fields, "tasks", reflect.TypeFor[tools.Task](), 0)
		addFields(fields, "brief", reflect.TypeFor[tools.BriefLine](), 0)
		addFields(fields, "contradictions", reflect.TypeFor[tools.Contradiction](), 0)
		addFields(fields, "health", reflect.TypeFor[tools.Finding](), 0)
		addFields(fields, "check", reflect.TypeFor[mcpserve.Checked](), 0)
		addFields(fields, "note", reflect.TypeFor[noteJSON](), 0)
		addFields(fields, "add, log, clip", reflect.TypeFor[captured](), 0)
		addFields(fields, "stats", reflect.TypeFor[agent.Figures](), 0)
		addFields(fields, "doctor", reflect.TypeFor[chatcmd.Finding](), 0)
		golden.RequireEqual(t, sortedLines(fields))
	})
}

func commandsBelow(cmd *cobra.Command) []string {
	line := cmd.CommandPath()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			line += " --" + f.Name
		}
	})
	lines := []string{line}
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			lines = append(lines, commandsBelow(c)...)
		}
	}
	return lines
}

// addFields adds the JSON names of a type's fields, a few levels deep.
func addFields(into map[string]bool, path string, of reflect.Type, depth int) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || depth > 3 {
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		into[fmt.Sprintf("%s.%s %s", path, name, kindOf(f.Type))] = true
		addFields(into, path+"."+name, f.Type, depth+1)
	}
}

func kindOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return "string"
	}
	switch t.Kind() {
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return "value"
		}
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	}
	return t.Kind().String()
}

func addKeys(into map[string]bool, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key := range maps.Keys(v) {
			into[path+"."+key] = true
			if key != "schema" && key != "metrics" { // a tool's own, and figures that are omitted if 0
				addKeys(into, path+"."+key, v[key])
			}
		}
	case []any:
		for _, item := range v {
			addKeys(into, path, item)
		}
	}
}

func sortedLines(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), "\n")
}
