package serve_test

import (
	"os"
	"testing"

	"lifehub/cli"
)

// TestMain makes the test binary run as lifehub where a test asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("LIFEHUB_TEST_RUN") != "" {
		os.Exit(cli.Main("", nil))
	}
	os.Exit(m.Run())
}
