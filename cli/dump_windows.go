package cli

// dumpOnSignal does nothing: Windows has no signal for it.
func dumpOnSignal(string) (stop func()) { return func() {} }
