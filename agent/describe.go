package agent

import (
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"lifehub/llm"
)

// DescribeTool returns the spec of a built-in tool, with its description from
// NAME.md and the schema of its arguments.
func DescribeTool[Args any](descriptions embed.FS, name string) llm.ToolSpec {
	text, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		panic(fmt.Sprintf("built-in tool %s has no description", name))
	}
	return llm.ToolSpec{
		Name: name, Description: strings.TrimSpace(string(text)),
		Schema: schemaOf(reflect.TypeFor[Args]()),
	}
}

// schemaOf returns the JSON Schema of arguments: a field without omitempty is
// required, and its other tags are schema keywords.
func schemaOf(args reflect.Type) json.RawMessage {
	properties, required := make([]string, args.NumField()), []string{}
	for i := range properties {
		field := args.Field(i)
		name, optional, _ := strings.Cut(field.Tag.Get("json"), ",")
		if optional == "" {
			required = append(required, name)
		}
		properties[i] = fmt.Sprintf("%q:{%s}", name, strings.Join(keywords(field, optional == ""), ","))
	}
	must := ""
	if len(required) > 0 {
		must = fmt.Sprintf(`,"required":["%s"]`, strings.Join(required, `","`))
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + "}" + must +
		`,"additionalProperties":false}`)
}

// keywords returns the schema keywords of one argument.
func keywords(field reflect.StructField, required bool) []string {
	list := []string{`"type":"string"`}
	switch field.Type.Kind() {
	case reflect.Int:
		list[0] = `"type":"integer"`
	case reflect.Slice:
		if list[0] = `"type":"array","items":{"type":"string"}`; required {
			list = append(list, `"minItems":1`)
		}
	}
	if values := field.Tag.Get("enum"); values != "" {
		list = append(list, `"enum":["`+strings.ReplaceAll(values, ",", `","`)+`"]`)
	}
	for _, bound := range []string{"minimum", "maximum"} {
		if number := field.Tag.Get(bound); number != "" {
			list = append(list, fmt.Sprintf("%q:%s", bound, number))
		}
	}
	for _, text := range []string{"default", "description"} {
		if value := field.Tag.Get(text); value != "" {
			list = append(list, fmt.Sprintf("%q:%q", text, value))
		}
	}
	return list
}
