package when

import (
	"encoding/binary"
	"os"
	"regexp"
	"time"
)

// posixZone matches the form of TZ that POSIX describes: names of the zone and of its summer time with their offsets.
var posixZone = regexp.MustCompile(`^:?((?:[A-Za-z]{3,}|<[A-Za-z0-9+\-]{3,}>)[+\-]?\d[\w<>+\-:,./]*)$`)

// noZone is the name of the zone if the rules of another cannot be read.
const noZone = "-00"

// zoneOf returns the zone for a value of TZ in the form of POSIX, such as CET-1CEST,M3.5.0,M10.5.0/3, which package
// time takes for a file that does not exist; nil for any other. It is a TZif file (RFC 8536) whose only rules are its
// footer.
func zoneOf(tz string) *time.Location {
	m := posixZone.FindStringSubmatch(tz)
	if m == nil {
		return nil
	}
	header := append([]byte("TZif2"), make([]byte, 15)...)
	file := append(append([]byte{}, header...), make([]byte, 6*4)...) // no data for 32 bits
	file = append(file, header...)
	for _, count := range []uint32{0, 0, 0, 1, 1, uint32(len(noZone) + 1)} { // one transition, type and name
		file = binary.BigEndian.AppendUint32(file, count)
	}
	file = binary.BigEndian.AppendUint64(file, ^uint64(1<<40-1)) // it is 2⁴⁰ seconds before 1970,
	file = append(file, 0)                                       // to the first type:
	file = append(file, 0, 0, 0, 0, 0, 0)                        // UTC, no summer time, the first name
	file = append(file, noZone+"\x00\n"...)                      // and the rules for all that follows
	file = append(file, m[1]+"\n"...)
	zone, err := time.LoadLocationFromTZData("Local", file)
	if err != nil {
		return nil
	}
	if name, _ := time.Unix(0, 0).In(zone).Zone(); name == noZone {
		return nil
	}
	return zone
}

// SetLocal sets the local zone if TZ has it in the form of POSIX. Programs call it at their start.
func SetLocal() {
	if zone := zoneOf(os.Getenv("TZ")); zone != nil {
		time.Local = zone
	}
}
