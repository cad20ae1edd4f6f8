module release

go 1.26.0
