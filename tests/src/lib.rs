//! What the suites of Pilotage share.
