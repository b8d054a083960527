// Command informer prints what the informers of client-go learn from an API server.
//
// It takes a kubeconfig and a namespace, and follows ConfigMaps and Deployments there. One line per event:
//
//	synced
//	added ConfigMap NAME RESOURCEVERSION
//	changed ConfigMap NAME RESOURCEVERSION
//	deleted ConfigMap NAME RESOURCEVERSION
//
// It ends with its standard input.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: informer KUBECONFIG NAMESPACE")
	}
	if err := follow(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func follow(kubeconfig, namespace string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		// Whoever started us holds the other end.
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()

	out := &lines{writer: bufio.NewWriter(os.Stdout)}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	watched := []cache.SharedIndexInformer{
		factory.Core().V1().ConfigMaps().Informer(),
		factory.Apps().V1().Deployments().Informer(),
	}
	for _, informer := range watched {
		if _, err := informer.AddEventHandler(out.handler()); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	out.print("synced")
	<-ctx.Done()
	factory.Shutdown()
	return nil
}

// lines are printed whole and at once, whichever informer has something to say.
type lines struct {
	lock   sync.Mutex
	writer *bufio.Writer
}

func (l *lines) print(words ...any) {
	l.lock.Lock()
	defer l.lock.Unlock()
	fmt.Fprintln(l.writer, words...)
	l.writer.Flush()
}

func (l *lines) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { l.event("added", object) },
		UpdateFunc: func(_, object any) { l.event("changed", object) },
		DeleteFunc: func(object any) { l.event("deleted", object) },
	}
}

func (l *lines) event(what string, object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	kind := "other"
	switch object.(type) {
	case *corev1.ConfigMap:
		kind = "ConfigMap"
	case *appsv1.Deployment:
		kind = "Deployment"
	}
	if of, ok := object.(metav1.Object); ok {
		l.print(what, kind, of.GetName(), of.GetResourceVersion())
	}
}
