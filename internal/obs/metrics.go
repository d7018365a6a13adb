package obs

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Sample is one figure at one moment: its metric's name, help text and labels, and the value.
type Sample struct {
	Name, Help string
	Counter    bool // rises only; otherwise a gauge
	Labels     []string
	Values     []string
	Value      float64
}

// Source gives the figures of a part of the manager. It is asked at each scrape and must not wait.
type Source func(emit func(Sample))

// NewRegistry returns a registry of its own with the process's figures and those of the sources.
func NewRegistry(sources ...Source) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, s := range sources {
		r.MustRegister(collector{s})
	}
	return r
}

// collector is unchecked: which queues there are is known at the scrape only.
type collector struct{ src Source }

func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	c.src(func(s Sample) {
		kind := prometheus.GaugeValue
		if s.Counter {
			kind = prometheus.CounterValue
		}
		d := prometheus.NewDesc(s.Name, s.Help, s.Labels, nil)
		m, err := prometheus.NewConstMetric(d, kind, s.Value, s.Values...)
		if err != nil {
			m = prometheus.NewInvalidMetric(d, err)
		}
		ch <- m
	})
}
