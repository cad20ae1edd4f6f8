package app

import "time"

// SetHookLimit changes how long hooks may take, until restore is called.
func SetHookLimit(limit time.Duration) (restore func()) {
	before := hookLimit
	hookLimit = limit
	return func() { hookLimit = before }
}
