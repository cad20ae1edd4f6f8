//go:build !race

package rag

const underRace = false
