package draw

// scheme is a theme with its name.
type scheme struct {
	Name, About string
	light       bool // for a light background
	colours
}

// colours are #rrggbb, or 0 to 15 for those of the terminal; "" is the default colour.
// background is the one for which the others were chosen. A theme paints it if the
// terminal's background is light and the theme dark, or vice versa.
type colours struct {
	background, shade, border, dim, key, brand, you, selected, success, warning, danger, running, reference string
}

// schemes are all themes. Well-known ones have the published colours:
// catppuccin.com/palette, draculatheme.com/contribute,
// nordtheme.com/docs/colors-and-palettes, github.com/morhetz/gruvbox,
// github.com/folke/tokyonight.nvim, ethanschoonover.com/solarized. A colour with a
// contrast below 4.5:1 on the background or the shade (a border: 3:1) is made lighter
// or darker as necessary.
var schemes = []scheme{
	{"dark", "for a dark background", false, colours{
		"#1E1E1E", "#26282C", "#75777C", "#9C9FA6", "#C9CED6", "#B39DFF", "#7DD3FC", "#B39DFF", "#7EE0A0", "#F5C76B",
		"#FF8A80", "#7DD3FC", "#9CC4FF",
	}},
	{"light", "for a light background", true, colours{
		"#FFFFFF", "#EEF0F3", "#8A9099", "#5F646C", "#3A3F47", "#5B3FD1", "#0369A1", "#5B3FD1", "#157D3C", "#9A5B00",
		"#B91C1C", "#0369A1", "#1D4ED8",
	}},
	{"catppuccin-mocha", "dark", false, colours{
		"#1E1E2E", "#28293B", "#6C7086", "#9399B2", "#BAC2DE", "#CBA6F7", "#74C7EC", "#CBA6F7", "#A6E3A1", "#F9E2AF",
		"#F38BA8", "#89DCEB", "#89B4FA",
	}},
	{"catppuccin-latte", "light", true, colours{
		"#EFF1F5", "#E6E9EF", "#86899B", "#64677C", "#4C4F69", "#8538EA", "#1C5EE1", "#8538EA", "#2F7620", "#915C13",
		"#CD002F", "#127379", "#1C5EE1",
	}},
	{"dracula", "dark", false, colours{
		"#282A36", "#343746", "#6473A5", "#96A1C2", "#F8F8F2", "#BD93F9", "#8BE9FD", "#FF79C6", "#50FA7B", "#F1FA8C",
		"#FF7777", "#8BE9FD", "#FFB86C",
	}},
	{"gruvbox-dark", "dark", false, colours{
		"#282828", "#32302F", "#7D7066", "#A89984", "#EBDBB2", "#FE8019", "#8EC07C", "#FE8019", "#B8BB26", "#FABD2F",
		"#FC6A59", "#8EC07C", "#83A598",
	}},
	{"gruvbox-light", "light", true, colours{
		"#FBF1C7", "#F2E5BC", "#928374", "#70645A", "#3C3836", "#AF3A03", "#2C652F", "#AF3A03", "#6D680D", "#8D5C10",
		"#9D0006", "#2C652F", "#076678",
	}},
	{"nord", "dark", false, colours{
		"#2E3440", "#353C4A", "#777F8E", "#A2A7B2", "#D8DEE9", "#BE9DB8", "#88C0D0", "#88C0D0", "#A3BE8C", "#EBCB8B",
		"#D4959A", "#8FBCBB", "#8EAAC7",
	}},
	{"solarized-dark", "dark", false, colours{
		"#002B36", "#093644", "#5F747B", "#8D9D9E", "#EEE8D5", "#9194D3", "#3BA9A0", "#9194D3", "#90A217", "#BC9417",
		"#E87876", "#3BA9A0", "#4DA0DA",
	}},
	{"solarized-light", "light", true, colours{
		"#FDF6E3", "#EEE8D5", "#838F8F", "#556B71", "#073642", "#5D61A9", "#1E726C", "#5D61A9", "#606E00", "#826300",
		"#C42C2A", "#1E726C", "#1E6CA4",
	}},
	{"tokyo-night", "dark", false, colours{
		"#1A1B26", "#24283B", "#5E678F", "#898FAC", "#C0CAF5", "#BB9AF7", "#7DCFFF", "#BB9AF7", "#9ECE6A", "#E0AF68",
		"#F7768E", "#7DCFFF", "#7AA2F7",
	}},
	// None of the 16 colours is certain to be both visible and weaker than text:
	// bright black is the background in some terminals. Therefore dim text is faint.
	{"ansi", "your terminal's 16 colours", false, colours{
		brand: "5", you: "6", selected: "5", success: "2", warning: "3", danger: "1", running: "6", reference: "6",
	}},
	// Contrast is at least 7:1, and states do not depend on red and green.
	{"contrast", "7:1, no red and green", false, colours{
		"#000000", "", "#FFFFFF", "#D0D0D0", "#FFFFFF", "#FFFFFF", "#56B4E9", "#F0E442", "#56B4E9", "#F0E442",
		"#FFA040", "#56B4E9", "#56B4E9",
	}},
	{"contrast", "", true, colours{
		"#FFFFFF", "", "#000000", "#303030", "#000000", "#000000", "#003B73", "#003B73", "#003B73", "#5C3A00",
		"#7A2400", "#003B73", "#003B73",
	}},
}

// schemeOf returns the theme with a name, or the default for the background.
func schemeOf(name string, dark bool) (found *scheme) {
	for i := range schemes {
		if s := &schemes[i]; s.Name == name && (found == nil || s.light != dark) {
			found = s
		}
	}
	switch {
	case found != nil:
		return found
	case dark:
		return schemeOf("dark", dark)
	}
	return schemeOf("light", dark)
}

// Themes lists the themes with their descriptions.
func Themes() []Row {
	list := []Row{{Label: "auto", Detail: "follows the terminal"}}
	for _, s := range schemes {
		if s.About != "" {
			list = append(list, Row{Label: s.Name, Detail: s.About})
		}
	}
	return list
}

// ThemeNames returns the names of the themes.
func ThemeNames() (names []string) {
	for _, r := range Themes() {
		names = append(names, r.Label)
	}
	return names
}
