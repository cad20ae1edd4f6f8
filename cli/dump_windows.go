package cli

// dumpOnSignal does nothing; Windows has no such signal.
func dumpOnSignal(string) (stop func()) { return func() {} }
