package cli

// setUmask does nothing: the user's profile folder is private already.
func setUmask() {}
