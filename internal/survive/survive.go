// Package survive contains the tests that kill LifeHub, fill its disk and run
// several processes at once. They run the package's test binary as a child, which
// assembles the same parts as cli: the real agent, store, tools, notes and MCP
// servers. Only the model is scripted. Start reading in house_test.go.
package survive
