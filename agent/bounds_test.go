package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// doubling returns a small schema whose parts double with each of n definitions.
func doubling(n int, definition string) string {
	var defs []string
	for i := range n {
		next := fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)
		defs = append(defs, fmt.Sprintf(`"a%d":%s`, i, strings.ReplaceAll(definition, "NEXT", next)))
	}
	return fmt.Sprintf(`{"type":"object","$defs":{%s,"a%d":{"minLength":1}},"properties":{"x":{"$ref":"#/$defs/a0"}}}`, strings.Join(defs, ","), n)
}

func TestSchemaThatExpandsTooFarIsRefused(t *testing.T) {
	for _, definition := range []string{
		`{"allOf":[NEXT,NEXT]}`, `{"anyOf":[NEXT,NEXT]}`, `{"oneOf":[NEXT,NEXT]}`, `{"not":{"anyOf":[NEXT,NEXT]}}`,
		`{"if":NEXT,"then":NEXT,"else":NEXT}`, `{"properties":{"a":NEXT,"b":NEXT}}`, `{"items":{"allOf":[NEXT,NEXT]}}`,
		`{"dependentSchemas":{"a":NEXT,"b":NEXT}}`, `{"patternProperties":{"a":NEXT,"b":NEXT}}`, `{"prefixItems":[NEXT,NEXT]}`,
	} {
		if _, err := ReadSchema(json.RawMessage(doubling(28, definition))); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got %v", definition, err)
		}
		if _, err := ReadSchema(json.RawMessage(doubling(6, definition))); err != nil {
			t.Errorf("%s, six times: got %v", definition, err)
		}
	}
	for name, schema := range map[string]string{
		"deep":    strings.Repeat(`{"not":`, 8000) + "{}" + strings.Repeat("}", 8000),
		"dynamic": `{"$dynamicAnchor":"a","$dynamicRef":"#a"}`,
		"pattern": `{"pattern":"(((` + strings.Repeat("b", 60) + `){10}){10}){10}"}`,
		"number":  `{"minimum":1e999999999}`,
	} {
		if _, err := ReadSchema(json.RawMessage(schema)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRecursiveSchemaIsChecked(t *testing.T) {
	tree, err := ReadSchema(json.RawMessage(`{"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["name"]}},"$ref":"#/$defs/node"}`))
	if err != nil {
		t.Fatal(err)
	}
	value := `{"name":"leaf"}`
	for range 100 {
		value = `{"name":"n","children":[` + value + `,{"name":"other"}]}`
	}
	if err := tree.Check(json.RawMessage(value)); err != nil {
		t.Error(err)
	}
	if err := tree.Check(json.RawMessage(strings.Replace(value, `"name":"leaf"`, `"name":5`, 1))); err == nil {
		t.Error("the leaf was not checked")
	}
}

// The steps of these checks grow with a power of the value's depth, or without an end.
func TestCheckHasBound(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400)
	for _, c := range []struct{ schema, value string }{
		{`{"$ref":"#"}`, `{}`},
		{`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`, `{}`},
		{`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, deep},
		{`{"anyOf":[{"additionalProperties":{"$ref":"#"}},{"patternProperties":{"a":{"$ref":"#"}}}]}`, deep},
		{`{"items":{"enum":[` + strings.Repeat("1,", 100_000) + `2]}}`, `[` + strings.Repeat("3,", 100_000) + `2]`},
		{`{"items":{"pattern":"((a{10}){10}){10}"}}`, `["` + strings.Repeat("a", 1<<20) + `"]`},
		{`{}`, strings.Repeat(`[`, 5000) + strings.Repeat("]", 5000)},
	} {
		schema, err := ReadSchema(json.RawMessage(c.schema))
		if err != nil {
			t.Fatalf("%.60s: %v", c.schema, err)
		}
		if err := schema.Check(json.RawMessage(c.value)); err == nil {
			t.Errorf("%.60s: it was checked", c.schema)
		}
	}
}

func TestNumberOutOfRangeIsRefused(t *testing.T) {
	tool := schemaTool{schema: `{"type":"object","properties":{"n":{"type":"number","minimum":1,"multipleOf":0.01}}}`}
	for _, number := range []string{"1e999999999", "-1e999999", "1e400", "1e-999999999", strings.Repeat("9", 2000)} {
		for _, raw := range []string{`{"n":` + number + `}`, `{"n":"` + number + `"}`} {
			if got, err := new(Schemas).Repair(tool, json.RawMessage(raw)); err == nil || strings.Contains(err.Error(), "nil pointer") {
				t.Errorf("%.40s: got %.40s, %v", raw, got.Input, err)
			}
		}
	}
	for _, number := range []string{"1e308", "0e999999999", "1.50"} {
		if err := checkNumber(number); err != nil {
			t.Error(err)
		}
	}
}

func TestErrorOfManyCausesIsShort(t *testing.T) {
	schema, err := ReadSchema(json.RawMessage(`{"items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	err = schema.Check(json.RawMessage(`[` + strings.Repeat("1,", 50_000) + `2]`))
	if err == nil || len(err.Error()) > 600 || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}
