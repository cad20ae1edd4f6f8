package app_test

import (
	"testing"

	"lifehub/internal/mcptest"

	"lifehub/internal/testenv"
)

// TestMain lets the test binary run as the MCP servers of the tests.
func TestMain(m *testing.M) {
	mcptest.Main()
	testenv.Parallel(2)
	m.Run()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
