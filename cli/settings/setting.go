package settings

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EnvName returns the LIFEHUB_… variable of the setting.
func (s setting) EnvName() string {
	return "LIFEHUB_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// set checks the values and assigns them to the field. A list may be a single string, separated
// like the PATH variable.
func (s setting) set(values []string, isList bool) error {
	if list, ok := s.Field.(*[]string); ok {
		if !isList {
			values = filepath.SplitList(values[0])
		}
		*list = values
		return nil
	}
	if isList {
		return errors.New("one value is expected, not a list")
	}
	value := values[0]
	if len(s.one) > 0 && !slices.Contains(s.one, value) && !(s.orFile && strings.ContainsAny(value, `/\\`)) {
		return fmt.Errorf("%q is not one of %s", value, strings.Join(s.one, ", "))
	}
	switch field := s.Field.(type) {
	case *string:
		*field = value
	case *int:
		n, err := strconv.Atoi(value)
		if err != nil || n < s.least {
			return fmt.Errorf("%q is not a whole number of at least %d", value, s.least)
		}
		*field = n
	case *bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is not true or false", value)
		}
		*field = b
	case *time.Duration:
		d, err := time.ParseDuration(value)
		if err != nil || d < time.Duration(s.least) {
			return fmt.Errorf("%q is not a duration such as 90s or 10m", value)
		}
		*field = d
	}
	return nil
}

// Text returns the value as in the config file. A secret is masked.
func (s setting) Text() string {
	switch field := s.Field.(type) {
	case *[]string:
		quoted := make([]string, len(*field))
		for i, item := range *field {
			quoted[i] = strconv.Quote(item)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case *string:
		if s.Quiet && *field != "" {
			return `"…"`
		}
		if *field == "" {
			return `""`
		}
		return WithoutPassword(*field)
	case *int:
		return strconv.Itoa(*field)
	case *bool:
		return strconv.FormatBool(*field)
	case *time.Duration:
		return shortDuration(*field)
	}
	return ""
}

// WithoutPassword returns a URL without its password and its query, where some services expect a
// key.
func WithoutPassword(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User == nil && u.RawQuery == "" {
		return text
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.Redacted()
}

// shortDuration omits zero parts: 10m, not 10m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
