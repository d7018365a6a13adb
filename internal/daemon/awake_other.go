//go:build !linux

package daemon

import (
	"errors"
	"io"
)

func keepAwake() (io.Closer, error) {
	return nil, errors.New("this system cannot be asked to keep processors awake")
}
