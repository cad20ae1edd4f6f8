// Package survive holds the tests that kill LifeHub, fill its disk and run it
// many times at once. They run this package's test binary again as a child
// that does what cli does: the real agent over the real store, tools, notes
// and MCP servers; only the model is scripted. Begin reading in house_test.go.
package survive
