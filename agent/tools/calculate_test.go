package tools

import (
	"testing"
)

func TestCalculateReturnsExpressionAndValue(t *testing.T) {
	if _, got := work(t, nil).run("calculate", `{"expression":" 15% of 80"}`); got != "15% of 80 = 12" {
		t.Errorf("got %q", got)
	}
}
