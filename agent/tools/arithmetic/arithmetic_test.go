package arithmetic

import (
	"strings"
	"testing"
)

func TestCalculateRefusesTheRestWithAReason(t *testing.T) {
	for expression, want := range map[string]string{
		"": "a number is missing", "1 +": "a number is missing", "1 / 0": "divides by zero", "5 % 0": "divides by zero", "0^-1": "divides by zero", "(1": "not closed", "1)": `")"`,
		"2 apples": `"apples"`, "foo(1)": `"foo" is not known`, "sqrt(-1)": "no result", "sqrt(1,2)": "given 2", "9^9^9^9": "too large", "1e999": "too large", "1..2": `".2"`,
		"(1,2)": "not closed", "round(1,99)": "digits", "ln(0)": "infinite", strings.Repeat("(", 500): "a number is missing", strings.Repeat("1+", 600): "longer", strings.Repeat("2^", 400) + "2": "too large",
		"exp(1000)": "too large", "__import__('os')": `"__import__`,
	} {
		if value, err := Evaluate(expression); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, %v; want an error with %q", expression, value, err, want)
		}
	}
}

func FuzzCalculate(f *testing.F) {
	for _, seed := range []string{"1+2*3", "15% of 80", "(2^100)%7", "sqrt(2)*pi", "1,234.5e-3", "max(1,2,3)", "--3", "7 mod 3", "e^e^e", "9^9^9", "round(2.5,-1)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		value, err := Evaluate(expression)
		if (value == nil) == (err == nil) {
			t.Errorf("got %v and %v", value, err)
		}
		if err == nil && Format(value) == "" {
			t.Error("a number is written as nothing")
		}
	})
}
