package fap

// Beating reports whether a heartbeat is being written.
func (s *Server) Beating() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.sockets {
		if k.beating.Load() {
			return true
		}
	}
	return false
}
