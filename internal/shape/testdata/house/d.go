package house

func width() {}
