package evalmodels_test

import (
	"os"
	"testing"

	"lifehub/cli"
	"lifehub/internal/mcptest"
	"lifehub/internal/testenv"
)

// runAsProgram makes the test binary run as lifehub. quickExit avoids a wait of one second before
// each exit under the race detector.
const (
	runAsProgram = "LIFEHUB_TEST_RUN=1"
	quickExit    = "GORACE=atexit_sleep_ms=0"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	if os.Getenv("LIFEHUB_TEST_RUN") != "" {
		os.Exit(cli.Main(""))
	}
	testenv.Parallel(4)
	os.Exit(m.Run())
}
