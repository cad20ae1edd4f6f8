package testenv

import "flag"

// Parallel lets n tests of this binary run at once, however many processors
// there are: for tests that mostly wait for servers and programs of their own.
// A -parallel flag overrides it. TestMain calls it.
func Parallel(n string) {
	if err := flag.Set("test.parallel", n); err != nil {
		panic(err)
	}
}
