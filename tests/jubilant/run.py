"""What a Jubilant script must be able to do: a function per row of the command line's section 7, debug_log aside.

    python tests/jubilant/run.py target/release/pilotage

The state is a new file, or what PILOTAGE_JUBILANT_STATE names (`kubernetes`: in the cluster, which must be one for tests).
The rows follow one another on one model, as a script's lines do; the first that fails ends the run.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

import jubilant

METADATA = """\
name: ledger-k8s
summary: Keeps books
description: Keeps the books of a shop.
assumes: [k8s-api]
containers:
  ledger:
    resource: ledger-image
    mounts:
    - storage: data
      location: /var/lib/ledger
resources:
  ledger-image:
    type: oci-image
storage:
  data:
    type: filesystem
    minimum-size: 1G
"""
CONFIG = """\
options:
  port:
    type: int
    default: 5432
    description: Where it listens.
"""
IMAGE = "registry.example/shop/ledger:2.4"


class Refused:
    """The error of a call that must fail."""

    error = None


@contextlib.contextmanager
def refusal():
    """A call that must fail with jubilant.CLIError."""
    refused = Refused()
    try:
        yield refused
    except jubilant.CLIError as error:
        refused.error = error
    else:
        raise AssertionError("it was not refused")


def row_model_config_is_set_and_read_back(juju):
    juju.model_config({"workload-storage": "fast"})
    assert juju.model_config()["workload-storage"] == "fast"
    juju.model_config(reset="workload-storage")
    assert juju.model_config()["workload-storage"] == ""


def row_model_constraints_are_set_and_read_back(juju):
    juju.model_constraints({"mem": "1G"})
    assert juju.model_constraints() == {"mem": 1024}


def row_deploy_becomes_active(juju):
    juju.deploy(
        "./ledger",
        "ledger",
        num_units=2,
        config={"port": 5431},
        resources={"ledger-image": IMAGE},
        storage={"data": "1G"},
        trust=True,
    )
    juju.wait(jubilant.all_active, error=jubilant.any_error)
    juju.wait(jubilant.all_agents_idle)


def row_status_has_units_one_leader_addresses_and_storage(juju):
    status = juju.status()
    units = status.apps["ledger"].units
    assert sorted(units) == ["ledger/0", "ledger/1"]
    assert [name for name, unit in units.items() if unit.leader] == ["ledger/0"]
    assert all(unit.address for unit in units.values())
    assert status.storage.storage["data/0"].status.current == "attached"
    assert sorted(status.get_units("ledger")) == ["ledger/0", "ledger/1"]


def row_shown_things_are_read(juju):
    unit = juju.show_unit("ledger/0")
    assert unit.charm == "local:ledger-k8s-0"
    assert unit.leader
    assert juju.show_model().short_name == "m"
    assert juju.version().major == 3


def row_units_are_added(juju):
    juju.add_unit("ledger")
    juju.wait(lambda status: jubilant.all_active(status) and len(status.apps["ledger"].units) == 3)
    juju.add_unit("ledger", num_units=2)
    juju.wait(lambda status: jubilant.all_active(status) and len(status.apps["ledger"].units) == 5)


def row_units_are_removed_and_their_storage_is_detached(juju):
    juju.remove_unit("ledger", num_units=3)
    status = juju.wait(
        lambda status: jubilant.all_active(status) and sorted(status.apps["ledger"].units) == ["ledger/0", "ledger/1"]
    )
    assert status.storage.storage["data/4"].status.current == "detached"


def row_options_are_set_read_and_reset(juju):
    juju.config("ledger", {"port": 5433})
    assert juju.config("ledger")["port"] == 5433
    juju.config("ledger", reset="port")
    assert juju.config("ledger")["port"] == 5432
    assert juju.config("ledger", app_config=True)["trust"] is True


def row_trust_is_given_and_taken(juju):
    juju.trust("ledger", remove=True)
    assert juju.config("ledger", app_config=True)["trust"] is False
    juju.trust("ledger", scope="cluster")
    assert juju.config("ledger", app_config=True)["trust"] is True


def row_a_refresh_rolls_the_pods(juju):
    before = juju.status().apps["ledger"].charm_rev
    juju.refresh("ledger", path="./ledger2", resources={"ledger-image": IMAGE})
    juju.wait(lambda status: jubilant.all_active(status) and status.apps["ledger"].charm_rev > before)
    juju.refresh("ledger", path="./ledger", force=True)
    juju.wait(lambda status: jubilant.all_active(status) and status.apps["ledger"].charm_rev > before + 1)


def row_other_commands_take_the_model_after_their_first_word(juju):
    juju.cli("scale-application", "ledger", "1")
    juju.wait(lambda status: jubilant.all_active(status) and sorted(status.apps["ledger"].units) == ["ledger/0"])
    assert '"data/0"' in juju.cli("storage", "--format", "json")
    assert juju.cli("constraints", "ledger") == "\n"


def row_removal_ends_and_the_name_is_free_again(juju):
    juju.remove_application("ledger", destroy_storage=True, force=False)
    juju.wait(lambda status: "ledger" not in status.apps)
    juju.deploy("./ledger", "ledger", resources={"ledger-image": IMAGE})
    juju.wait(jubilant.all_active)
    with refusal() as refused:
        juju.deploy("./ledger", "ledger", resources={"ledger-image": IMAGE})
    assert "application already exists" in refused.error.stderr


def row_wrong_things_are_one_clear_line(juju):
    for wrong in [
        lambda: juju.integrate("ledger", "other"),
        lambda: juju.run("ledger/0", "backup"),
        lambda: juju.exec("ls", unit="ledger/0"),
        lambda: juju.deploy("postgresql"),
        lambda: juju.config("nothing"),
    ]:
        with refusal() as refused:
            wrong()
        assert refused.error.returncode == 1
        lines = refused.error.stderr.strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("ERROR "), refused.error.stderr


def row_the_model_is_destroyed(juju):
    juju.destroy_model("m", destroy_storage=True, force=True)
    with refusal() as refused:
        juju.cli("status", "--model", "m", include_model=False)
    assert "model pilotage:admin/m not found" in refused.error.stderr


def row_a_temporary_model_comes_and_goes(_):
    assert shutil.which("juju"), "a link named juju is on PATH"
    with jubilant.temp_model() as juju:
        juju.deploy("./ledger", "ledger", resources={"ledger-image": IMAGE})
        juju.wait(jubilant.all_active, timeout=120)
        name = juju.model
    assert name.split(":")[-1] not in jubilant.Juju().cli("models", "--format", "json", include_model=False)


def rows():
    """All rows, in the order in which they are written."""
    return [(name[4:].replace("_", " "), row) for name, row in globals().items() if name.startswith("row_")]


@contextlib.contextmanager
def service(program, folder):
    """Two revisions of a charm, a folder with `juju` on PATH, a fresh state, and `run` in the background."""
    for charm in ("ledger", "ledger2"):
        (folder / charm).mkdir()
        (folder / charm / "metadata.yaml").write_text(METADATA)
        (folder / charm / "config.yaml").write_text(CONFIG)
    (folder / "bin").mkdir()
    (folder / "bin" / "juju").symlink_to(program)
    os.environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # Never whatever state the caller happens to mean: the rows destroy what they find.
    os.environ["PILOTAGE_STATE"] = os.environ.get("PILOTAGE_JUBILANT_STATE") or str(folder / "state.db")
    os.environ["XDG_DATA_HOME"] = str(folder)
    os.environ.setdefault("PILOTAGE_EMBEDDED_LATENCIES", "instant")
    for name in ("JUJU_MODEL", "PILOTAGE_MODEL", "JUJU_CONTROLLER", "PILOTAGE_CONTROLLER"):
        os.environ.pop(name, None)
    os.chdir(folder)
    words = folder / "run.err"
    with open(words, "w") as err:
        running = subprocess.Popen([program, "run"], stderr=err, stdin=subprocess.DEVNULL)
    try:
        yield
        running.terminate()
        assert running.wait(timeout=30) == 0, words.read_text()
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
        os.chdir("/")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: run.py PROGRAM")
    program = pathlib.Path(sys.argv[1]).resolve()
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder, service(program, pathlib.Path(folder)):
        juju = jubilant.Juju(cli_binary=str(program))
        juju.wait_timeout = 120
        juju.add_model("m")
        for name, row in rows():
            try:
                row(juju)
            except Exception:
                traceback.print_exc()
                print(f"FAILED  {name}\n  again: python tests/jubilant/run.py {sys.argv[1]}", flush=True)
                failed += 1
                break
            print(f"ok      {name}", flush=True)
            passed += 1
    print(f"Jubilant: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
