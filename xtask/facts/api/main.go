// Prints what a Kubernetes API server knows of its kinds and their types: the facts behind
// crates/flumen-schema/src/api. Names, scopes, verbs and the topology of lists come from a running
// server; JSON names, presence and protobuf numbers from the Go types, because no document says them.
//
// The answer is committed, so this runs only for a new release of Kubernetes. Against a server of it:
//
//	core.json and groups.json: the answers of /api and /apis as APIGroupDiscoveryList
//	openapi/*.json: every document that /openapi/v3 lists
//	cd xtask/facts/api && go run . core.json groups.json openapi/*.json >../../../crates/flumen-schema/src/api/facts.txt
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Types that print themselves. What is not in here and has a printer of its own is an error.
var printers = map[string]string{
	"intstr.IntOrString":              "intorstring",
	"resource.Quantity":               "quantity",
	"runtime.RawExtension":            "raw",
	"v1.Duration":                     "duration",
	"v1.FieldsV1":                     "fields",
	"v1.JSON":                         "json",
	"v1.JSONSchemaPropsOrArray":       "schemaorarray",
	"v1.JSONSchemaPropsOrBool":        "schemaorbool",
	"v1.JSONSchemaPropsOrStringArray": "schemaorstrings",
	"v1.MicroTime":                    "microtime",
	"v1.Time":                         "time",
}

// Kinds of requests and answers that are no resources.
var further = []schema.GroupVersionKind{
	{Version: "v1", Kind: "DeleteOptions"},
	{Version: "v1", Kind: "Status"},
	{Version: "v1", Kind: "Binding"},
	{Group: "autoscaling", Version: "v1", Kind: "Scale"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
	{Group: "policy", Version: "v1", Kind: "Eviction"},
}

type document struct {
	Components struct{ Schemas map[string]definition }
}

type definition struct {
	Required   []string
	Properties map[string]property
	Atomic     string `json:"x-kubernetes-map-type"`
}

type property struct {
	ListType      string   `json:"x-kubernetes-list-type"`
	ListMapKeys   []string `json:"x-kubernetes-list-map-keys"`
	MapType       string   `json:"x-kubernetes-map-type"`
	PatchStrategy string   `json:"x-kubernetes-patch-strategy"`
	PatchMergeKey string   `json:"x-kubernetes-patch-merge-key"`
	Enum          []any
	Items         *property
	Default       any
}

type discovery struct {
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version   string
			Resources []resource
		}
	}
}

type resource struct {
	Resource         string
	SingularResource string
	Scope            string
	ResponseKind     schema.GroupVersionKind
	ShortNames       []string
	Categories       []string
	Verbs            []string
	Subresources     []struct {
		Subresource  string
		ResponseKind schema.GroupVersionKind
		Verbs        []string
	}
}

var (
	marshaler = reflect.TypeFor[json.Marshaler]()
	structs   = map[string]reflect.Type{}
	openapi   = map[string]definition{}
)

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: api CORE-DISCOVERY GROUP-DISCOVERY OPENAPI...")
	}
	for _, add := range []error{apiextensions.AddToScheme(scheme.Scheme), apiregistration.AddToScheme(scheme.Scheme)} {
		if add != nil {
			log.Fatal(add)
		}
	}
	for _, file := range os.Args[3:] {
		var part document
		read(file, &part)
		maps.Copy(openapi, part.Components.Schemas)
	}
	fmt.Printf("# Made by `go run .` in xtask/facts/api; do not edit.\nsource %s\n", version())
	for _, file := range os.Args[1:3] {
		var groups discovery
		read(file, &groups)
		for _, group := range groups.Items {
			for _, version := range group.Versions {
				for _, resource := range version.Resources {
					printResource(schema.GroupVersion{Group: group.Metadata.Name, Version: version.Version}, resource)
				}
			}
		}
	}
	for _, kind := range further {
		fmt.Printf("message %s %s %s\n", kind.GroupVersion(), kind.Kind, typeOf(kind))
	}

	// Describing a struct finds further ones.
	blocks := map[string]string{}
	for len(blocks) < len(structs) {
		for name, goType := range maps.Clone(structs) {
			blocks[name] = block(name, goType)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		fmt.Println(blocks[name])
	}
}

func read(file string, into any) {
	bytes, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(bytes, into)
	}
	if err != nil {
		log.Fatalf("%s: %v", file, err)
	}
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == "k8s.io/api" {
			return dependency.Path + " " + dependency.Version
		}
	}
	log.Fatal("not built with k8s.io/api")
	return ""
}

func printResource(of schema.GroupVersion, resource resource) {
	kind := of.WithKind(resource.ResponseKind.Kind)
	list := func(words []string) string {
		if len(words) == 0 {
			return "-"
		}
		return strings.Join(words, ",")
	}
	fmt.Printf("kind %s %s %s %s %s %s %s %s %s\n", of, kind.Kind, typeOf(kind), resource.Resource, resource.SingularResource,
		strings.ToLower(resource.Scope), list(resource.ShortNames), list(resource.Categories), list(resource.Verbs))
	for _, sub := range resource.Subresources {
		answer := sub.ResponseKind
		if answer.Version == "" {
			answer = of.WithKind(answer.Kind)
		}
		fmt.Printf("  %s %s %s %s\n", sub.Subresource, answer.GroupVersion(), answer.Kind, list(sub.Verbs))
	}
}

func typeOf(kind schema.GroupVersionKind) string {
	object, err := scheme.Scheme.New(kind)
	if err != nil {
		log.Fatal(err)
	}
	return describe(reflect.TypeOf(object).Elem())
}

// block is a struct: a line with its name, then a line for each field in the order of its source.
func block(name string, goType reflect.Type) string {
	schema := openapi["io.k8s."+name]
	head := "type " + name
	if schema.Atomic == "atomic" {
		head += " atomic"
	}
	lines := []string{head}
	collect(goType, schema, protobufNumber, &lines)
	return strings.Join(lines, "\n")
}

// collect gathers the fields of a struct and of the structs that are inlined into it.
func collect(goType reflect.Type, schema definition, number func(reflect.StructField) string, lines *[]string) {
	for i := range goType.NumField() {
		field := goType.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			if field.Type.Kind() != reflect.Struct {
				log.Fatalf("%s.%s is inlined and no struct", goType, field.Name)
			}
			if number := number(field); number != "0" {
				*lines = append(*lines, fmt.Sprintf("  ~ %s always %s", number, describe(field.Type)))
			}
			// JSON has the fields here, protobuf has them in a message of their own.
			collect(field.Type, schema, func(reflect.StructField) string { return "0" }, lines)
			continue
		}
		presence, valueType := "always", field.Type
		omitempty := strings.Contains(options, "omitempty")
		switch {
		case valueType.Kind() == reflect.Pointer && omitempty:
			presence, valueType = "given", valueType.Elem()
		case valueType.Kind() == reflect.Pointer:
			presence, valueType = "nullable", valueType.Elem()
		case strings.Contains(options, "omitzero"):
			presence = "filled"
		case omitempty && valueType.Kind() != reflect.Struct:
			// A struct is never empty to the printer.
			presence = "filled"
		}
		line := fmt.Sprintf("  %s %s %s %s", name, number(field), presence, describe(valueType))
		*lines = append(*lines, line+facts(name, schema))
	}
}

func facts(name string, schema definition) string {
	var words []string
	add := func(key, value string) {
		if value != "" {
			words = append(words, " "+key+"="+value)
		}
	}
	property := schema.Properties[name]
	if slices.Contains(schema.Required, name) {
		words = append(words, " required")
	}
	add("list", property.ListType)
	add("keys", strings.Join(property.ListMapKeys, ","))
	add("map", property.MapType)
	add("patch", property.PatchStrategy)
	add("merge", property.PatchMergeKey)
	// Zero values are no news.
	if text, err := json.Marshal(property.Default); err != nil {
		log.Fatal(err)
	} else if !slices.Contains([]string{"null", "{}", `""`, "0", "false"}, string(text)) {
		add("default", string(text))
	}
	// At the end, because values may have spaces.
	enum := property.Enum
	if enum == nil && property.Items != nil {
		enum = property.Items.Enum
	}
	var values []string
	for _, value := range enum {
		values = append(values, fmt.Sprint(value))
	}
	add("enum", strings.Join(values, ","))
	return strings.Join(words, "")
}

func protobufNumber(field reflect.StructField) string {
	words := strings.Split(field.Tag.Get("protobuf"), ",")
	if len(words) < 2 {
		return "0"
	}
	return words[1]
}

func describe(goType reflect.Type) string {
	if goType.Implements(marshaler) || reflect.PointerTo(goType).Implements(marshaler) {
		printer, known := printers[goType.String()]
		if !known {
			log.Fatalf("%s prints itself", goType)
		}
		return printer
	}
	switch goType.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Uint8:
		basic := goType.Kind().String()
		if goType.PkgPath() != "" {
			// Named types are named in messages.
			return basic + ":" + goType.String()
		}
		return basic
	case reflect.Pointer:
		return describe(goType.Elem())
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if goType.PkgPath() != "" && goType.Elem().Kind() == reflect.String {
			return "[]" + describe(goType.Elem()) + ":" + goType.String()
		}
		return "[]" + describe(goType.Elem())
	case reflect.Map:
		if goType.Key().Kind() != reflect.String {
			log.Fatalf("%s: keys are no strings", goType)
		}
		return "{}" + describe(goType.Elem())
	case reflect.Struct:
		name := strings.ReplaceAll(strings.TrimPrefix(goType.PkgPath(), "k8s.io/"), "/", ".") + "." + goType.Name()
		structs[name] = goType
		return name
	}
	log.Fatalf("%s: unexpected kind %s", goType, goType.Kind())
	return ""
}
