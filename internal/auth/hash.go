package auth

// HashSecret turns a password of an object's definition (LDAPPWD, PASSWORD …) into what is kept of it, the same slow way
// as a user's: whoever reads the store must not find it by trying.
func HashSecret(secret string) (string, error) { return newHash(secret) }
