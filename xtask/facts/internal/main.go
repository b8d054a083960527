// Prints how an API server names the fields of its internal types, which its messages show: the order
// of the struct, the Go name, and the JSON name of the same field in the served version.
//
// The answer is committed, so this runs only for a new release of Kubernetes. With the directories of
// the modules k8s.io/kubernetes and k8s.io/api of that release:
//
//	cd xtask/facts/internal && go run . KUBERNETES API >../../../crates/flumen-kinds/src/internal/types.txt
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
)

// Groups with the version that is served.
var groups = map[string]string{
	"admissionregistration": "v1", "apps": "v1", "authorization": "v1", "autoscaling": "v2", "batch": "v1",
	"certificates": "v1", "core": "v1", "discovery": "v1", "flowcontrol": "v1", "networking": "v1", "node": "v1", "policy": "v1",
	"rbac": "v1", "resource": "v1", "scheduling": "v1", "storage": "v1",
}

// What messages show.
var roots = []string{
	"admissionregistration.ParamRef", "admissionregistration.MatchResources", "apps.DaemonSetUpdateStrategy",
	"apps.DeploymentStrategy", "apps.StatefulSetUpdateStrategy", "authorization.NonResourceAttributes", "autoscaling.MetricSpec",
	"autoscaling.HPAScalingPolicy", "batch.JobSpec", "batch.UncountedTerminatedPods", "certificates.CertificateSigningRequestSpec",
	"certificates.CertificateSigningRequestCondition", "core.PersistentVolumeClaimSpec", "core.PersistentVolumeSpec",
	"core.PodTemplateSpec", "core.ServicePort", "core.EventSource", "core.NodeSpec", "core.ObjectReference", "core.Taint", "core.EndpointAddress",
	"core.ResourceQuotaSpec", "core.LimitRangeItem", "core.PodIP", "core.HostIP", "core.ReplicationControllerSpec",
	"discovery.EndpointPort", "flowcontrol.FlowSchemaSpec", "flowcontrol.PriorityLevelConfigurationSpec",
	"networking.IngressBackend", "networking.IngressClassParametersReference", "networking.NetworkPolicyPeer",
	"networking.ServiceCIDRSpec", "networking.IPAddressSpec", "policy.PodDisruptionBudgetSpec", "rbac.RoleRef",
	"resource.ResourceClaimSpec", "resource.ResourceClaimTemplateSpec", "resource.ResourceSliceSpec", "resource.DeviceClassSpec", "scheduling.WorkloadSpec",
	"storage.CSIDriverSpec", "storage.VolumeAttachmentSpec", "storage.CSINodeDriver",
}

// Fields that the served version keeps in the struct around this one.
var above = map[string]string{
	"core.PodSecurityContext.HostNetwork": "hostNetwork", "core.PodSecurityContext.HostPID": "hostPID",
	"core.PodSecurityContext.HostIPC": "hostIPC", "core.PodSecurityContext.HostUsers": "hostUsers",
	"core.PodSecurityContext.ShareProcessNamespace": "shareProcessNamespace",
}

var plain = map[string]string{
	"string": "s", "bool": "b", "byte": "n", "int": "n", "int32": "n", "int64": "n", "float64": "n",
	"resource.Quantity": "q", "intstr.IntOrString": "x", "metav1.Time": "t", "metav1.MicroTime": "t",
	"metav1.Duration": "s", "types.UID": "s", "runtime.RawExtension": "r", "runtime.Object": "r", "interface{}": "r",
}

type pkg struct {
	structs map[string]*ast.StructType
	named   map[string]ast.Expr
}

func read(dir string) pkg {
	found := pkg{map[string]*ast.StructType{}, map[string]ast.Expr{}}
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "zz_generated") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			panic(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if body, ok := spec.Type.(*ast.StructType); ok {
					found.structs[spec.Name.Name] = body
				} else {
					found.named[spec.Name.Name] = spec.Type
				}
			}
			return true
		})
	}
	return found
}

var internal, served = map[string]pkg{}, map[string]pkg{}
var wanted = map[string]bool{}

func name(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return name(e.X) + "." + e.Sel.Name
	case *ast.InterfaceType:
		return "interface{}"
	}
	return fmt.Sprintf("%T", expr)
}

func form(group string, expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return "*" + form(group, e.X)
	case *ast.ArrayType:
		if name(e.Elt) == "byte" {
			return "*s"
		}
		return "[]" + form(group, e.Elt)
	case *ast.MapType:
		return "{}" + form(group, e.Value)
	}
	written := name(expr)
	if code, ok := plain[written]; ok {
		return code
	}
	if before, after, ok := strings.Cut(written, "."); ok {
		if before == "metav1" {
			return "=" + after
		}
		if before == "api" {
			before = "core"
		}
		group, written = before, after
	}
	if _, ok := internal[group].structs[written]; ok {
		wanted[group+"."+written] = true
		return "@" + group + "." + written
	}
	if other, ok := internal[group].named[written]; ok {
		return form(group, other)
	}
	return "r"
}

func tags(group, of string) map[string]string {
	found := map[string]string{}
	body, ok := served[group].structs[of]
	if !ok {
		return found
	}
	for _, field := range body.Fields.List {
		if field.Tag == nil || len(field.Names) == 0 {
			continue
		}
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
		found[field.Names[0].Name] = strings.Split(tag, ",")[0]
	}
	return found
}

func main() {
	for group, version := range groups {
		internal[group] = read(filepath.Join(os.Args[1], "pkg/apis", group))
		served[group] = read(filepath.Join(os.Args[2], group, version))
	}
	for _, root := range roots {
		wanted[root] = true
	}
	lines, done := map[string]string{}, false
	for !done {
		done = true
		for of := range wanted {
			if _, ok := lines[of]; ok {
				continue
			}
			done = false
			group, short, _ := strings.Cut(of, ".")
			body, ok := internal[group].structs[short]
			if !ok {
				panic(of)
			}
			names := tags(group, short)
			var line strings.Builder
			line.WriteString(of)
			for _, field := range body.Fields.List {
				if len(field.Names) == 0 {
					fmt.Fprintf(&line, " +%s", form(group, field.Type))
				}
				for _, ident := range field.Names {
					json := names[ident.Name]
					if place, ok := above[of+"."+ident.Name]; ok {
						json = "^" + place
					}
					fmt.Fprintf(&line, " %s=%s:%s", ident.Name, json, form(group, field.Type))
				}
			}
			lines[of] = line.String()
		}
	}
	sorted := make([]string, 0, len(lines))
	for _, line := range lines {
		sorted = append(sorted, line)
	}
	sort.Strings(sorted)
	fmt.Println("# Made by `go run .` in xtask/facts/internal; do not edit.")
	for _, line := range sorted {
		fmt.Println(line)
	}
}
