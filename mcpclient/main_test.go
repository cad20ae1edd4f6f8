package mcpclient

import (
	"os"
	"testing"

	"lifehub/internal/mcptest"

	"lifehub/internal/testenv"
)

// hostName makes this test binary run host.
const hostName = "LIFEHUB_TEST_HOST"

func TestMain(m *testing.M) {
	testenv.Parallel(4)
	if os.Getenv(hostName) != "" {
		host()
	}
	mcptest.Main()
	os.Exit(m.Run())
}
