//! Services.

use super::{CONDITION, FLAG, NUMBER, OBJECT_META, PORT, TEXT, Type, always, given, nonzero};

/// `ServicePort`.
pub(crate) static SERVICE_PORT: Type = Type::Struct(&[
    given("appProtocol", &TEXT),
    nonzero("name", &TEXT),
    nonzero("nodePort", &NUMBER),
    always("port", &NUMBER),
    nonzero("protocol", &TEXT),
    given("targetPort", &PORT),
]);

/// `ClientIPConfig`.
pub(crate) static CLIENT_IPCONFIG: Type = Type::Struct(&[given("timeoutSeconds", &NUMBER)]);

/// `SessionAffinityConfig`.
pub(crate) static SESSION_AFFINITY_CONFIG: Type =
    Type::Struct(&[given("clientIP", &CLIENT_IPCONFIG)]);

/// `ServiceSpec`.
pub(crate) static SERVICE_SPEC: Type = Type::Struct(&[
    given("allocateLoadBalancerNodePorts", &FLAG),
    nonzero("clusterIP", &TEXT),
    nonzero("clusterIPs", &Type::List(&TEXT)),
    nonzero("externalIPs", &Type::List(&TEXT)),
    nonzero("externalName", &TEXT),
    nonzero("externalTrafficPolicy", &TEXT),
    nonzero("healthCheckNodePort", &NUMBER),
    given("internalTrafficPolicy", &TEXT),
    nonzero("ipFamilies", &Type::List(&TEXT)),
    given("ipFamilyPolicy", &TEXT),
    given("loadBalancerClass", &TEXT),
    nonzero("loadBalancerIP", &TEXT),
    nonzero("loadBalancerSourceRanges", &Type::List(&TEXT)),
    nonzero("ports", &Type::Keyed(&["port", "protocol"], &SERVICE_PORT)),
    nonzero("publishNotReadyAddresses", &FLAG),
    nonzero("selector", &Type::AtomicMap(&TEXT)),
    nonzero("sessionAffinity", &TEXT),
    given("sessionAffinityConfig", &SESSION_AFFINITY_CONFIG),
    given("trafficDistribution", &TEXT),
    nonzero("type", &TEXT),
]);

/// `PortStatus`.
pub(crate) static PORT_STATUS: Type = Type::Struct(&[
    given("error", &TEXT),
    always("port", &NUMBER),
    always("protocol", &TEXT),
]);

/// `LoadBalancerIngress`.
pub(crate) static LOAD_BALANCER_INGRESS: Type = Type::Struct(&[
    nonzero("hostname", &TEXT),
    nonzero("ip", &TEXT),
    given("ipMode", &TEXT),
    nonzero("ports", &Type::List(&PORT_STATUS)),
]);

/// `LoadBalancerStatus`.
pub(crate) static LOAD_BALANCER_STATUS: Type =
    Type::Struct(&[nonzero("ingress", &Type::List(&LOAD_BALANCER_INGRESS))]);

/// `ServiceStatus`.
pub(crate) static SERVICE_STATUS: Type = Type::Struct(&[
    nonzero("conditions", &Type::Keyed(&["type"], &CONDITION)),
    always("loadBalancer", &LOAD_BALANCER_STATUS),
]);

/// `Service`.
pub(crate) static SERVICE: Type = Type::Struct(&[
    nonzero("apiVersion", &TEXT),
    nonzero("kind", &TEXT),
    always("metadata", &OBJECT_META),
    always("spec", &SERVICE_SPEC),
    always("status", &SERVICE_STATUS),
]);
