//! Claims, volumes and storage classes.

use super::{
    ANY, FLAG, HOST_PATH_VOLUME_SOURCE, LABEL_SELECTOR, NODE_SELECTOR, OBJECT_META,
    OBJECT_REFERENCE, QUANTITY, SECRET_REFERENCE, TEXT, TIME, TYPED_LOCAL_OBJECT_REFERENCE, Type,
    always, given, nonzero,
};

/// `NFSVolumeSource`.
pub(crate) static NFSVOLUME_SOURCE: Type = Type::Struct(&[
    always("path", &TEXT),
    nonzero("readOnly", &FLAG),
    always("server", &TEXT),
]);

/// `LocalVolumeSource`.
pub(crate) static LOCAL_VOLUME_SOURCE: Type =
    Type::Struct(&[given("fsType", &TEXT), always("path", &TEXT)]);

/// `CSIPersistentVolumeSource`.
pub(crate) static CSIPERSISTENT_VOLUME_SOURCE: Type = Type::Struct(&[
    given(
        "controllerExpandSecretRef",
        &Type::Atomic(&SECRET_REFERENCE),
    ),
    given(
        "controllerPublishSecretRef",
        &Type::Atomic(&SECRET_REFERENCE),
    ),
    always("driver", &TEXT),
    nonzero("fsType", &TEXT),
    given("nodeExpandSecretRef", &Type::Atomic(&SECRET_REFERENCE)),
    given("nodePublishSecretRef", &Type::Atomic(&SECRET_REFERENCE)),
    given("nodeStageSecretRef", &Type::Atomic(&SECRET_REFERENCE)),
    nonzero("readOnly", &FLAG),
    nonzero("volumeAttributes", &Type::Map(&TEXT)),
    always("volumeHandle", &TEXT),
]);

/// `VolumeNodeAffinity`.
pub(crate) static VOLUME_NODE_AFFINITY: Type =
    Type::Struct(&[given("required", &Type::Atomic(&NODE_SELECTOR))]);

/// `PersistentVolumeSpec`.
pub(crate) static PERSISTENT_VOLUME_SPEC: Type = Type::Struct(&[
    nonzero("accessModes", &Type::List(&TEXT)),
    given("awsElasticBlockStore", &ANY),
    given("azureDisk", &ANY),
    given("azureFile", &ANY),
    nonzero("capacity", &Type::Map(&QUANTITY)),
    given("cephfs", &ANY),
    given("cinder", &ANY),
    given("claimRef", &OBJECT_REFERENCE),
    given("csi", &CSIPERSISTENT_VOLUME_SOURCE),
    given("fc", &ANY),
    given("flexVolume", &ANY),
    given("flocker", &ANY),
    given("gcePersistentDisk", &ANY),
    given("glusterfs", &ANY),
    given("hostPath", &HOST_PATH_VOLUME_SOURCE),
    given("iscsi", &ANY),
    given("local", &LOCAL_VOLUME_SOURCE),
    nonzero("mountOptions", &Type::List(&TEXT)),
    given("nfs", &NFSVOLUME_SOURCE),
    given("nodeAffinity", &VOLUME_NODE_AFFINITY),
    nonzero("persistentVolumeReclaimPolicy", &TEXT),
    given("photonPersistentDisk", &ANY),
    given("portworxVolume", &ANY),
    given("quobyte", &ANY),
    given("rbd", &ANY),
    given("scaleIO", &ANY),
    nonzero("storageClassName", &TEXT),
    given("storageos", &ANY),
    given("volumeAttributesClassName", &TEXT),
    given("volumeMode", &TEXT),
    given("vsphereVolume", &ANY),
]);

/// `PersistentVolumeStatus`.
pub(crate) static PERSISTENT_VOLUME_STATUS: Type = Type::Struct(&[
    given("lastPhaseTransitionTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("phase", &TEXT),
    nonzero("reason", &TEXT),
]);

/// `PersistentVolume`.
pub(crate) static PERSISTENT_VOLUME: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &PERSISTENT_VOLUME_SPEC),
    always("status", &PERSISTENT_VOLUME_STATUS),
]);

/// `VolumeResourceRequirements`.
pub(crate) static VOLUME_RESOURCE_REQUIREMENTS: Type = Type::Struct(&[
    nonzero("limits", &Type::Map(&QUANTITY)),
    nonzero("requests", &Type::Map(&QUANTITY)),
]);

/// `TypedObjectReference`.
pub(crate) static TYPED_OBJECT_REFERENCE: Type = Type::Struct(&[
    given("apiGroup", &TEXT),
    always("kind", &TEXT),
    always("name", &TEXT),
    given("namespace", &TEXT),
]);

/// `PersistentVolumeClaimSpec`.
pub(crate) static PERSISTENT_VOLUME_CLAIM_SPEC: Type = Type::Struct(&[
    nonzero("accessModes", &Type::List(&TEXT)),
    given("dataSource", &Type::Atomic(&TYPED_LOCAL_OBJECT_REFERENCE)),
    given("dataSourceRef", &TYPED_OBJECT_REFERENCE),
    always("resources", &VOLUME_RESOURCE_REQUIREMENTS),
    given("selector", &Type::Atomic(&LABEL_SELECTOR)),
    given("storageClassName", &TEXT),
    given("volumeAttributesClassName", &TEXT),
    given("volumeMode", &TEXT),
    nonzero("volumeName", &TEXT),
]);

/// `PersistentVolumeClaimCondition`.
pub(crate) static PERSISTENT_VOLUME_CLAIM_CONDITION: Type = Type::Struct(&[
    always("lastProbeTime", &TIME),
    always("lastTransitionTime", &TIME),
    nonzero("message", &TEXT),
    nonzero("reason", &TEXT),
    always("status", &TEXT),
    always("type", &TEXT),
]);

/// `ModifyVolumeStatus`.
pub(crate) static MODIFY_VOLUME_STATUS: Type = Type::Struct(&[
    always("status", &TEXT),
    nonzero("targetVolumeAttributesClassName", &TEXT),
]);

/// `PersistentVolumeClaimStatus`.
pub(crate) static PERSISTENT_VOLUME_CLAIM_STATUS: Type = Type::Struct(&[
    nonzero("accessModes", &Type::List(&TEXT)),
    nonzero("allocatedResourceStatuses", &Type::Map(&TEXT)),
    nonzero("allocatedResources", &Type::Map(&QUANTITY)),
    nonzero("capacity", &Type::Map(&QUANTITY)),
    nonzero(
        "conditions",
        &Type::Keyed(&["type"], &PERSISTENT_VOLUME_CLAIM_CONDITION),
    ),
    given("currentVolumeAttributesClassName", &TEXT),
    given("modifyVolumeStatus", &MODIFY_VOLUME_STATUS),
    nonzero("phase", &TEXT),
]);

/// `PersistentVolumeClaim`.
pub(crate) static PERSISTENT_VOLUME_CLAIM: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &PERSISTENT_VOLUME_CLAIM_SPEC),
    always("status", &PERSISTENT_VOLUME_CLAIM_STATUS),
]);

/// `TopologySelectorLabelRequirement`.
pub(crate) static TOPOLOGY_SELECTOR_LABEL_REQUIREMENT: Type =
    Type::Struct(&[always("key", &TEXT), always("values", &Type::List(&TEXT))]);

/// `TopologySelectorTerm`.
pub(crate) static TOPOLOGY_SELECTOR_TERM: Type = Type::Struct(&[nonzero(
    "matchLabelExpressions",
    &Type::List(&TOPOLOGY_SELECTOR_LABEL_REQUIREMENT),
)]);

/// `StorageClass`.
pub(crate) static STORAGE_CLASS: Type = Type::Struct(&[
    given("allowVolumeExpansion", &FLAG),
    nonzero(
        "allowedTopologies",
        &Type::List(&Type::Atomic(&TOPOLOGY_SELECTOR_TERM)),
    ),
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    nonzero("mountOptions", &Type::List(&TEXT)),
    nonzero("parameters", &Type::Map(&TEXT)),
    always("provisioner", &TEXT),
    given("reclaimPolicy", &TEXT),
    given("volumeBindingMode", &TEXT),
]);
