//! Pods.

use super::{
    AFFINITY, APP_ARMOR_PROFILE, CONTAINER, EPHEMERAL_CONTAINER, FLAG, LOCAL_OBJECT_REFERENCE,
    NUMBER, OBJECT_META, POD_READINESS_GATE, POD_SCHEDULING_GATE, POD_SCHEDULING_GROUP, POD_STATUS,
    QUANTITY, RESOURCE_REQUIREMENTS, SECCOMP_PROFILE, SELINUX_OPTIONS, TEXT, TOLERATION,
    TOPOLOGY_SPREAD_CONSTRAINT, Type, VOLUME, WINDOWS_SECURITY_CONTEXT_OPTIONS, always, given,
    nonzero,
};

/// `Sysctl`.
pub(crate) static SYSCTL: Type = Type::Struct(&[always("name", &TEXT), always("value", &TEXT)]);

/// `PodSecurityContext`.
pub(crate) static POD_SECURITY_CONTEXT: Type = Type::Struct(&[
    given("appArmorProfile", &APP_ARMOR_PROFILE),
    given("fsGroup", &NUMBER),
    given("fsGroupChangePolicy", &TEXT),
    given("runAsGroup", &NUMBER),
    given("runAsNonRoot", &FLAG),
    given("runAsUser", &NUMBER),
    given("seLinuxChangePolicy", &TEXT),
    given("seLinuxOptions", &SELINUX_OPTIONS),
    given("seccompProfile", &SECCOMP_PROFILE),
    nonzero("supplementalGroups", &Type::List(&NUMBER)),
    given("supplementalGroupsPolicy", &TEXT),
    nonzero("sysctls", &Type::List(&SYSCTL)),
    given("windowsOptions", &WINDOWS_SECURITY_CONTEXT_OPTIONS),
]);

/// `HostAlias`.
pub(crate) static HOST_ALIAS: Type = Type::Struct(&[
    nonzero("hostnames", &Type::List(&TEXT)),
    always("ip", &TEXT),
]);

/// `PodDNSConfigOption`.
pub(crate) static POD_DNSCONFIG_OPTION: Type =
    Type::Struct(&[nonzero("name", &TEXT), given("value", &TEXT)]);

/// `PodDNSConfig`.
pub(crate) static POD_DNSCONFIG: Type = Type::Struct(&[
    nonzero("nameservers", &Type::List(&TEXT)),
    nonzero("options", &Type::List(&POD_DNSCONFIG_OPTION)),
    nonzero("searches", &Type::List(&TEXT)),
]);

/// `PodOS`.
pub(crate) static POD_OS: Type = Type::Struct(&[always("name", &TEXT)]);

/// `PodResourceClaim`.
pub(crate) static POD_RESOURCE_CLAIM: Type = Type::Struct(&[
    always("name", &TEXT),
    given("resourceClaimName", &TEXT),
    given("resourceClaimTemplateName", &TEXT),
]);

/// `PodSpec`.
pub(crate) static POD_SPEC: Type = Type::Struct(&[
    given("activeDeadlineSeconds", &NUMBER),
    given("affinity", &AFFINITY),
    given("automountServiceAccountToken", &FLAG),
    always("containers", &Type::Keyed(&["name"], &CONTAINER)),
    given("dnsConfig", &POD_DNSCONFIG),
    nonzero("dnsPolicy", &TEXT),
    given("enableServiceLinks", &FLAG),
    nonzero(
        "ephemeralContainers",
        &Type::Keyed(&["name"], &EPHEMERAL_CONTAINER),
    ),
    nonzero("hostAliases", &Type::Keyed(&["ip"], &HOST_ALIAS)),
    nonzero("hostIPC", &FLAG),
    nonzero("hostNetwork", &FLAG),
    nonzero("hostPID", &FLAG),
    given("hostUsers", &FLAG),
    nonzero("hostname", &TEXT),
    given("hostnameOverride", &TEXT),
    nonzero(
        "imagePullSecrets",
        &Type::Keyed(&["name"], &Type::Atomic(&LOCAL_OBJECT_REFERENCE)),
    ),
    nonzero("initContainers", &Type::Keyed(&["name"], &CONTAINER)),
    nonzero("nodeName", &TEXT),
    nonzero("nodeSelector", &Type::AtomicMap(&TEXT)),
    given("os", &POD_OS),
    nonzero("overhead", &Type::Map(&QUANTITY)),
    given("preemptionPolicy", &TEXT),
    given("priority", &NUMBER),
    nonzero("priorityClassName", &TEXT),
    nonzero("readinessGates", &Type::List(&POD_READINESS_GATE)),
    nonzero(
        "resourceClaims",
        &Type::Keyed(&["name"], &POD_RESOURCE_CLAIM),
    ),
    given("resources", &RESOURCE_REQUIREMENTS),
    nonzero("restartPolicy", &TEXT),
    given("runtimeClassName", &TEXT),
    nonzero("schedulerName", &TEXT),
    nonzero(
        "schedulingGates",
        &Type::Keyed(&["name"], &POD_SCHEDULING_GATE),
    ),
    given("schedulingGroup", &POD_SCHEDULING_GROUP),
    given("securityContext", &POD_SECURITY_CONTEXT),
    nonzero("serviceAccount", &TEXT),
    nonzero("serviceAccountName", &TEXT),
    given("setHostnameAsFQDN", &FLAG),
    given("shareProcessNamespace", &FLAG),
    nonzero("subdomain", &TEXT),
    given("terminationGracePeriodSeconds", &NUMBER),
    nonzero("tolerations", &Type::List(&TOLERATION)),
    nonzero(
        "topologySpreadConstraints",
        &Type::Keyed(
            &["topologyKey", "whenUnsatisfiable"],
            &TOPOLOGY_SPREAD_CONSTRAINT,
        ),
    ),
    nonzero("volumes", &Type::Keyed(&["name"], &VOLUME)),
]);

/// `Pod`.
pub(crate) static POD: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &POD_SPEC),
    always("status", &POD_STATUS),
]);
