//! The fields that transformers look at when no configuration says otherwise.
//!
//! Made by `cargo xtask generate`; do not edit.

use std::borrow::Cow;

use super::{FieldSpec, NameReference};

const fn spec(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
    create: bool,
) -> FieldSpec {
    FieldSpec {
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(version),
        kind: Cow::Borrowed(kind),
        path: Cow::Borrowed(path),
        create,
    }
}

const fn reference(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    referrers: &'static [FieldSpec],
) -> NameReference {
    NameReference {
        group: Cow::Borrowed(group),
        version: Cow::Borrowed(version),
        kind: Cow::Borrowed(kind),
        referrers: Cow::Borrowed(referrers),
    }
}

pub(super) static NAME_PREFIX: [FieldSpec; 1] = [
    spec("", "", "", "metadata/name", false),
];

pub(super) static NAME_SUFFIX: [FieldSpec; 1] = [
    spec("", "", "", "metadata/name", false),
];

pub(super) static NAMESPACE: [FieldSpec; 3] = [
    spec("", "", "Namespace", "metadata/name", true),
    spec("apiextensions.k8s.io", "", "CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service/namespace", false),
    spec("apiregistration.k8s.io", "", "APIService", "spec/service/namespace", true),
];

pub(super) static COMMON_LABELS: [FieldSpec; 32] = [
    spec("", "v1", "Service", "spec/selector", true),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    spec("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    spec("apps", "", "Deployment", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels", false),
    spec("", "", "Deployment", "spec/selector/matchLabels", true),
    spec("", "", "Deployment", "spec/template/metadata/labels", true),
    spec("apps", "", "StatefulSet", "spec/selector/matchLabels", true),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels", false),
    spec("apps", "", "StatefulSet", "spec/template/metadata/labels", true),
    spec("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
    spec("batch", "", "CronJob", "spec/jobTemplate/metadata/labels", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
    spec("policy", "", "PodDisruptionBudget", "spec/selector/matchLabels", false),
    spec("batch", "", "Job", "spec/selector/matchLabels", false),
    spec("batch", "", "Job", "spec/template/metadata/labels", true),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels", false),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
    spec("networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
    spec("", "v1", "ReplicationController", "spec/selector", true),
    spec("", "v1", "ReplicationController", "spec/template/metadata/labels", true),
    spec("", "", "DaemonSet", "spec/selector/matchLabels", true),
    spec("", "", "DaemonSet", "spec/template/metadata/labels", true),
    spec("", "", "ReplicaSet", "spec/selector/matchLabels", true),
    spec("", "", "ReplicaSet", "spec/template/metadata/labels", true),
    spec("", "", "", "metadata/labels", true),
];

pub(super) static TEMPLATE_LABELS: [FieldSpec; 10] = [
    spec("", "", "Deployment", "spec/template/metadata/labels", true),
    spec("apps", "", "StatefulSet", "spec/template/metadata/labels", true),
    spec("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/metadata/labels", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
    spec("batch", "", "Job", "spec/template/metadata/labels", true),
    spec("", "v1", "ReplicationController", "spec/template/metadata/labels", true),
    spec("", "", "DaemonSet", "spec/template/metadata/labels", true),
    spec("", "", "ReplicaSet", "spec/template/metadata/labels", true),
    spec("", "", "", "metadata/labels", true),
];

pub(super) static COMMON_ANNOTATIONS: [FieldSpec; 9] = [
    spec("", "", "Deployment", "spec/template/metadata/annotations", true),
    spec("", "", "StatefulSet", "spec/template/metadata/annotations", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/metadata/annotations", true),
    spec("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations", true),
    spec("batch", "", "Job", "spec/template/metadata/annotations", true),
    spec("", "v1", "ReplicationController", "spec/template/metadata/annotations", true),
    spec("", "", "DaemonSet", "spec/template/metadata/annotations", true),
    spec("", "", "ReplicaSet", "spec/template/metadata/annotations", true),
    spec("", "", "", "metadata/annotations", true),
];

pub(super) static VAR_REFERENCE: [FieldSpec; 72] = [
    spec("", "", "Service", "spec/ports/port", false),
    spec("", "", "Service", "spec/ports/targetPort", false),
    spec("", "", "PersistentVolume", "spec/nfs/server", false),
    spec("", "", "Deployment", "spec/template/spec/containers/args", false),
    spec("", "", "Deployment", "spec/template/spec/containers/command", false),
    spec("", "", "Deployment", "spec/template/spec/containers/env/value", false),
    spec("", "", "Deployment", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/args", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/command", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "Deployment", "spec/template/spec/volumes/nfs/server", false),
    spec("", "", "Deployment", "spec/template/metadata/annotations", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/args", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/command", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/env/value", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/args", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/command", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/args", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/command", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/value", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/args", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/command", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/value", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/volumes/nfs/server", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/args", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/command", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/env/value", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/args", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/command", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "DaemonSet", "spec/template/spec/volumes/nfs/server", false),
    spec("", "", "Ingress", "spec/rules/host", false),
    spec("", "", "Ingress", "spec/tls/hosts", false),
    spec("", "", "Ingress", "spec/tls/secretName", false),
    spec("", "", "Job", "spec/template/spec/containers/args", false),
    spec("", "", "Job", "spec/template/spec/containers/command", false),
    spec("", "", "Job", "spec/template/spec/containers/env/value", false),
    spec("", "", "Job", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "Job", "spec/template/spec/initContainers/args", false),
    spec("", "", "Job", "spec/template/spec/initContainers/command", false),
    spec("", "", "Job", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "Job", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "Job", "spec/template/spec/volumes/nfs/server", false),
    spec("", "", "Pod", "spec/containers/args", false),
    spec("", "", "Pod", "spec/containers/command", false),
    spec("", "", "Pod", "spec/containers/env/value", false),
    spec("", "", "Pod", "spec/containers/volumeMounts/mountPath", false),
    spec("", "", "Pod", "spec/initContainers/args", false),
    spec("", "", "Pod", "spec/initContainers/command", false),
    spec("", "", "Pod", "spec/initContainers/env/value", false),
    spec("", "", "Pod", "spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "Pod", "spec/volumes/nfs/server", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/args", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/command", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/env/value", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/volumeMounts/mountPath", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/args", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/command", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/value", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/volumeMounts/mountPath", false),
    spec("", "", "ReplicaSet", "spec/template/spec/volumes/nfs/server", false),
    spec("", "", "", "metadata/labels", false),
    spec("", "", "", "metadata/annotations", false),
];

pub(super) static IMAGES: [FieldSpec; 6] = [
    spec("", "", "", "spec/containers[]/image", true),
    spec("", "", "", "spec/initContainers[]/image", true),
    spec("", "", "", "spec/volumes[]/image/reference", true),
    spec("", "", "", "spec/template/spec/containers[]/image", true),
    spec("", "", "", "spec/template/spec/initContainers[]/image", true),
    spec("", "", "", "spec/template/spec/volumes[]/image/reference", true),
];

pub(super) static REPLICAS: [FieldSpec; 4] = [
    spec("", "", "Deployment", "spec/replicas", true),
    spec("", "", "StatefulSet", "spec/replicas", true),
    spec("", "", "ReplicaSet", "spec/replicas", true),
    spec("", "", "ReplicationController", "spec/replicas", true),
];

static STORAGE_CLASS_REFERRERS: [FieldSpec; 3] = [
    spec("", "", "PersistentVolume", "spec/storageClassName", false),
    spec("", "", "PersistentVolumeClaim", "spec/storageClassName", false),
    spec("", "", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName", false),
];

static SERVICE_ACCOUNT_REFERRERS: [FieldSpec; 9] = [
    spec("rbac.authorization.k8s.io", "", "RoleBinding", "subjects", false),
    spec("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "subjects", false),
    spec("", "", "Pod", "spec/serviceAccountName", false),
    spec("", "", "StatefulSet", "spec/template/spec/serviceAccountName", false),
    spec("", "", "Deployment", "spec/template/spec/serviceAccountName", false),
    spec("", "", "ReplicationController", "spec/template/spec/serviceAccountName", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/serviceAccountName", false),
    spec("", "", "Job", "spec/template/spec/serviceAccountName", false),
    spec("", "", "DaemonSet", "spec/template/spec/serviceAccountName", false),
];

static ROLE_REFERRERS: [FieldSpec; 1] = [
    spec("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name", false),
];

static CLUSTER_ROLE_REFERRERS: [FieldSpec; 2] = [
    spec("rbac.authorization.k8s.io", "", "RoleBinding", "roleRef/name", false),
    spec("rbac.authorization.k8s.io", "", "ClusterRoleBinding", "roleRef/name", false),
];

static CONFIG_MAP_REFERRERS: [FieldSpec; 52] = [
    spec("", "v1", "Pod", "spec/volumes/configMap/name", false),
    spec("", "v1", "Pod", "spec/containers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "v1", "Pod", "spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "v1", "Pod", "spec/containers/envFrom/configMapRef/name", false),
    spec("", "v1", "Pod", "spec/initContainers/envFrom/configMapRef/name", false),
    spec("", "v1", "Pod", "spec/volumes/projected/sources/configMap/name", false),
    spec("", "", "PodTemplate", "template/spec/volumes/configMap/name", false),
    spec("", "", "PodTemplate", "template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "PodTemplate", "template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "PodTemplate", "template/spec/containers/envFrom/configMapRef/name", false),
    spec("", "", "PodTemplate", "template/spec/initContainers/envFrom/configMapRef/name", false),
    spec("", "", "PodTemplate", "template/spec/volumes/projected/sources/configMap/name", false),
    spec("", "", "Deployment", "spec/template/spec/volumes/configMap/name", false),
    spec("", "", "Deployment", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "Deployment", "spec/template/spec/containers/envFrom/configMapRef/name", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
    spec("", "", "Deployment", "spec/template/spec/volumes/projected/sources/configMap/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/volumes/configMap/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/envFrom/configMapRef/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/volumes/projected/sources/configMap/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/volumes/configMap/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/envFrom/configMapRef/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/volumes/projected/sources/configMap/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/volumes/configMap/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/envFrom/configMapRef/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/volumes/projected/sources/configMap/name", false),
    spec("", "", "Job", "spec/template/spec/volumes/configMap/name", false),
    spec("", "", "Job", "spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "Job", "spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "Job", "spec/template/spec/containers/envFrom/configMapRef/name", false),
    spec("", "", "Job", "spec/template/spec/initContainers/envFrom/configMapRef/name", false),
    spec("", "", "Job", "spec/template/spec/volumes/projected/sources/configMap/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/configMap/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/configMap/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/configMapKeyRef/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/configMapRef/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/configMapRef/name", false),
    spec("", "", "Node", "spec/configSource/configMap", false),
    spec("", "", "Role", "rules/resourceNames", false),
    spec("", "", "ClusterRole", "rules/resourceNames", false),
    spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap", false),
];

static SECRET_REFERRERS: [FieldSpec; 70] = [
    spec("", "v1", "Pod", "spec/volumes/secret/secretName", false),
    spec("", "v1", "Pod", "spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "v1", "Pod", "spec/initContainers/env/valueFrom/secretKeyRef/name", false),
    spec("", "v1", "Pod", "spec/containers/envFrom/secretRef/name", false),
    spec("", "v1", "Pod", "spec/initContainers/envFrom/secretRef/name", false),
    spec("", "v1", "Pod", "spec/imagePullSecrets/name", false),
    spec("", "v1", "Pod", "spec/volumes/projected/sources/secret/name", false),
    spec("", "", "PodTemplate", "template/spec/volumes/secret/secretName", false),
    spec("", "", "PodTemplate", "template/spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "PodTemplate", "template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "PodTemplate", "template/spec/containers/envFrom/secretRef/name", false),
    spec("", "", "PodTemplate", "template/spec/initContainers/envFrom/secretRef/name", false),
    spec("", "", "PodTemplate", "template/spec/imagePullSecrets/name", false),
    spec("", "", "PodTemplate", "template/spec/volumes/projected/sources/secret/name", false),
    spec("", "", "Deployment", "spec/template/spec/volumes/secret/secretName", false),
    spec("", "", "Deployment", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "Deployment", "spec/template/spec/containers/envFrom/secretRef/name", false),
    spec("", "", "Deployment", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
    spec("", "", "Deployment", "spec/template/spec/imagePullSecrets/name", false),
    spec("", "", "Deployment", "spec/template/spec/volumes/projected/sources/secret/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/volumes/secret/secretName", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/containers/envFrom/secretRef/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/imagePullSecrets/name", false),
    spec("", "", "ReplicaSet", "spec/template/spec/volumes/projected/sources/secret/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/volumes/secret/secretName", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/containers/envFrom/secretRef/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/imagePullSecrets/name", false),
    spec("", "", "DaemonSet", "spec/template/spec/volumes/projected/sources/secret/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/volumes/secret/secretName", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/containers/envFrom/secretRef/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/imagePullSecrets/name", false),
    spec("", "", "StatefulSet", "spec/template/spec/volumes/projected/sources/secret/name", false),
    spec("", "", "Job", "spec/template/spec/volumes/secret/secretName", false),
    spec("", "", "Job", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "Job", "spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "Job", "spec/template/spec/containers/envFrom/secretRef/name", false),
    spec("", "", "Job", "spec/template/spec/initContainers/envFrom/secretRef/name", false),
    spec("", "", "Job", "spec/template/spec/imagePullSecrets/name", false),
    spec("", "", "Job", "spec/template/spec/volumes/projected/sources/secret/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/secret/secretName", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/projected/sources/secret/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/containers/envFrom/secretRef/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/initContainers/envFrom/secretRef/name", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/imagePullSecrets/name", false),
    spec("", "", "Ingress", "spec/tls/secretName", false),
    spec("", "", "Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret", false),
    spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret", false),
    spec("", "", "Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret", false),
    spec("", "", "Ingress", "spec/tls/secretName", false),
    spec("", "", "ServiceAccount", "imagePullSecrets/name", false),
    spec("", "", "StorageClass", "parameters/secretName", false),
    spec("", "", "StorageClass", "parameters/adminSecretName", false),
    spec("", "", "StorageClass", "parameters/userSecretName", false),
    spec("", "", "StorageClass", "parameters/secretRef", false),
    spec("", "", "Role", "rules/resourceNames", false),
    spec("", "", "ClusterRole", "rules/resourceNames", false),
    spec("serving.knative.dev", "v1", "Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name", false),
    spec("", "", "PersistentVolume", "spec/azureFile/secretName", false),
];

static SERVICE_REFERRERS: [FieldSpec; 8] = [
    spec("apps", "", "StatefulSet", "spec/serviceName", false),
    spec("", "", "Ingress", "spec/rules/http/paths/backend/serviceName", false),
    spec("", "", "Ingress", "spec/backend/serviceName", false),
    spec("", "", "Ingress", "spec/rules/http/paths/backend/service/name", false),
    spec("", "", "Ingress", "spec/defaultBackend/service/name", false),
    spec("apiregistration.k8s.io", "", "APIService", "spec/service/name", false),
    spec("admissionregistration.k8s.io", "", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service", false),
    spec("admissionregistration.k8s.io", "", "MutatingWebhookConfiguration", "webhooks/clientConfig/service", false),
];

static PRIORITY_CLASS_REFERRERS: [FieldSpec; 7] = [
    spec("", "", "Pod", "spec/priorityClassName", false),
    spec("", "", "StatefulSet", "spec/template/spec/priorityClassName", false),
    spec("", "", "Deployment", "spec/template/spec/priorityClassName", false),
    spec("", "", "ReplicationController", "spec/template/spec/priorityClassName", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/priorityClassName", false),
    spec("", "", "Job", "spec/template/spec/priorityClassName", false),
    spec("", "", "DaemonSet", "spec/template/spec/priorityClassName", false),
];

static PERSISTENT_VOLUME_REFERRERS: [FieldSpec; 2] = [
    spec("", "", "PersistentVolumeClaim", "spec/volumeName", false),
    spec("", "", "ClusterRole", "rules/resourceNames", false),
];

static PERSISTENT_VOLUME_CLAIM_REFERRERS: [FieldSpec; 7] = [
    spec("", "", "Pod", "spec/volumes/persistentVolumeClaim/claimName", false),
    spec("", "", "StatefulSet", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
    spec("", "", "Deployment", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
    spec("", "", "ReplicationController", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
    spec("", "", "CronJob", "spec/jobTemplate/spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
    spec("", "", "Job", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
    spec("", "", "DaemonSet", "spec/template/spec/volumes/persistentVolumeClaim/claimName", false),
];

static DEPLOYMENT_REFERRERS: [FieldSpec; 1] = [
    spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false),
];

static STATEFUL_SET_REFERRERS: [FieldSpec; 1] = [
    spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false),
];

static VALIDATING_ADMISSION_POLICY_REFERRERS: [FieldSpec; 1] = [
    spec("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicyBinding", "spec/policyName", false),
];

static INGRESS_CLASS_REFERRERS: [FieldSpec; 1] = [
    spec("", "", "Ingress", "spec/ingressClassName", false),
];

static REPLICA_SET_REFERRERS: [FieldSpec; 1] = [
    spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false),
];

static REPLICATION_CONTROLLER_REFERRERS: [FieldSpec; 1] = [
    spec("", "", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false),
];

pub(super) static NAME_REFERENCE: [NameReference; 16] = [
    reference("storage.k8s.io", "v1", "StorageClass", &STORAGE_CLASS_REFERRERS),
    reference("", "v1", "ServiceAccount", &SERVICE_ACCOUNT_REFERRERS),
    reference("rbac.authorization.k8s.io", "", "Role", &ROLE_REFERRERS),
    reference("rbac.authorization.k8s.io", "", "ClusterRole", &CLUSTER_ROLE_REFERRERS),
    reference("", "v1", "ConfigMap", &CONFIG_MAP_REFERRERS),
    reference("", "v1", "Secret", &SECRET_REFERRERS),
    reference("", "v1", "Service", &SERVICE_REFERRERS),
    reference("scheduling.k8s.io", "v1", "PriorityClass", &PRIORITY_CLASS_REFERRERS),
    reference("", "v1", "PersistentVolume", &PERSISTENT_VOLUME_REFERRERS),
    reference("", "v1", "PersistentVolumeClaim", &PERSISTENT_VOLUME_CLAIM_REFERRERS),
    reference("", "", "Deployment", &DEPLOYMENT_REFERRERS),
    reference("", "", "StatefulSet", &STATEFUL_SET_REFERRERS),
    reference("admissionregistration.k8s.io", "", "ValidatingAdmissionPolicy", &VALIDATING_ADMISSION_POLICY_REFERRERS),
    reference("networking.k8s.io/v1", "v1", "IngressClass", &INGRESS_CLASS_REFERRERS),
    reference("", "", "ReplicaSet", &REPLICA_SET_REFERRERS),
    reference("", "", "ReplicationController", &REPLICATION_CONTROLLER_REFERRERS),
];
