// Prints how Go types of client-go become JSON, for every kind of its scheme: the facts behind
// crates/flumen-schema/src/generated/typed.rs. A server's OpenAPI document does not say them: it
// has neither omitempty nor pointers, nor the kinds that are no longer served.
//
// The answer is committed, so this runs only for a new release of client-go:
//
//	cd xtask/facts/typed && go get k8s.io/client-go@VERSION && go mod tidy && go run . >../typed.txt
//	cargo xtask generate
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

const module = "k8s.io/client-go"

// Types that print themselves. What is in none of these lists and has a printer of its own is an error.
var printers = map[string]string{
	"intstr.IntOrString":   "intorstring",
	"resource.Quantity":    "quantity",
	"runtime.RawExtension": "raw",
	"v1.FieldsV1":          "raw",
	"v1.MicroTime":         "microtime",
	"v1.Time":              "time",
}

var (
	marshaler = reflect.TypeFor[json.Marshaler]()
	object    = reflect.TypeFor[metav1.Object]()
	structs   = map[string]reflect.Type{}
)

func main() {
	var kinds []string
	for gvk, goType := range scheme.Scheme.AllKnownTypes() {
		if reflect.PointerTo(goType).Implements(object) {
			kinds = append(kinds, fmt.Sprintf("kind %s %s %s", gvk.GroupVersion(), gvk.Kind, describe(goType)))
		}
	}
	slices.Sort(kinds)
	fmt.Printf("# Made by `go run .` in `typed`; do not edit.\nsource %s %s\n", module, version())
	fmt.Println(strings.Join(kinds, "\n"))

	// Describing a struct finds further ones.
	blocks := map[string]string{}
	for len(blocks) < len(structs) {
		for name, goType := range structs {
			blocks[name] = block(name, goType)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		fmt.Println(blocks[name])
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		log.Fatal("no build information")
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	log.Fatal("not built with ", module)
	return ""
}

// block is a struct: a line with its name, then a line for each field.
func block(name string, goType reflect.Type) string {
	fields := map[string]string{}
	collect(goType, fields)
	lines := []string{"type " + name}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		lines = append(lines, "  "+field+" "+fields[field])
	}
	return strings.Join(lines, "\n")
}

// collect gathers the fields of a struct and of the structs that are inlined into it.
func collect(goType reflect.Type, fields map[string]string) {
	for i := range goType.NumField() {
		field := goType.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			if field.Type.Kind() != reflect.Struct {
				log.Fatalf("%s.%s is inlined and no struct", goType, field.Name)
			}
			collect(field.Type, fields)
			continue
		}
		if _, known := fields[name]; known || name == "-" {
			log.Fatalf("%s.%s: unexpected name %q", goType, field.Name, name)
		}
		presence, valueType := "always", field.Type
		omitempty := strings.Contains(options, "omitempty")
		switch {
		case valueType.Kind() == reflect.Pointer && omitempty:
			presence, valueType = "given", valueType.Elem()
		case valueType.Kind() == reflect.Pointer:
			presence, valueType = "nullable", valueType.Elem()
		case strings.Contains(options, "omitzero"):
			// Zero and empty are the same for a time, and differ for a list that is empty.
			if describe(valueType) != "time" {
				log.Fatalf("%s.%s: omitzero of a type other than a time", goType, field.Name)
			}
			presence = "filled"
		case omitempty && valueType.Kind() != reflect.Struct:
			// A struct is never empty to the printer.
			presence = "filled"
		}
		fields[name] = presence + " " + describe(valueType)
	}
}

func describe(goType reflect.Type) string {
	if goType.Implements(marshaler) {
		printer, known := printers[goType.String()]
		if !known {
			log.Fatalf("%s prints itself", goType)
		}
		return printer
	}
	switch goType.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		return goType.Kind().String()
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + describe(goType.Elem())
	case reflect.Map:
		if goType.Key().Kind() != reflect.String {
			log.Fatalf("%s: keys are no strings", goType)
		}
		return "{}" + describe(goType.Elem())
	case reflect.Struct:
		path := strings.TrimPrefix(strings.TrimPrefix(goType.PkgPath(), "k8s.io/api/"), "k8s.io/apimachinery/pkg/apis/")
		name := path + "." + goType.Name()
		structs[name] = goType
		return name
	}
	log.Fatalf("%s: unexpected kind %s", goType, goType.Kind())
	return ""
}
