//! Who acts on the state: whoever holds its lease.

use pilotage_core::time::{Span, Timestamp};
use serde::Deserialize;

use super::link::Link;
use super::status::moment;
use crate::clock;
use crate::leader::lease_name;
use crate::store::{Holder, StoreError};

#[derive(Deserialize)]
struct Leases {
    items: Vec<Lease>,
}

#[derive(Deserialize)]
struct Lease {
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    holder_identity: Option<String>,
    #[serde(default)]
    lease_duration_seconds: u64,
    renew_time: Option<String>,
    acquire_time: Option<String>,
}

impl Spec {
    fn holder(self, now: Timestamp) -> Option<Holder> {
        let host = self.holder_identity.filter(|name| !name.is_empty())?;
        let renewed = moment(self.renew_time.as_deref()?)?;
        let expired = now.since(renewed) > Span::seconds(self.lease_duration_seconds);
        let since = self.acquire_time.as_deref().and_then(moment);
        (!expired).then(|| Holder {
            // A lease names no process.
            pid: 0,
            host,
            since: since.unwrap_or(renewed),
        })
    }
}

/// Perhaps somebody: it is not for us to see.
fn unseen() -> Holder {
    Holder {
        pid: 0,
        host: "somebody whose lease we may not read".into(),
        since: Timestamp::default(),
    }
}

impl Link {
    /// Who holds the lease of this state, wherever it lies; as far as this machine's clock goes with the holder's.
    pub(super) async fn leader(&self) -> Result<Option<Holder>, StoreError> {
        let key = match self.drawn_key().await {
            // Who may not read it can still use the state.
            Err(StoreError::InCluster { denied: true, .. }) => return Ok(Some(unseen())),
            key => key?,
        };
        let Some(key) = key else { return Ok(None) };
        let path = format!(
            "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3D{}",
            lease_name(key)
        );
        let leases = self.api().await?.get::<Leases>(&path).await;
        let leases = match leases {
            Err(failed) if failed.code() == 403 => return Ok(Some(unseen())),
            leases => leases.map_err(|failed| self.failed("read the lease", &failed))?,
        };
        let now = clock::now();
        let mut holders = leases.items.into_iter();
        Ok(holders.find_map(|lease| lease.spec.holder(now)))
    }
}
