//go:build !unix

package terminal

import (
	"os"
	"time"
)

// waits returns false: it is not supported on this system.
func waits(*os.File, time.Duration) bool { return false }
