// Package files reads, replaces and locks files, and explains what went wrong
// with them in plain words.
package files
