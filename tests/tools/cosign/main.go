// The commands of cosign without the key services of cloud providers, which no test asks and which take long to
// build.
package main

import (
	"errors"
	"log"
	"os"

	"github.com/sigstore/cosign/v3/cmd/cosign/cli"
	failure "github.com/sigstore/cosign/v3/cmd/cosign/errors"
)

func main() {
	err := cli.New().Execute()
	var known *failure.CosignError
	switch {
	case errors.As(err, &known):
		log.Printf("error during command execution: %v", err)
		os.Exit(known.ExitCode())
	case err != nil:
		log.Fatalf("error during command execution: %v", err)
	}
}
