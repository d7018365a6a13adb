package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// mqrc says what a reason code or a message is: a number (decimal, or hexadecimal with 0x), a name (MQRC_… or MQRCCF_…), or the
// identifier of an AMQ message with or without its last letter. A number that is the code of several families has a line for each.
func (e *env) mqrc(args []string) error {
	if len(args) != 1 {
		return usageError(errors.New("name one reason code or message"))
	}
	what := strings.ToUpper(args[0])
	if strings.HasPrefix(what, "AMQ") {
		return e.amq(what)
	}
	number, ok := mqi.ReasonNumber(what)
	if !ok {
		digits, base := what, 10
		if hex, ok := strings.CutPrefix(what, "0X"); ok {
			digits, base = hex, 16
		}
		n, err := strconv.ParseInt(digits, base, 32)
		if err != nil {
			return withCode(1, fmt.Errorf("%s is no number, no reason code's name and no AMQ message", args[0]))
		}
		number = int32(n)
	}
	names := mqi.ReasonNames(number)
	if len(names) == 0 {
		return withCode(1, fmt.Errorf("%d is no reason code that is known", number))
	}
	fmt.Fprintln(e.stdout)
	for _, name := range names {
		fmt.Fprintf(e.stdout, "%10d  0x%08x  %s\n", number, uint32(number), name)
	}
	return nil
}

// amq prints the message whose identifier it is, with its inserts as %1, %2.
func (e *env) amq(id string) error {
	for _, known := range attr.MessageIDs() {
		if known == id || strings.TrimRight(known, "IWEST") == id {
			text, _ := attr.MessageTemplate(known)
			fmt.Fprintf(e.stdout, "\n%s: %s\n", known, text)
			return nil
		}
	}
	return withCode(1, fmt.Errorf("%s is no message of qmgrd's", id))
}
