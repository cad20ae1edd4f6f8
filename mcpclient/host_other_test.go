//go:build !linux

package mcpclient

func host() {}
