package agent

import (
	"encoding/json"
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
	return fmt.Sprintf(`{"type":"object","$defs":{%s,"a%d":{"minLength":1}},"properties":{"x":{"$ref":"#/$defs/a0"}}}`,
		strings.Join(defs, ","), n)
}

func TestSchemaThatExpandsTooFarIsRefused(t *testing.T) {
	for _, definition := range []string{
		`{"allOf":[NEXT,NEXT]}`, `{"anyOf":[NEXT,NEXT]}`, `{"oneOf":[NEXT,NEXT]}`, `{"not":{"anyOf":[NEXT,NEXT]}}`,
		`{"if":NEXT,"then":NEXT,"else":NEXT}`, `{"properties":{"a":NEXT,"b":NEXT}}`, `{"items":{"allOf":[NEXT,NEXT]}}`,
		`{"dependentSchemas":{"a":NEXT,"b":NEXT}}`, `{"patternProperties":{"a":NEXT,"b":NEXT}}`,
		`{"prefixItems":[NEXT,NEXT]}`,
	} {
		if _, err := ReadSchema(json.RawMessage(doubling(28, definition))); err == nil ||
			!strings.Contains(err.Error(), "too large") {
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

// The steps of these checks would grow with a power of the value's depth, or without an end.
func TestCheckHasBound(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400)
	long := strings.Repeat("a", 1<<20)
	chain := `"z":{"type":"string"}`
	for i := range 10_000 {
		chain += fmt.Sprintf(`,"%d":{"$ref":"#/$defs/%d"}`, i+1, i)
	}
	for _, c := range []struct{ schema, value string }{
		{`{"$ref":"#"}`, `{}`},
		{`{"properties":{"children":{"items":{"$ref":"#"}}}}`, `{"children":[{"children":7}]}`},
		{`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`, `{}`},
		{`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, deep},
		{`{"anyOf":[{"additionalProperties":{"$ref":"#"}},{"patternProperties":{"a":{"$ref":"#"}}}]}`, deep},
		{doubling(28, `{"allOf":[NEXT,NEXT]}`), `{"x":"a"}`},
		{`{"$defs":{"0":{},` + chain + `},"items":{"$ref":"#/$defs/10000"}}`, `["a"]`},
		{
			`{"properties":{"list":{"items":{"enum":[` + strings.Repeat("1,", 100_000) + `2]}}}}`,
			`{"list":[` + strings.Repeat("3,", 100_000) + `2]}`,
		},
		{`{"properties":{"list":{"items":{"pattern":"((a{10}){10}){10}"}}}}`, `{"list":["` + long + `"]}`},
		{`{"patternProperties":{"((b{10}){10}){10}":{}}}`, `{"` + long + `":1}`},
	} {
		schema, err := ReadSchema(json.RawMessage(c.schema))
		if err == nil {
			err = schema.Check(json.RawMessage(c.value))
		}
		if err == nil {
			t.Errorf("%.60s: it was checked", c.schema)
		}
		if _, err := new(Schemas).Repair(schemaTool{schema: c.schema},
			json.RawMessage(c.value)); strings.HasPrefix(c.value, "{") && err != nil {
			t.Errorf("%.60s: the tool cannot check its own arguments: %v", c.schema, err)
		}
	}
	schema, err := ReadSchema(json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Check(json.RawMessage(strings.Repeat(`[`, 5000) + strings.Repeat("]", 5000))); err == nil {
		t.Error("a list 5,000 deep was checked")
	}
}

func TestNumberOutOfRangeIsRefused(t *testing.T) {
	tool := schemaTool{schema: `{"type":"object","properties":{"n":{"type":"number","minimum":1,"multipleOf":0.01}}}`}
	for _, number := range []string{"1e999999999", "-1e999999", "1e400", "1e-999999999", strings.Repeat("9", 2000)} {
		for _, raw := range []string{`{"n":` + number + `}`, `{"n":"` + number + `"}`} {
			if got, err := new(Schemas).Repair(tool, json.RawMessage(raw)); err == nil ||
				strings.Contains(err.Error(), "nil pointer") {
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
