// Package files reads, replaces and locks files, and explains what went wrong with
// them in plain words: plain ones, those that users edit (read.go), and SQLite
// databases (database.go).
package files
