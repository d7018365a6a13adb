package web

import (
	"net/http"
	"strings"
)

// nowhere answers what no path takes: 405 and the methods there are when the path is one, else 404.
func nowhere(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) error {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		try := r.Clone(r.Context())
		try.Method = m
		if _, pattern := mux.Handler(try); strings.HasPrefix(pattern, m+" ") || m == http.MethodHead && strings.HasPrefix(pattern, "GET ") {
			allow = append(allow, m)
		}
	}
	if len(allow) == 0 {
		return refuse("MQWB0107E", "nothing answers %s %s", r.Method, clip(r.URL.Path))
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	return refuse("MQWB0115E", "%s is not a method of %s, use %s", r.Method, clip(r.URL.Path), strings.Join(allow, ", "))
}
