//go:build !unix

package terminal

import (
	"os"
	"time"
)

// waits is not known here.
func waits(*os.File, time.Duration) bool { return false }
