package text

// Nearest is the known name that differs least, in fewer letters than most; "":
// none does.
func Nearest(name string, known []string, most int) (near string) {
	for _, k := range known {
		if d := distance(k, name); d < most {
			near, most = k, d
		}
	}
	return near
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
