//go:build !unix

package notes

import "os"

// nonblock is not needed where a folder holds no FIFOs.
const nonblock = 0

// syncDir does nothing: folders cannot be synced here.
func syncDir(*os.Root, string) error { return nil }
