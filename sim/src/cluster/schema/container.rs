//! Containers.

use super::{
    FLAG, NUMBER, OBJECT_FIELD_SELECTOR, PORT, QUANTITY, RESOURCE_FIELD_SELECTOR, TEXT, Type,
    always, given, nonzero,
};

/// `ContainerPort`.
pub(crate) static CONTAINER_PORT: Type = Type::Struct(&[
    always("containerPort", &NUMBER),
    nonzero("hostIP", &TEXT),
    nonzero("hostPort", &NUMBER),
    nonzero("name", &TEXT),
    nonzero("protocol", &TEXT),
]);

/// `ConfigMapEnvSource`.
pub(crate) static CONFIG_MAP_ENV_SOURCE: Type =
    Type::Struct(&[nonzero("name", &TEXT), given("optional", &FLAG)]);

/// `SecretEnvSource`.
pub(crate) static SECRET_ENV_SOURCE: Type =
    Type::Struct(&[nonzero("name", &TEXT), given("optional", &FLAG)]);

/// `EnvFromSource`.
pub(crate) static ENV_FROM_SOURCE: Type = Type::Struct(&[
    given("configMapRef", &CONFIG_MAP_ENV_SOURCE),
    nonzero("prefix", &TEXT),
    given("secretRef", &SECRET_ENV_SOURCE),
]);

/// `ConfigMapKeySelector`.
pub(crate) static CONFIG_MAP_KEY_SELECTOR: Type = Type::Struct(&[
    always("key", &TEXT),
    nonzero("name", &TEXT),
    given("optional", &FLAG),
]);

/// `SecretKeySelector`.
pub(crate) static SECRET_KEY_SELECTOR: Type = Type::Struct(&[
    always("key", &TEXT),
    nonzero("name", &TEXT),
    given("optional", &FLAG),
]);

/// `FileKeySelector`.
pub(crate) static FILE_KEY_SELECTOR: Type = Type::Struct(&[
    always("key", &TEXT),
    given("optional", &FLAG),
    always("path", &TEXT),
    always("volumeName", &TEXT),
]);

/// `EnvVarSource`.
pub(crate) static ENV_VAR_SOURCE: Type = Type::Struct(&[
    given("configMapKeyRef", &Type::Atomic(&CONFIG_MAP_KEY_SELECTOR)),
    given("fieldRef", &Type::Atomic(&OBJECT_FIELD_SELECTOR)),
    given("fileKeyRef", &Type::Atomic(&FILE_KEY_SELECTOR)),
    given("resourceFieldRef", &Type::Atomic(&RESOURCE_FIELD_SELECTOR)),
    given("secretKeyRef", &Type::Atomic(&SECRET_KEY_SELECTOR)),
]);

/// `EnvVar`.
pub(crate) static ENV_VAR: Type = Type::Struct(&[
    always("name", &TEXT),
    nonzero("value", &TEXT),
    given("valueFrom", &ENV_VAR_SOURCE),
]);

/// `ResourceClaim`.
pub(crate) static RESOURCE_CLAIM: Type =
    Type::Struct(&[always("name", &TEXT), nonzero("request", &TEXT)]);

/// `ResourceRequirements`.
pub(crate) static RESOURCE_REQUIREMENTS: Type = Type::Struct(&[
    nonzero("claims", &Type::Keyed(&["name"], &RESOURCE_CLAIM)),
    nonzero("limits", &Type::Map(&QUANTITY)),
    nonzero("requests", &Type::Map(&QUANTITY)),
]);

/// `ContainerResizePolicy`.
pub(crate) static CONTAINER_RESIZE_POLICY: Type = Type::Struct(&[
    always("resourceName", &TEXT),
    always("restartPolicy", &TEXT),
]);

/// `ContainerRestartRuleOnExitCodes`.
pub(crate) static CONTAINER_RESTART_RULE_ON_EXIT_CODES: Type = Type::Struct(&[
    nonzero("operator", &TEXT),
    nonzero("values", &Type::Set(&NUMBER)),
]);

/// `ContainerRestartRule`.
pub(crate) static CONTAINER_RESTART_RULE: Type = Type::Struct(&[
    nonzero("action", &TEXT),
    given("exitCodes", &CONTAINER_RESTART_RULE_ON_EXIT_CODES),
]);

/// `VolumeMount`.
pub(crate) static VOLUME_MOUNT: Type = Type::Struct(&[
    always("mountPath", &TEXT),
    given("mountPropagation", &TEXT),
    always("name", &TEXT),
    nonzero("readOnly", &FLAG),
    given("recursiveReadOnly", &TEXT),
    nonzero("subPath", &TEXT),
    nonzero("subPathExpr", &TEXT),
]);

/// `VolumeDevice`.
pub(crate) static VOLUME_DEVICE: Type =
    Type::Struct(&[always("devicePath", &TEXT), always("name", &TEXT)]);

/// `ExecAction`.
pub(crate) static EXEC_ACTION: Type = Type::Struct(&[nonzero("command", &Type::List(&TEXT))]);

/// `HTTPHeader`.
pub(crate) static HTTPHEADER: Type = Type::Struct(&[always("name", &TEXT), always("value", &TEXT)]);

/// `HTTPGetAction`.
pub(crate) static HTTPGET_ACTION: Type = Type::Struct(&[
    nonzero("host", &TEXT),
    nonzero("httpHeaders", &Type::List(&HTTPHEADER)),
    nonzero("path", &TEXT),
    given("port", &PORT),
    nonzero("scheme", &TEXT),
]);

/// `TCPSocketAction`.
pub(crate) static TCPSOCKET_ACTION: Type =
    Type::Struct(&[nonzero("host", &TEXT), given("port", &PORT)]);

/// `GRPCAction`.
pub(crate) static GRPCACTION: Type =
    Type::Struct(&[always("port", &NUMBER), given("service", &TEXT)]);

/// `Probe`.
pub(crate) static PROBE: Type = Type::Struct(&[
    given("exec", &EXEC_ACTION),
    nonzero("failureThreshold", &NUMBER),
    given("grpc", &GRPCACTION),
    given("httpGet", &HTTPGET_ACTION),
    nonzero("initialDelaySeconds", &NUMBER),
    nonzero("periodSeconds", &NUMBER),
    nonzero("successThreshold", &NUMBER),
    given("tcpSocket", &TCPSOCKET_ACTION),
    given("terminationGracePeriodSeconds", &NUMBER),
    nonzero("timeoutSeconds", &NUMBER),
]);

/// `SleepAction`.
pub(crate) static SLEEP_ACTION: Type = Type::Struct(&[always("seconds", &NUMBER)]);

/// `LifecycleHandler`.
pub(crate) static LIFECYCLE_HANDLER: Type = Type::Struct(&[
    given("exec", &EXEC_ACTION),
    given("httpGet", &HTTPGET_ACTION),
    given("sleep", &SLEEP_ACTION),
    given("tcpSocket", &TCPSOCKET_ACTION),
]);

/// `Lifecycle`.
pub(crate) static LIFECYCLE: Type = Type::Struct(&[
    given("postStart", &LIFECYCLE_HANDLER),
    given("preStop", &LIFECYCLE_HANDLER),
    given("stopSignal", &TEXT),
]);

/// `Capabilities`.
pub(crate) static CAPABILITIES: Type = Type::Struct(&[
    nonzero("add", &Type::List(&TEXT)),
    nonzero("drop", &Type::List(&TEXT)),
]);

/// `SELinuxOptions`.
pub(crate) static SELINUX_OPTIONS: Type = Type::Struct(&[
    nonzero("level", &TEXT),
    nonzero("role", &TEXT),
    nonzero("type", &TEXT),
    nonzero("user", &TEXT),
]);

/// `WindowsSecurityContextOptions`.
pub(crate) static WINDOWS_SECURITY_CONTEXT_OPTIONS: Type = Type::Struct(&[
    given("gmsaCredentialSpec", &TEXT),
    given("gmsaCredentialSpecName", &TEXT),
    given("hostProcess", &FLAG),
    given("runAsUserName", &TEXT),
]);

/// `SeccompProfile`.
pub(crate) static SECCOMP_PROFILE: Type =
    Type::Struct(&[given("localhostProfile", &TEXT), always("type", &TEXT)]);

/// `AppArmorProfile`.
pub(crate) static APP_ARMOR_PROFILE: Type =
    Type::Struct(&[given("localhostProfile", &TEXT), always("type", &TEXT)]);

/// `SecurityContext`.
pub(crate) static SECURITY_CONTEXT: Type = Type::Struct(&[
    given("allowPrivilegeEscalation", &FLAG),
    given("appArmorProfile", &APP_ARMOR_PROFILE),
    given("capabilities", &CAPABILITIES),
    given("privileged", &FLAG),
    given("procMount", &TEXT),
    given("readOnlyRootFilesystem", &FLAG),
    given("runAsGroup", &NUMBER),
    given("runAsNonRoot", &FLAG),
    given("runAsUser", &NUMBER),
    given("seLinuxOptions", &SELINUX_OPTIONS),
    given("seccompProfile", &SECCOMP_PROFILE),
    given("windowsOptions", &WINDOWS_SECURITY_CONTEXT_OPTIONS),
]);

/// `Container`.
pub(crate) static CONTAINER: Type = Type::Struct(&[
    nonzero("args", &Type::List(&TEXT)),
    nonzero("command", &Type::List(&TEXT)),
    nonzero("env", &Type::Keyed(&["name"], &ENV_VAR)),
    nonzero("envFrom", &Type::List(&ENV_FROM_SOURCE)),
    nonzero("image", &TEXT),
    nonzero("imagePullPolicy", &TEXT),
    given("lifecycle", &LIFECYCLE),
    given("livenessProbe", &PROBE),
    always("name", &TEXT),
    nonzero(
        "ports",
        &Type::Keyed(&["containerPort", "protocol"], &CONTAINER_PORT),
    ),
    given("readinessProbe", &PROBE),
    nonzero("resizePolicy", &Type::List(&CONTAINER_RESIZE_POLICY)),
    always("resources", &RESOURCE_REQUIREMENTS),
    given("restartPolicy", &TEXT),
    nonzero("restartPolicyRules", &Type::List(&CONTAINER_RESTART_RULE)),
    given("securityContext", &SECURITY_CONTEXT),
    given("startupProbe", &PROBE),
    nonzero("stdin", &FLAG),
    nonzero("stdinOnce", &FLAG),
    nonzero("terminationMessagePath", &TEXT),
    nonzero("terminationMessagePolicy", &TEXT),
    nonzero("tty", &FLAG),
    nonzero(
        "volumeDevices",
        &Type::Keyed(&["devicePath"], &VOLUME_DEVICE),
    ),
    nonzero("volumeMounts", &Type::Keyed(&["mountPath"], &VOLUME_MOUNT)),
    nonzero("workingDir", &TEXT),
]);

/// `EphemeralContainer`.
pub(crate) static EPHEMERAL_CONTAINER: Type = Type::Struct(&[
    nonzero("args", &Type::List(&TEXT)),
    nonzero("command", &Type::List(&TEXT)),
    nonzero("env", &Type::Keyed(&["name"], &ENV_VAR)),
    nonzero("envFrom", &Type::List(&ENV_FROM_SOURCE)),
    nonzero("image", &TEXT),
    nonzero("imagePullPolicy", &TEXT),
    given("lifecycle", &LIFECYCLE),
    given("livenessProbe", &PROBE),
    always("name", &TEXT),
    nonzero(
        "ports",
        &Type::Keyed(&["containerPort", "protocol"], &CONTAINER_PORT),
    ),
    given("readinessProbe", &PROBE),
    nonzero("resizePolicy", &Type::List(&CONTAINER_RESIZE_POLICY)),
    always("resources", &RESOURCE_REQUIREMENTS),
    given("restartPolicy", &TEXT),
    nonzero("restartPolicyRules", &Type::List(&CONTAINER_RESTART_RULE)),
    given("securityContext", &SECURITY_CONTEXT),
    given("startupProbe", &PROBE),
    nonzero("stdin", &FLAG),
    nonzero("stdinOnce", &FLAG),
    nonzero("targetContainerName", &TEXT),
    nonzero("terminationMessagePath", &TEXT),
    nonzero("terminationMessagePolicy", &TEXT),
    nonzero("tty", &FLAG),
    nonzero(
        "volumeDevices",
        &Type::Keyed(&["devicePath"], &VOLUME_DEVICE),
    ),
    nonzero("volumeMounts", &Type::Keyed(&["mountPath"], &VOLUME_MOUNT)),
    nonzero("workingDir", &TEXT),
]);
