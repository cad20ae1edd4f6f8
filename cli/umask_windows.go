package cli

// setUmask has nothing to do: the user's profile folder is private already.
func setUmask() {}
