//! Reads and writes manifests of many types: most of the program's debug information comes from here.

use k8s_openapi::api::{
    admissionregistration::v1 as admission, apps::v1 as apps, autoscaling::v2 as autoscaling,
    batch::v1 as batch, core::v1 as core, networking::v1 as networking, policy::v1 as policy,
    rbac::v1 as rbac, storage::v1 as storage,
};
use serde::{Serialize, de::DeserializeOwned};

/// Reads a manifest as a type from text and from a tree, and writes it in two ways.
fn read<T: DeserializeOwned + Serialize>(text: &str, stop: &dyn Fn()) {
    let Ok(value) = serde_json::from_str::<T>(text) else {
        return stop();
    };
    let tree = serde_json::to_value(&value).ok().and_then(|tree| serde_json::from_value::<T>(tree).ok());
    let mut packed = Vec::new();
    let cbor = ciborium::into_writer(&value, &mut packed)
        .is_ok()
        .then(|| ciborium::from_reader::<T, _>(packed.as_slice()));
    let pack = rmp_serde::to_vec_named(&value).map(|bytes| rmp_serde::from_slice::<T>(&bytes));
    let slice = serde_json::from_slice::<T>(text.as_bytes()).is_ok();
    let stream = serde_json::from_reader::<_, T>(text.as_bytes()).is_ok();
    let yaml = serde_yaml_ng::from_str::<T>(text).map(|value| serde_yaml_ng::to_string(&value));
    let ron = ron::from_str::<T>(text).map(|value| ron::to_string(&value));
    let post = postcard::to_stdvec(&value).map(|bytes| postcard::from_bytes::<T>(&bytes));
    let table = toml::from_str::<T>(text).map(|value| toml::to_string(&value));
    let _ = (tree.map(|value| serde_json::to_string_pretty(&value)), table, cbor.is_some(), pack.is_ok(), slice, stream, yaml.is_ok(), ron.is_ok(), post.is_ok());
}

macro_rules! read_each {
    ($stop:expr, $text:expr, $($kind:ty),* $(,)?) => { $( read::<$kind>($text, $stop); )* };
}

/// Reads an empty manifest as every type, then one that is wrong deep inside.
pub fn read_all(stop: &dyn Fn()) {
    let nothing = || ();
    read_each!(
        &nothing, "{}",
        apps::Deployment, apps::StatefulSet, apps::DaemonSet, apps::ReplicaSet,
        batch::Job, batch::CronJob, autoscaling::HorizontalPodAutoscaler,
        core::Node, core::Service, core::PersistentVolume, core::PersistentVolumeClaim,
        core::ConfigMap, core::Secret, core::Event, core::Namespace, core::ServiceAccount,
        networking::Ingress, networking::NetworkPolicy, policy::PodDisruptionBudget,
        rbac::Role, rbac::ClusterRole, storage::StorageClass,
        core::ReplicationController, core::Endpoints, core::LimitRange, core::ResourceQuota,
        core::PodTemplate, apps::ControllerRevision, storage::VolumeAttachment, storage::CSINode,
        storage::CSIDriver, rbac::RoleBinding, rbac::ClusterRoleBinding, networking::IngressClass,
        admission::MutatingWebhookConfiguration, admission::ValidatingAdmissionPolicy,
        admission::ValidatingWebhookConfiguration,
    );
    let wrong = r#"{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"one","ports":[{"containerPort":"x"}]}]}}"#;
    read::<core::Pod>(wrong, stop);
}
