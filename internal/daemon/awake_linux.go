package daemon

import (
	"encoding/binary"
	"io"
	"os"
)

// latencyDevice takes how many microseconds a processor may take to wake up, as long as it is open: Documentation/power/pm_qos_interface
// of the kernel.
const latencyDevice = "/dev/cpu_dma_latency"

// keepAwake lets no processor sleep until the result is closed.
func keepAwake() (io.Closer, error) {
	f, err := os.OpenFile(latencyDevice, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(binary.NativeEndian.AppendUint32(nil, 0)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
