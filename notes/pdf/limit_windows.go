package pdf

import "os/exec"

// withChildren does nothing: a child that survives its parent ends when its input
// does, or with its time limit.
func withChildren(*exec.Cmd) {}

func confine(*exec.Cmd) {}

func limitChild(int) {}
