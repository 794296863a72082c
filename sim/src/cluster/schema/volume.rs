//! Volumes of pods.

use super::{
    ANY, FLAG, LABEL_SELECTOR, LOCAL_OBJECT_REFERENCE, NFSVOLUME_SOURCE, NUMBER, OBJECT_META,
    PERSISTENT_VOLUME_CLAIM_SPEC, QUANTITY, TEXT, Type, always, given, nonzero,
};

/// `HostPathVolumeSource`.
pub(crate) static HOST_PATH_VOLUME_SOURCE: Type =
    Type::Struct(&[always("path", &TEXT), given("type", &TEXT)]);

/// `EmptyDirVolumeSource`.
pub(crate) static EMPTY_DIR_VOLUME_SOURCE: Type =
    Type::Struct(&[nonzero("medium", &TEXT), given("sizeLimit", &QUANTITY)]);

/// `KeyToPath`.
pub(crate) static KEY_TO_PATH: Type = Type::Struct(&[
    always("key", &TEXT),
    given("mode", &NUMBER),
    always("path", &TEXT),
]);

/// `SecretVolumeSource`.
pub(crate) static SECRET_VOLUME_SOURCE: Type = Type::Struct(&[
    given("defaultMode", &NUMBER),
    nonzero("items", &Type::List(&KEY_TO_PATH)),
    given("optional", &FLAG),
    nonzero("secretName", &TEXT),
]);

/// `PersistentVolumeClaimVolumeSource`.
pub(crate) static PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE: Type =
    Type::Struct(&[always("claimName", &TEXT), nonzero("readOnly", &FLAG)]);

/// `ObjectFieldSelector`.
pub(crate) static OBJECT_FIELD_SELECTOR: Type =
    Type::Struct(&[nonzero("apiVersion", &TEXT), always("fieldPath", &TEXT)]);

/// `ResourceFieldSelector`.
pub(crate) static RESOURCE_FIELD_SELECTOR: Type = Type::Struct(&[
    nonzero("containerName", &TEXT),
    given("divisor", &QUANTITY),
    always("resource", &TEXT),
]);

/// `DownwardAPIVolumeFile`.
pub(crate) static DOWNWARD_APIVOLUME_FILE: Type = Type::Struct(&[
    given("fieldRef", &Type::Atomic(&OBJECT_FIELD_SELECTOR)),
    given("mode", &NUMBER),
    always("path", &TEXT),
    given("resourceFieldRef", &Type::Atomic(&RESOURCE_FIELD_SELECTOR)),
]);

/// `DownwardAPIVolumeSource`.
pub(crate) static DOWNWARD_APIVOLUME_SOURCE: Type = Type::Struct(&[
    given("defaultMode", &NUMBER),
    nonzero("items", &Type::List(&DOWNWARD_APIVOLUME_FILE)),
]);

/// `ConfigMapVolumeSource`.
pub(crate) static CONFIG_MAP_VOLUME_SOURCE: Type = Type::Struct(&[
    given("defaultMode", &NUMBER),
    nonzero("items", &Type::List(&KEY_TO_PATH)),
    nonzero("name", &TEXT),
    given("optional", &FLAG),
]);

/// `SecretProjection`.
pub(crate) static SECRET_PROJECTION: Type = Type::Struct(&[
    nonzero("items", &Type::List(&KEY_TO_PATH)),
    nonzero("name", &TEXT),
    given("optional", &FLAG),
]);

/// `DownwardAPIProjection`.
pub(crate) static DOWNWARD_APIPROJECTION: Type =
    Type::Struct(&[nonzero("items", &Type::List(&DOWNWARD_APIVOLUME_FILE))]);

/// `ConfigMapProjection`.
pub(crate) static CONFIG_MAP_PROJECTION: Type = Type::Struct(&[
    nonzero("items", &Type::List(&KEY_TO_PATH)),
    nonzero("name", &TEXT),
    given("optional", &FLAG),
]);

/// `ServiceAccountTokenProjection`.
pub(crate) static SERVICE_ACCOUNT_TOKEN_PROJECTION: Type = Type::Struct(&[
    nonzero("audience", &TEXT),
    given("expirationSeconds", &NUMBER),
    always("path", &TEXT),
]);

/// `ClusterTrustBundleProjection`.
pub(crate) static CLUSTER_TRUST_BUNDLE_PROJECTION: Type = Type::Struct(&[
    given("labelSelector", &Type::Atomic(&LABEL_SELECTOR)),
    given("name", &TEXT),
    given("optional", &FLAG),
    always("path", &TEXT),
    given("signerName", &TEXT),
]);

/// `PodCertificateProjection`.
pub(crate) static POD_CERTIFICATE_PROJECTION: Type = Type::Struct(&[
    nonzero("certificateChainPath", &TEXT),
    nonzero("credentialBundlePath", &TEXT),
    nonzero("keyPath", &TEXT),
    nonzero("keyType", &TEXT),
    given("maxExpirationSeconds", &NUMBER),
    nonzero("signerName", &TEXT),
    nonzero("userAnnotations", &Type::Map(&TEXT)),
]);

/// `VolumeProjection`.
pub(crate) static VOLUME_PROJECTION: Type = Type::Struct(&[
    given("clusterTrustBundle", &CLUSTER_TRUST_BUNDLE_PROJECTION),
    given("configMap", &CONFIG_MAP_PROJECTION),
    given("downwardAPI", &DOWNWARD_APIPROJECTION),
    given("podCertificate", &POD_CERTIFICATE_PROJECTION),
    given("secret", &SECRET_PROJECTION),
    given("serviceAccountToken", &SERVICE_ACCOUNT_TOKEN_PROJECTION),
]);

/// `ProjectedVolumeSource`.
pub(crate) static PROJECTED_VOLUME_SOURCE: Type = Type::Struct(&[
    given("defaultMode", &NUMBER),
    always("sources", &Type::List(&VOLUME_PROJECTION)),
]);

/// `CSIVolumeSource`.
pub(crate) static CSIVOLUME_SOURCE: Type = Type::Struct(&[
    always("driver", &TEXT),
    given("fsType", &TEXT),
    given(
        "nodePublishSecretRef",
        &Type::Atomic(&LOCAL_OBJECT_REFERENCE),
    ),
    given("readOnly", &FLAG),
    nonzero("volumeAttributes", &Type::Map(&TEXT)),
]);

/// `PersistentVolumeClaimTemplate`.
pub(crate) static PERSISTENT_VOLUME_CLAIM_TEMPLATE: Type = Type::Struct(&[
    always("metadata", &OBJECT_META),
    always("spec", &PERSISTENT_VOLUME_CLAIM_SPEC),
]);

/// `EphemeralVolumeSource`.
pub(crate) static EPHEMERAL_VOLUME_SOURCE: Type = Type::Struct(&[given(
    "volumeClaimTemplate",
    &PERSISTENT_VOLUME_CLAIM_TEMPLATE,
)]);

/// `ImageVolumeSource`.
pub(crate) static IMAGE_VOLUME_SOURCE: Type =
    Type::Struct(&[nonzero("pullPolicy", &TEXT), nonzero("reference", &TEXT)]);

/// `Volume`.
pub(crate) static VOLUME: Type = Type::Struct(&[
    given("awsElasticBlockStore", &ANY),
    given("azureDisk", &ANY),
    given("azureFile", &ANY),
    given("cephfs", &ANY),
    given("cinder", &ANY),
    given("configMap", &CONFIG_MAP_VOLUME_SOURCE),
    given("csi", &CSIVOLUME_SOURCE),
    given("downwardAPI", &DOWNWARD_APIVOLUME_SOURCE),
    given("emptyDir", &EMPTY_DIR_VOLUME_SOURCE),
    given("ephemeral", &EPHEMERAL_VOLUME_SOURCE),
    given("fc", &ANY),
    given("flexVolume", &ANY),
    given("flocker", &ANY),
    given("gcePersistentDisk", &ANY),
    given("gitRepo", &ANY),
    given("glusterfs", &ANY),
    given("hostPath", &HOST_PATH_VOLUME_SOURCE),
    given("image", &IMAGE_VOLUME_SOURCE),
    given("iscsi", &ANY),
    always("name", &TEXT),
    given("nfs", &NFSVOLUME_SOURCE),
    given(
        "persistentVolumeClaim",
        &PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE,
    ),
    given("photonPersistentDisk", &ANY),
    given("portworxVolume", &ANY),
    given("projected", &PROJECTED_VOLUME_SOURCE),
    given("quobyte", &ANY),
    given("rbd", &ANY),
    given("scaleIO", &ANY),
    given("secret", &SECRET_VOLUME_SOURCE),
    given("storageos", &ANY),
    given("vsphereVolume", &ANY),
]);
